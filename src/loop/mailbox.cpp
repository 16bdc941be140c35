// SPDX-License-Identifier: Apache-2.0
#include "loop/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "host/host_error.h"

namespace railhead::loop {

Result<std::unique_ptr<Mailbox>> Mailbox::open() {
  host::UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return host::host_error("eventfd", errno);
  return std::unique_ptr<Mailbox>(new Mailbox(std::move(event)));
}

void Mailbox::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  // Fails only when 2^64 - 2 posts are pending; the descriptor is readable then anyway.
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

void Mailbox::run() {
  std::uint64_t posts = 0;
  [[maybe_unused]] const auto read = ::read(event_.get(), &posts, sizeof posts);
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(work_);
  }
  for (const auto& one : work) one();
}

}  // namespace railhead::loop
