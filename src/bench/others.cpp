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
std::vector<std::string> own_threads(host::Host& host) {
  const auto self = std::to_string(::getpid());
  auto threads = host.list("/proc/" + self + "/task");
  if (!threads || !*threads) return {self};
  return **threads;
}

Result<std::optional<std::uint32_t>> index_of(host::Host& host, const std::string& nic) {
  const auto dump = TRY(host.rdma({kGetDevices, std::nullopt}));
  if (!dump) return std::optional<std::uint32_t>();
  const auto devices = TRY(usage::parse_rdma_devices(*dump));
  for (const auto& device : devices) {
    if (device.name == nic) return std::optional(device.index);
  }
  return std::optional<std::uint32_t>();
}

/// Whether a queue pair of the kernel's carries somebody's data. Of a type that is not known it
/// may.
bool is_connected(usage::QpType type) {
  return type == usage::QpType::rc || type == usage::QpType::uc || type == usage::QpType::xrc ||
         type == usage::QpType::unknown;
}

OtherPairs count(const std::vector<usage::QueuePair>& pairs, const std::vector<std::string>& own) {
  OtherPairs others;
  for (const auto& pair : pairs) {
    // Only the kernel makes them, for every port.
    if (pair.type == usage::QpType::management) continue;
    if (pair.owner.kernel) {
      if (is_connected(pair.type)) ++others.kernel[pair.owner.kernel_name];
      continue;
    }
    const auto thread = pair.owner.thread ? std::to_string(*pair.owner.thread) : "";
    if (std::find(own.begin(), own.end(), thread) == own.end()) ++others.processes;
  }
  return others;
}

}  // namespace

std::string to_string(const OtherPairs& others) {
  std::vector<std::string> words;
  const auto add = [&words](const std::string& who, unsigned number) {
    const auto what = !words.empty() ? ""
                      : number == 1  ? " queue pair on it"
                                     : " queue pairs on it";
    words.push_back(who + " " + std::to_string(number) + what);
  };
  if (others.processes > 0) add("other processes have", others.processes);
  for (const auto& [module, number] : others.kernel) add("the kernel's " + module + " has", number);
  return join(words, ", ");
}

Result<std::optional<OtherPairs>> queue_pairs_of_others(host::Host& host, const std::string& nic) {
  const auto index = TRY(index_of(host, nic));
  if (!index) return std::optional<OtherPairs>();
  const auto dump = TRY(host.rdma({kGetQueuePairs, *index}));
  if (!dump) return std::optional<OtherPairs>();
  const auto pairs = TRY(usage::parse_queue_pairs(*dump));
  return std::optional(count(pairs, own_threads(host)));
}

}  // namespace railhead::bench
