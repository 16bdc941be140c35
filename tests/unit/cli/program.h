// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "data/json.h"
#include "unit/source_dir.h"

namespace railhead::test {

/// What one run of the program said.
struct Said {
  int code = -1;
  std::string out;
  std::string err;

  [[nodiscard]] data::Json json() const { return data::Json::parse(out, nullptr, false); }
};

inline Said run_before(const host::Terminal& terminal, std::vector<std::string> arguments,
                       const host::Environment& environment) {
  arguments.insert(arguments.begin(), "railhead");
  std::ostringstream out;
  std::ostringstream err;
  const int code = cli::run_command_line(arguments, environment, out, err, terminal);
  return {code, out.str(), err.str()};
}

/// The program before a person, with a terminal of any width and without colours.
inline Said run(const std::vector<std::string>& arguments, host::Environment environment = {}) {
  environment.emplace("NO_COLOR", "1");
  return run_before({true, 0}, arguments, environment);
}

/// The program before another one.
inline Said run_in_pipe(const std::vector<std::string>& arguments) {
  return run_before({}, arguments, {});
}

/// The command on a machine in the box.
inline Said run_on(const std::string& machine, const std::string& command,
                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {command, "--snapshot",
                                        source_dir() + "/tests/nodes/" + machine + ".node"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

}  // namespace railhead::test
