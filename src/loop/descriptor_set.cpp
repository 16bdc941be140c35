// SPDX-License-Identifier: Apache-2.0
#include "loop/descriptor_set.h"

#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "host/host_error.h"

namespace railhead {

Result<std::unique_ptr<DescriptorSet>> DescriptorSet::open() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return host_error("epoll", errno);
  return std::unique_ptr<DescriptorSet>(new DescriptorSet(std::move(epoll)));
}

void DescriptorSet::add(const std::vector<int>& descriptors) {
  for (const int descriptor : descriptors) {
    epoll_event event{};
    event.events = EPOLLIN;
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);  // EEXIST: in it already
  }
}

bool DescriptorSet::is_ready() const {
  pollfd asked{epoll_.get(), POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

}  // namespace railhead
