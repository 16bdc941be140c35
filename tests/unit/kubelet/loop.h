// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "loop/mailbox.h"

namespace railhead::kubelet::test {

/// The agent's thread: runs the mailbox until the end.
class Loop {
 public:
  Loop()
      : box_(std::move(loop::Mailbox::open()).value()),
        thread_([this] {
          while (!ended_) {
            pollfd wanted{box_->descriptor(), POLLIN, 0};
            ::poll(&wanted, 1, -1);
            box_->run();
          }
        }) {}

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  ~Loop() {
    box_->post([this] { ended_ = true; });
    thread_.join();
  }

  loop::Mailbox& box() { return *box_; }

  /// Does something on the thread and waits for it.
  void run(const std::function<void()>& work) {
    std::atomic<bool> done{false};
    box_->post([&] {
      work();
      done = true;
      done.notify_one();
    });
    done.wait(false);
  }

 private:
  bool ended_ = false;
  std::unique_ptr<loop::Mailbox> box_;
  std::thread thread_;
};

}  // namespace railhead::kubelet::test
