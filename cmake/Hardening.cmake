# SPDX-License-Identifier: Apache-2.0
# What every translation unit is compiled with: reproducible paths, sanitizers on request, and in a
# release the hardening that Debian's own packages use.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -fno-omit-frame-pointer)
if(RAILHEAD_SANITIZE)
  add_compile_options(-fsanitize=${RAILHEAD_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RAILHEAD_SANITIZE})
endif()
if(RAILHEAD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Marks where jumps may end (CET, BTI); arm64 signs return addresses, too. The kernel looks at the marks
  # only of a program whose every object has them: Debian 12's static libraries have none.
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    add_compile_options(-mbranch-protection=standard)
  else()
    add_compile_options(-fcf-protection)
  endif()
  add_compile_options(-fstack-protector-strong -fstack-clash-protection -ffunction-sections -fdata-sections -fPIE)
  add_compile_definitions(_FORTIFY_SOURCE=2 _GLIBCXX_ASSERTIONS)
  add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--gc-sections)
  if(RAILHEAD_STATIC)
    add_link_options(-static-pie -s)
  else()
    add_link_options(-pie)
  endif()
endif()
