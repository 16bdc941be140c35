// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "loop/mailbox.h"

namespace railhead::loop {

/// A mailbox whose work is done on an event loop.
class MailLoop {
 public:
  MailLoop(std::unique_ptr<Mailbox> box, boost::asio::io_context& loop)
      : box_(std::move(box)),
        descriptor_(loop, box_->descriptor()) {
    await();
  }

  /// The descriptor is the mailbox's.
  ~MailLoop() { descriptor_.release(); }

  [[nodiscard]] Mailbox& box() { return *box_; }

 private:
  void await() {
    descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [this](const auto& failure) {
                             if (failure) return;
                             box_->run();
                             await();
                           });
  }

  std::unique_ptr<Mailbox> box_;
  boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace railhead::loop
