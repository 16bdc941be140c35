// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace railhead::kube {

/// The pauses after requests that failed: each twice the one before, up to the longest. A server
/// may ask for a longer one (`Retry-After`, RFC 9110 10.2.3), within `longest_asked`.
class Retries {
 public:
  using Milliseconds = std::chrono::milliseconds;

  Retries(Milliseconds first, Milliseconds longest, Milliseconds longest_asked = Milliseconds(0))
      : first_(first),
        longest_(longest),
        longest_asked_(longest_asked),
        next_(first) {}

  Milliseconds next(std::optional<std::chrono::seconds> asked = {}) {
    const Milliseconds wanted = asked.value_or(std::chrono::seconds(0));
    const auto pause = std::max(next_, std::min(wanted, longest_asked_));
    next_ = std::min(next_ * 2, longest_);
    return pause;
  }

  void succeeded() { next_ = first_; }

 private:
  Milliseconds first_;
  Milliseconds longest_;
  Milliseconds longest_asked_;
  Milliseconds next_;
};

}  // namespace railhead::kube
