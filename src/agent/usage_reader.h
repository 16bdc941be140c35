// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "host/host.h"
#include "loop/mailbox.h"
#include "usage/usage.h"

namespace railhead {

/// Reads who uses RDMA on a thread of its own: listing thousands of queue pairs asks the NIC's
/// firmware about each, and a container must not wait for that. The thread touches nothing but its
/// own host; what it read is left in the mailbox.
class UsageReader {
 public:
  using Open = std::function<Result<std::unique_ptr<Host>>()>;
  using Done = std::function<void(Result<Usage>)>;

  UsageReader(Open open, UsageOptions options, Mailbox& mailbox);
  UsageReader(const UsageReader&) = delete;
  UsageReader& operator=(const UsageReader&) = delete;
  /// Waits for a reading that is under way; each of its questions has a limit.
  ~UsageReader();

  /// `done` is called once, through the mailbox. While a reading is under way nothing happens, and
  /// the answer is false.
  bool ask(Done done);

 private:
  void run();

  Open open_;
  UsageOptions options_;
  Mailbox& mailbox_;
  std::mutex mutex_;
  std::condition_variable woken_;
  Done wanted_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace railhead
