// SPDX-License-Identifier: Apache-2.0
#include "host/descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "host/host_error.h"
#include "host/unique_fd.h"

namespace railhead::host {

void open_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int flags = ::fcntl(standard, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) continue;
    // What is printed into a standard output that is closed is lost, which is no success.
    const int mode = standard == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    const int opened = ::open("/dev/null", mode | O_NOCTTY);
    if (opened < 0 || opened == standard) continue;
    ::dup2(opened, standard);
    ::close(opened);
  }
}

Status has_descriptors_left(int count) {
  std::vector<UniqueFd> taken;
  for (int i = 0; i < count; ++i) {
    if (!taken.emplace_back(::eventfd(0, EFD_CLOEXEC))) return host_error("a descriptor", errno);
  }
  return {};
}

bool is_readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

}  // namespace railhead::host
