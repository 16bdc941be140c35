// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace railhead::host {

/// What a thread reads at this moment; others may ask.
class ReadingNow {
 public:
  void set(const std::string& path);
  [[nodiscard]] std::string path() const;

 private:
  mutable std::mutex mutex_;
  std::string path_;
};

/// Ends the process where its work has not ended in time. Nothing else ends a read that a dead NFS
/// server does not answer. One that a driver or a FUSE has taken is not ended by that either; then
/// at least it is said.
class HangWatch {
 public:
  /// After `limit`, `say` is called on another thread, and the process ends with `exit_code`.
  HangWatch(std::chrono::milliseconds limit, int exit_code, std::function<void()> say);
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;
  ~HangWatch();  ///< the work has ended

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace railhead::host
