// SPDX-License-Identifier: Apache-2.0
#include "bench/others.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "usage/rdma_objects.h"

namespace railhead::bench {
namespace {

// enum rdma_nldev_command, include/uapi/rdma/rdma_netlink.h
constexpr std::uint16_t kGetDevices = 1;
constexpr std::uint16_t kGetQueuePairs = 10;

/// This process's threads, by which the kernel names the makers of queue pairs.
std::vector<std::string> own_threads(Host& host) {
  const auto self = std::to_string(::getpid());
  auto threads = host.list("/proc/" + self + "/task");
  if (!threads || !*threads) return {self};
  return **threads;
}

Result<std::optional<std::uint32_t>> index_of(Host& host, const std::string& nic) {
  const auto dump = TRY(host.rdma({kGetDevices, std::nullopt}));
  if (!dump) return std::optional<std::uint32_t>();
  const auto devices = TRY(parse_rdma_devices(*dump));
  for (const auto& device : devices) {
    if (device.name == nic) return std::optional(device.index);
  }
  return std::optional<std::uint32_t>();
}

}  // namespace

Result<std::optional<unsigned>> queue_pairs_of_others(Host& host, const std::string& nic) {
  const auto index = TRY(index_of(host, nic));
  if (!index) return std::optional<unsigned>();
  const auto dump = TRY(host.rdma({kGetQueuePairs, *index}));
  if (!dump) return std::optional<unsigned>();
  const auto pairs = TRY(parse_queue_pairs(*dump));
  const auto own = own_threads(host);
  const auto is_other = [&](const QueuePair& pair) {
    // Every port has management queue pairs of the kernel's.
    if (pair.type == QpType::management) return false;
    if (!pair.owner.thread) return true;
    const auto thread = std::to_string(*pair.owner.thread);
    return std::find(own.begin(), own.end(), thread) == own.end();
  };
  return std::optional(static_cast<unsigned>(std::count_if(pairs.begin(), pairs.end(), is_other)));
}

}  // namespace railhead::bench
