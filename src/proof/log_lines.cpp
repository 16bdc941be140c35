// SPDX-License-Identifier: Apache-2.0
#include "proof/log_lines.h"

#include <utility>

#include "proof/line_text.h"

namespace railhead::proof {

std::optional<LogLine> LogLines::take(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto end = bytes.find('\n');
  const auto part = bytes.substr(0, end);
  if (end != std::string_view::npos && !is_begun_ && end <= kMaxLine) {
    bytes.remove_prefix(end + 1);
    return LogLine{part};
  }
  is_begun_ = true;
  if (const auto room = kMaxLine - pending_.size(); part.size() > room) {
    pending_ += part.substr(0, room);
    bytes.remove_prefix(room);
    auto size = end_of_last_piece(pending_);
    is_split_ |= size == 0;
    if (size == 0) size = pending_.size();
    taken_ = pending_.substr(0, size);
    pending_.erase(0, size);
    return LogLine{taken_, false};
  }
  pending_ += part;
  if (end == std::string_view::npos) {
    bytes = {};
    return std::nullopt;
  }
  bytes.remove_prefix(end + 1);
  return finished();
}

std::optional<LogLine> LogLines::take_rest() {
  return is_begun_ ? std::optional(finished()) : std::nullopt;
}

LogLine LogLines::finished() {
  taken_ = std::exchange(pending_, {});
  is_begun_ = false;
  return {taken_, true, std::exchange(is_split_, false)};
}

}  // namespace railhead::proof
