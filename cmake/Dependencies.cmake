# SPDX-License-Identifier: Apache-2.0
# Every third-party library, each as a target that only one layer links (tests/lint checks it).
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(pugixml REQUIRED)
find_package(Boost 1.81 REQUIRED)

# fmt and spdlog are used header-only: Debian ships no static archive.
add_library(railhead_spdlog INTERFACE)
target_compile_definitions(railhead_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
target_link_libraries(railhead_spdlog INTERFACE Threads::Threads)

find_library(RAILHEAD_YAML_CPP NAMES libyaml-cpp.a yaml-cpp REQUIRED)
add_library(railhead_yaml INTERFACE)
target_link_libraries(railhead_yaml INTERFACE ${RAILHEAD_YAML_CPP})

# Asio and Beast: header-only, without Boost.Context and exceptions across threads.
add_library(railhead_asio INTERFACE)
target_compile_definitions(railhead_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_THREADS)
target_link_libraries(railhead_asio INTERFACE Boost::headers)

find_program(RAILHEAD_CCACHE ccache)
if(RAILHEAD_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RAILHEAD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${RAILHEAD_CCACHE})
endif()
