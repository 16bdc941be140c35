// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "host/watch.h"

namespace railhead::loop {

/// A watch whose news arrive on an event loop.
class WatchLoop {
 public:
  /// `changed` is called whenever something may have changed, many events at once.
  WatchLoop(std::unique_ptr<host::Watch> watch, boost::asio::io_context& loop,
            std::function<void()> changed)
      : watch_(std::move(watch)),
        changed_(std::move(changed)),
        descriptor_(loop, watch_->descriptor()) {
    await();
  }

  /// The descriptor is the watch's.
  ~WatchLoop() { descriptor_.release(); }

 private:
  void await() {
    descriptor_.async_wait(descriptor_.wait_read, [this](const auto& failure) {
      if (failure) return;
      const std::weak_ptr<bool> alive = alive_;
      if (watch_->drain()) {
        const auto changed = changed_;  // it may end this watch, to begin another one
        changed();
      }
      if (!alive.expired()) await();
    });
  }

  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<host::Watch> watch_;
  std::function<void()> changed_;
  boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace railhead::loop
