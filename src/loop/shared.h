// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <utility>

namespace railhead::loop {

/// A value that one thread sets and others read.
template <typename T>
class Shared {
 public:
  explicit Shared(T value = {})
      : value_(std::move(value)) {}

  [[nodiscard]] T get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  void set(T value) {
    const std::lock_guard lock(mutex_);
    std::swap(value_, value);  // the old one is destroyed outside the lock
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace railhead::loop
