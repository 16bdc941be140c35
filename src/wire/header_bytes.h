// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace railhead::wire {

/// A header of fixed size, put together from pieces of a stream.
template <std::size_t kBytes>
class HeaderBytes {
 public:
  /// Takes from the front of `input` what is missing. True when the header is complete, and the
  /// next byte begins another.
  bool feed(std::string_view& input) {
    const std::size_t count = std::min(kBytes - filled_, input.size());
    std::copy_n(input.data(), count, bytes_.data() + filled_);
    input.remove_prefix(count);
    filled_ += count;
    if (filled_ < kBytes) return false;
    filled_ = 0;
    return true;
  }

  [[nodiscard]] const std::array<char, kBytes>& bytes() const { return bytes_; }

 private:
  std::array<char, kBytes> bytes_{};
  std::size_t filled_ = 0;
};

}  // namespace railhead::wire
