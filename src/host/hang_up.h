// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace railhead::host {

/// Ends, both ways, every connection of this process that was accepted on the unix socket of this
/// path, whoever holds its descriptor: what is being written to it fails at once. What was written
/// before can still be read on the other side.
void hang_up(const std::string& socket_path);

/// Does so after a while, on a thread of its own, unless its end comes first. For a library that
/// has no limit for what it still wants to write.
class DelayedHangUp {
 public:
  DelayedHangUp(const std::string& socket_path, std::chrono::milliseconds delay);
  ~DelayedHangUp();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace railhead::host
