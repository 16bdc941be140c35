// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
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
        changed_(std::move(changed)) {
    for (const int descriptor : watch_->descriptors()) {
      await(descriptors_.emplace_back(loop, descriptor));
    }
  }

  WatchLoop(const WatchLoop&) = delete;
  WatchLoop& operator=(const WatchLoop&) = delete;

  /// The descriptors are the watch's.
  ~WatchLoop() {
    for (auto& one : descriptors_) one.release();
  }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  void await(Descriptor& descriptor) {
    descriptor.async_wait(Descriptor::wait_read, [this, &descriptor](const auto& failure) {
      if (failure) return;
      const std::weak_ptr<bool> alive = alive_;
      if (watch_->drain()) {
        const auto changed = changed_;  // it may end this watch, to begin another one
        changed();
      }
      if (!alive.expired()) await(descriptor);
    });
  }

  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<host::Watch> watch_;
  std::function<void()> changed_;
  std::list<Descriptor> descriptors_;
};

}  // namespace railhead::loop
