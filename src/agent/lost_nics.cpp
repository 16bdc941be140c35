// SPDX-License-Identifier: Apache-2.0
#include "agent/lost_nics.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"

namespace railhead::agent {
namespace {

constexpr std::size_t kMostNamed = 16;

/// By function, whatever its name now; a soft device by name.
bool is_same_device(const node::Nic& a, const node::Nic& b) {
  return a.pci == b.pci && a.sub_function == b.sub_function && (a.pci || a.name == b.name);
}

bool has_same_numbers(const node::Nic& a, const node::Nic& b) {
  return std::ranges::equal(a.uverbs, b.uverbs, [](const auto& one, const auto& other) {
    return one.major == other.major && one.minor == other.minor;
  });
}

bool is_lost(const node::Nic& nic, const node::Node& now) {
  if (nic.elsewhere || nic.uverbs.empty()) return false;
  return std::ranges::none_of(now.nics, [&](const node::Nic& other) {
    return is_same_device(nic, other) && (other.elsewhere || has_same_numbers(nic, other));
  });
}

}  // namespace

void LostNics::look(std::shared_ptr<const inject::DecisionTable> now) {
  const auto before = std::exchange(before_, std::move(now));
  if (!before || !before_) return;
  for (const auto& nic : before->node().nics) {
    if (!is_lost(nic, before_->node())) continue;
    auto holders = containers_.holders_of(nic.name);
    if (holders.empty()) continue;
    const auto more = holders.size() > kMostNamed ? holders.size() - kMostNamed : 0;
    holders.resize(holders.size() - more);
    if (more > 0) holders.push_back("and " + std::to_string(more) + " more");
    log_.write(config::LogLevel::warn, "containers lost a nic",
               {{"nic", nic.name}, {"containers", join(holders, ",")}});
  }
}

}  // namespace railhead::agent
