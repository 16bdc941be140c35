// SPDX-License-Identifier: Apache-2.0
#include "agent/usage_reader.h"

#include <utility>

namespace railhead {

UsageReader::UsageReader(Open open, UsageOptions options, Mailbox& mailbox)
    : open_(std::move(open)),
      options_(std::move(options)),
      mailbox_(mailbox),
      thread_([this] { run(); }) {}

UsageReader::~UsageReader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

bool UsageReader::ask(Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (busy_) return false;
    busy_ = true;
    wanted_ = std::move(done);
  }
  woken_.notify_one();
  return true;
}

void UsageReader::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    woken_.wait(lock, [this] { return stopping_ || wanted_; });
    if (stopping_) return;
    auto done = std::exchange(wanted_, nullptr);
    lock.unlock();
    auto host = open_();
    auto usage = host ? Result<Usage>(read_usage(**host, options_)) : Result<Usage>(host.error());
    lock.lock();
    busy_ = false;
    if (stopping_) return;
    mailbox_.post([done = std::move(done), usage = std::make_shared<Result<Usage>>(
                                               std::move(usage))] { done(std::move(*usage)); });
  }
}

}  // namespace railhead
