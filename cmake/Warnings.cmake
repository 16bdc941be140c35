# SPDX-License-Identifier: Apache-2.0
# Warnings for our own code; generated code and third-party headers are system includes. Where several
# sources are compiled as one, GCC takes each of them for a header, whose types must not use local ones.
add_library(railhead_warnings INTERFACE)
target_compile_options(railhead_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<BOOL:${RAILHEAD_WERROR}>:-Werror>)
