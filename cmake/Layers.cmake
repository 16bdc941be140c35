# SPDX-License-Identifier: Apache-2.0
# railhead_layer(NAME [HOT] LINKS layer… [USES third-party target…])
#
# One folder of src/ is one static library. LINKS is the layer diagram: tests/lint/layers.py reads
# these calls and fails on an #include of a folder that is not linked, directly or through others.
#
# HOT is for most of what runs for each container: a release optimizes it further (-O3), at 1.5 % of
# the size.
function(railhead_layer name)
  cmake_parse_arguments(LAYER "HOT" "" "LINKS;USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(TRANSFORM LAYER_LINKS PREPEND railhead_)
  if(NOT sources)
    add_library(railhead_${name} INTERFACE)
    target_include_directories(railhead_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(railhead_${name} INTERFACE ${LAYER_LINKS} ${LAYER_USES})
    return()
  endif()
  add_library(railhead_${name} STATIC ${sources})
  target_include_directories(railhead_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(railhead_${name} PUBLIC ${LAYER_LINKS} ${LAYER_USES} PRIVATE railhead_warnings)
  if(LAYER_HOT)
    target_compile_options(railhead_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
endfunction()

# railhead_unit_tests(LAYER [LINKS …]): tests/unit/LAYER/*_test.cpp as one program.
function(railhead_unit_tests layer)
  cmake_parse_arguments(UNIT "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${layer} ${sources})
  target_include_directories(test_${layer} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  list(TRANSFORM UNIT_LINKS PREPEND railhead_)
  target_link_libraries(test_${layer} PRIVATE railhead_${layer} ${UNIT_LINKS} railhead_source_dir
    railhead_warnings GTest::gmock GTest::gtest_main)
  gtest_discover_tests(test_${layer} TEST_PREFIX "unit/${layer}: " DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT 120 LABELS unit)
endfunction()
