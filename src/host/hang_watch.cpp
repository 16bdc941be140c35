// SPDX-License-Identifier: Apache-2.0
#include "host/hang_watch.h"

#include <utility>

#include "host/program.h"

namespace railhead::host {

void ReadingNow::set(const std::string& path) {
  const std::lock_guard lock(mutex_);
  path_ = path;
}

std::string ReadingNow::path() const {
  const std::lock_guard lock(mutex_);
  return path_;
}

HangWatch::HangWatch(std::chrono::milliseconds limit, int exit_code, std::function<void()> say)
    : thread_([this, limit, exit_code, say = std::move(say)] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, limit, [this] { return has_ended_; })) return;
        say();
        end_process(exit_code);
      }) {}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace railhead::host
