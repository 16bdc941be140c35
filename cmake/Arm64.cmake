# SPDX-License-Identifier: Apache-2.0
# Toolchain of the presets arm64 and arm64-release: Debian's cross compiler, and the libraries of
# scripts/fetch-sysroot. RAILHEAD_SYSROOT is its folder; `./dev` says it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RAILHEAD_SYSROOT)
if(NOT EXISTS "${RAILHEAD_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "RAILHEAD_SYSROOT \"${RAILHEAD_SYSROOT}\" has no libraries of arm64: scripts/fetch-sysroot makes one")
endif()
set(CMAKE_SYSROOT ${RAILHEAD_SYSROOT})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;${RAILHEAD_SYSROOT})

# The compiler's own packages have a C library, too, which gets no security updates: the sysroot's
# comes first, with its start files (-B) and its archives (-L). Headers of the C library are the
# compiler's all the same, of the same release: g++ looks there before the sysroot.
set(libraries ${RAILHEAD_SYSROOT}/usr/lib/aarch64-linux-gnu)
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-B${libraries}")
endforeach()
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${libraries}")
endforeach()

# protoc and gRPC's plugin are programs of this machine; nothing else is.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${RAILHEAD_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${RAILHEAD_SYSROOT}/usr/share/pkgconfig)
