// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace railhead::test {

/// What `so` says in a process of its own that can start no thread; false where it ends otherwise.
inline bool without_threads(const std::function<bool()>& so) {
  const auto child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;  // root has no limit
    const rlimit none{1, 1};
    const bool is_limited = (::geteuid() != 0 || ::setresuid(kNobody, kNobody, kNobody) == 0) &&
                            ::setrlimit(RLIMIT_NPROC, &none) == 0;
    ::_exit(is_limited && so() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace railhead::test
