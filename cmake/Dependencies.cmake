# SPDX-License-Identifier: Apache-2.0
# Every third-party library, each as a target that only one layer links (tests/lint checks it).
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(pugixml REQUIRED)
find_path(RAILHEAD_TOML toml++/toml.h REQUIRED)  # header-only
find_package(Boost 1.81 REQUIRED)

# fmt is used header-only: Debian ships no static archive.
add_library(railhead_fmt INTERFACE)
target_compile_definitions(railhead_fmt INTERFACE FMT_HEADER_ONLY)

find_library(RAILHEAD_YAML_CPP NAMES libyaml-cpp.a yaml-cpp REQUIRED)
add_library(railhead_yaml INTERFACE)
target_link_libraries(railhead_yaml INTERFACE ${RAILHEAD_YAML_CPP})

# gRPC without TLS, for the kubelet's unix sockets. Static in every build: half the memory of the
# shared libraries. Debian's grpc++_unsecure.pc leaves out what is after the group's start.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPC REQUIRED grpc++_unsecure)
find_program(RAILHEAD_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
list(REMOVE_DUPLICATES GRPC_STATIC_LIBRARIES)
add_library(railhead_grpc INTERFACE)
set(grpc_archives)
foreach(name IN LISTS GRPC_STATIC_LIBRARIES)
  find_library(archive_of_${name} NAMES lib${name}.a)
  if(archive_of_${name})
    list(APPEND grpc_archives ${archive_of_${name}})
  endif()
endforeach()
foreach(name address_sorting upb re2 cares z)
  find_library(archive_of_${name} NAMES lib${name}.a REQUIRED)
  list(APPEND grpc_archives ${archive_of_${name}})
endforeach()
target_link_libraries(railhead_grpc INTERFACE -Wl,--start-group ${grpc_archives} -Wl,--end-group
  Threads::Threads)

# Asio and Beast: header-only.
add_library(railhead_asio INTERFACE)
target_compile_definitions(railhead_asio INTERFACE BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(railhead_asio INTERFACE Boost::headers)

# For src/bench only.
find_library(RAILHEAD_IBVERBS NAMES ibverbs REQUIRED)
add_library(railhead_verbs INTERFACE)
target_link_libraries(railhead_verbs INTERFACE ${RAILHEAD_IBVERBS})

# Static, so that no program asks for a version of OpenSSL.
find_library(RAILHEAD_CRYPTO NAMES libcrypto.a crypto REQUIRED)
add_library(railhead_crypto INTERFACE)
target_link_libraries(railhead_crypto INTERFACE ${RAILHEAD_CRYPTO} Threads::Threads ${CMAKE_DL_LIBS})
find_library(RAILHEAD_SSL NAMES libssl.a ssl REQUIRED)
add_library(railhead_tls INTERFACE)
target_link_libraries(railhead_tls INTERFACE ${RAILHEAD_SSL} railhead_crypto)

find_program(RAILHEAD_CCACHE ccache)
if(RAILHEAD_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RAILHEAD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${RAILHEAD_CCACHE})
endif()
