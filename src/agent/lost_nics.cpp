// SPDX-License-Identifier: Apache-2.0
#include "agent/lost_nics.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"

namespace railhead::agent {
namespace {

constexpr std::size_t kMostNamed = 16;

/// By function, whatever its name now; a soft device by name.
using Device =
    std::tuple<std::optional<node::PciAddress>, std::optional<std::string_view>, std::string_view>;

Device device_of(const node::Nic& nic) {
  return {nic.pci, nic.sub_function, nic.pci ? std::string_view() : std::string_view(nic.name)};
}

using Devices = std::multimap<Device, const node::Nic*>;

bool has_same_numbers(const node::Nic& a, const node::Nic& b) {
  return std::ranges::equal(a.uverbs, b.uverbs, [](const auto& one, const auto& other) {
    return one.major == other.major && one.minor == other.minor;
  });
}

bool is_lost(const node::Nic& nic, const Devices& now) {
  if (nic.elsewhere || nic.uverbs.empty()) return false;
  const auto [first, last] = now.equal_range(device_of(nic));
  return std::none_of(first, last, [&](const auto& entry) {
    const auto& other = *entry.second;
    return other.elsewhere || has_same_numbers(nic, other);
  });
}

/// In the order of the machine before.
std::vector<std::string> lost_between(const node::Node& before, const node::Node& now) {
  Devices devices;
  for (const auto& nic : now.nics) devices.emplace(device_of(nic), &nic);
  std::vector<std::string> lost;
  for (const auto& nic : before.nics) {
    if (is_lost(nic, devices)) lost.push_back(nic.name);
  }
  return lost;
}

}  // namespace

void LostNics::look(std::shared_ptr<const inject::DecisionTable> now) {
  const auto before = std::exchange(before_, std::move(now));
  if (!before || !before_) return;
  const auto lost = lost_between(before->node(), before_->node());
  auto by_nic = containers_.holders_of({lost.begin(), lost.end()});
  for (const auto& nic : lost) {
    auto& holders = by_nic[nic];
    if (holders.empty()) continue;
    const auto more = holders.size() > kMostNamed ? holders.size() - kMostNamed : 0;
    holders.resize(holders.size() - more);
    if (more > 0) holders.push_back("and " + std::to_string(more) + " more");
    log_.write(config::LogLevel::warn, "containers lost a nic",
               {{"nic", nic}, {"containers", join(holders, ",")}});
  }
}

}  // namespace railhead::agent
