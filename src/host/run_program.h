// SPDX-License-Identifier: Apache-2.0
//
// Runs a program of the operator's to its end.
//
// Invariants
// * It inherits nothing of this process but user, groups, capabilities and limits: standard input
//   is the given text, standard output goes nowhere, every other descriptor is closed, the
//   environment is PATH alone, the working directory "/", no signal is blocked or ignored.
// * No shell reads its words.
// * It leads a process group of its own, and nothing of that group outlives the call.
// * The text it reads waits in memory, so one that never reads holds nothing up.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/unique_fd.h"

namespace railhead {

struct ProgramCall {
  std::vector<std::string> words;  ///< an absolute path, then the arguments
  std::string input;
  std::chrono::milliseconds limit{10'000};  ///< then its group gets SIGTERM
  std::chrono::milliseconds grace{2'000};   ///< and after that SIGKILL
};

/// How a program ended.
struct ProgramEnd {
  enum class How : std::uint8_t {
    exited,       ///< code is its exit code
    signalled,    ///< code is the number of the signal
    timed_out,    ///< it was ended because of the limit
    stopped,      ///< it was ended because of the Stop
    not_started,  ///< complaint says why
  };
  How how = How::not_started;
  int code = 0;
  std::string complaint;  ///< the first line of its standard error, cut at 256 bytes

  [[nodiscard]] bool is_fine() const { return how == How::exited && code == 0; }
};

/// One thread's word to another that what runs there should end.
class Stop {
 public:
  /// Fails where the kernel has no descriptor left.
  static Result<std::unique_ptr<Stop>> open();

  void raise() const;

  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  explicit Stop(UniqueFd event)
      : event_(std::move(event)) {}

  UniqueFd event_;
};

/// Returns when the program has ended, at most the call's limit and twice its grace later, whatever
/// it does.
ProgramEnd run_program(const ProgramCall& call, const Stop& stop);

/// Why this path cannot be run by this process now; ok where it can.
Status check_program(const std::string& path);

}  // namespace railhead
