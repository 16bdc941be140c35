// SPDX-License-Identifier: Apache-2.0
#include "bench/others.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "usage/rdma_objects.h"
#include "usage/unsafe_lists.h"

namespace railhead::bench {
namespace {

// enum rdma_nldev_command, include/uapi/rdma/rdma_netlink.h
constexpr std::uint16_t kGetDevices = 1;
constexpr std::uint16_t kGetQueuePairs = 10;
constexpr std::uint16_t kGetMemoryRegions = 13;

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

bool is_own(const usage::ObjectOwner& owner, const std::vector<std::string>& own) {
  const auto thread = owner.thread ? std::to_string(*owner.thread) : "";
  return contains(own, thread);
}

void count(const std::vector<usage::QueuePair>& pairs, const std::vector<std::string>& own,
           OtherPairs& others) {
  for (const auto& pair : pairs) {
    // Only the kernel makes them, for every port.
    if (pair.type == usage::QpType::management) continue;
    if (pair.owner.kernel) {
      if (is_connected(pair.type)) ++others.kernel[pair.owner.kernel_name];
      continue;
    }
    if (!is_own(pair.owner, own)) ++others.processes;
  }
}

void count(const std::vector<usage::MemoryRegion>& regions, const std::vector<std::string>& own,
           OtherPairs& others) {
  for (const auto& region : regions) {
    if (!region.owner.kernel && !is_own(region.owner, own)) ++others.regions;
  }
}

/// A list that was cut may lack whoever uses the NIC.
Status whole(std::optional<int> cut) {
  return cut ? Status(host::host_error("the kernel's list", *cut)) : Status();
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
  if (others.processes == 0 && others.regions > 0) {
    words.push_back("other processes have " + counted(others.regions, "memory region") + " on it");
  }
  return join(words, ", ");
}

Result<std::optional<OtherPairs>> queue_pairs_of_others(host::Host& host, const std::string& nic) {
  const auto index = TRY(index_of(host, nic));
  if (!index) return std::optional<OtherPairs>();
  const auto own = own_threads(host);
  OtherPairs others;
  std::optional<int> cut;
  const usage::QueuePairLists lists(host, "/proc", usage::ListQueuePairs::automatic);
  if (lists.why_not(host, nic).empty()) {
    const auto dump = TRY(host.rdma({kGetQueuePairs, *index}));
    if (!dump) return std::optional<OtherPairs>();
    const auto pairs = TRY(usage::parse_queue_pairs(*dump));
    count(pairs, own, others);
    cut = host::cut_short(*dump);
  }
  const auto dump = TRY(host.rdma({kGetMemoryRegions, *index}));
  const auto regions = TRY(usage::parse_memory_regions(dump.value_or("")));
  count(regions, own, others);
  if (others.none()) {
    TRY_STATUS(whole(cut));
    TRY_STATUS(whole(host::cut_short(dump.value_or(""))));
  }
  return std::optional(std::move(others));
}

}  // namespace railhead::bench
