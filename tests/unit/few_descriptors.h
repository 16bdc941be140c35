// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include "host/unique_fd.h"

namespace railhead::test {

/// As long as this lives, not one descriptor more can be opened beside `room`.
class FewDescriptors {
 public:
  explicit FewDescriptors(int room) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const host::UniqueFd next(::dup(0));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(next.get() + room);
    ::setrlimit(RLIMIT_NOFILE, &few);
  }

  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace railhead::test
