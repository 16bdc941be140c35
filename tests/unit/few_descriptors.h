// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "host/unique_fd.h"

namespace railhead::test {

/// As long as this lives, only `room` descriptors can be opened.
class FewDescriptors {
 public:
  explicit FewDescriptors(int room) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    std::vector<host::UniqueFd> taken;  // the free numbers may have gaps
    for (int i = 0; i <= room; ++i) taken.emplace_back(::dup(0));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(taken.back().get());
    ::setrlimit(RLIMIT_NOFILE, &few);
  }

  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace railhead::test
