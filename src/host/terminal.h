// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace railhead::host {

/// What standard output is.
struct Terminal {
  bool is_terminal = false;
  unsigned columns = 0;  ///< of the terminal; 0: not known, or it is none
};

Terminal standard_output();

}  // namespace railhead::host
