// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "host/descriptors.h"
#include "host/environment.h"
#include "host/memory.h"
#include "host/terminal.h"

int main(int argc, char** argv) {
  railhead::host::end_without_memory();
  railhead::host::open_standard_descriptors();
  return railhead::cli::run_command_line({argv, argv + argc}, railhead::host::read_environment(),
                                         std::cout, std::cerr, railhead::host::standard_output());
}
