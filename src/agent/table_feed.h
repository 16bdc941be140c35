// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "inject/decide.h"
#include "loop/mailbox.h"

namespace railhead::agent {

/// The newest table of the machine, for all threads.
class TableFeed {
 public:
  using Table = std::shared_ptr<const inject::DecisionTable>;

  /// Null before the first reading.
  [[nodiscard]] Table latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

  /// `changed` is called on the mailbox's thread after each new table. Both have to live as long as
  /// tables are published.
  void follow(loop::Mailbox& mailbox, std::function<void()> changed) {
    const std::lock_guard lock(mutex_);
    if (!closed_) followers_.emplace_back(&mailbox, std::move(changed));
  }

  /// No follower is called from here on, one that comes later included, except for what is in its
  /// mailbox already.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    followers_.clear();
  }

  void publish(Table table) {
    Table before;  // may be its last owner: destroyed after the lock that deciding takes
    const std::lock_guard lock(mutex_);
    before = std::exchange(latest_, std::move(table));
    for (auto& [mailbox, changed] : followers_) mailbox->post(changed);  // which does not wait
  }

 private:
  mutable std::mutex mutex_;
  Table latest_;
  std::vector<std::pair<loop::Mailbox*, std::function<void()>>> followers_;
  bool closed_ = false;
};

}  // namespace railhead::agent
