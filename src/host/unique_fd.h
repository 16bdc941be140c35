// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace railhead::host {

/// Owns a file descriptor; closing it leaves errno alone.
class UniqueFd {
 public:
  UniqueFd() = default;

  explicit UniqueFd(int number)
      : number_(number) {}

  UniqueFd(UniqueFd&& other) noexcept
      : number_(other.release()) {}

  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }

  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;

  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return number_; }

  explicit operator bool() const { return number_ >= 0; }

  int release() { return std::exchange(number_, -1); }

  void reset(int number = -1) {
    const int saved = errno;
    if (number_ >= 0) ::close(number_);
    errno = saved;
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace railhead::host
