// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/environment.h"
#include "host/host.h"
#include "host/terminal.h"

namespace railhead::bench {

/// Where the program runs.
struct Surroundings {
  const host::Environment& environment;
  std::ostream& out;
  std::ostream& err;
  host::Host& host;
  host::Clock& clock;
  int interrupt = -1;  ///< readable once the program is to end
  bool err_is_terminal = false;
  host::Terminal terminal{};  ///< what `out` is
};

/// The whole program: data goes to `out`, talk to `err`; returns the exit code.
int run_bench(const std::vector<std::string>& arguments, const Surroundings& surroundings);

}  // namespace railhead::bench
