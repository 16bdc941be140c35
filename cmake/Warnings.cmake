# SPDX-License-Identifier: Apache-2.0
# Warnings for our own code; generated code and third-party headers are system includes.
add_library(railhead_warnings INTERFACE)
target_compile_options(railhead_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual $<$<BOOL:${RAILHEAD_WERROR}>:-Werror>)
