// SPDX-License-Identifier: Apache-2.0
//
// The lines of a log that comes in chunks. Memory is bounded, whatever the length of a line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace railhead::proof {

struct LogLine {
  std::string_view text;  ///< until the next call
  /// False for a part of a line above the limit: up to an end of line within it, as JSON spells it
  /// and progress bars use it, or, where there is none, up to the limit. The rest follows.
  bool is_end = true;
  bool is_split = false;  ///< the line was cut into such parts in the middle of something
};

class LogLines {
 public:
  /// NCCL's longest line lists the devices (2,048 bytes); collectors put less than that in front.
  static constexpr std::size_t kMaxLine = 16384;

  /// Takes the next line off the front of the bytes. Absent where they have no end of line: then
  /// all of them are kept.
  std::optional<LogLine> take(std::string_view& bytes);
  /// What has no end, once the log is at its end.
  std::optional<LogLine> take_rest();

 private:
  LogLine finished();

  std::string pending_;  ///< the line that has no end yet
  bool is_begun_ = false;
  bool is_split_ = false;
  std::string taken_;
};

}  // namespace railhead::proof
