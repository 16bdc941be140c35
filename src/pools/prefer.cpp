// SPDX-License-Identifier: Apache-2.0
#include "pools/prefer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace railhead::pools {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
/// Beginnings that are tried, of those with the fewest devices taken.
constexpr std::size_t kMaxBeginnings = 64;

/// The devices of one link that may be chosen, and how much of it is taken.
struct Link {
  /// A member's devices. Slots that are no NIC all belong to one.
  struct Slots {
    std::vector<std::size_t> places;  ///< in the pool's list, ascending
    std::size_t first_free = 0;       ///< index into `places`
    std::size_t taken = 0;
  };

  const NetFunction* at = nullptr;  ///< null: slots that are no NIC
  std::set<int> numa;
  std::map<std::size_t, Slots> members;
  std::size_t load = 0;      ///< devices taken
  std::size_t room = 0;      ///< devices that were free at first
  std::size_t next = kNone;  ///< the place to take next; kNone where nothing is left

  /// The next device is one of the member with the fewest taken.
  void find_next(const std::vector<bool>& free) {
    std::pair best{kNone, kNone};
    for (auto& [member, slots] : members) {
      auto& first = slots.first_free;
      while (first < slots.places.size() && !free[slots.places[first]]) ++first;
      if (first == slots.places.size()) continue;
      best = std::min(best, std::pair(slots.taken, slots.places[first]));
    }
    next = best.second;
  }
};

/// How many nodes of the PCIe tree both are below: the root complex, then bridges.
std::size_t depth_in_common(const NetFunction* a, const NetFunction* b) {
  if (a == nullptr || b == nullptr || a->root.empty() || a->root != b->root) return 0;
  const auto ends =
      std::mismatch(a->bridges.begin(), a->bridges.end(), b->bridges.begin(), b->bridges.end());
  return 1 + static_cast<std::size_t>(ends.first - a->bridges.begin());
}

/// What one container has so far, by links.
class Holding {
 public:
  Holding(const std::vector<Link>& links, PoolPreference how)
      : links_(links),
        pack_(how == PoolPreference::pack),
        uses_(links.size(), 0),
        nearness_(links.size(), 0) {}

  void add(std::size_t link) {
    const Link& added = links_[link];
    numa_.insert(added.numa.begin(), added.numa.end());
    load_ += added.load;
    near_ += nearness_[link];
    if (uses_[link]++ != 0) return;
    for (std::size_t l = 0; l < links_.size(); ++l) {
      nearness_[l] += depth_in_common(added.at, links_[l].at);
    }
  }

  /// The link to go on with: of those that have something left; kNone where none has.
  [[nodiscard]] std::size_t best() const {
    std::size_t found = kNone;
    std::tuple<std::size_t, bool, std::size_t, std::size_t, std::size_t> found_rank;
    for (std::size_t l = 0; l < links_.size(); ++l) {
      if (links_[l].next == kNone) continue;
      const auto fewest = [this](std::size_t count) { return pack_ ? kNone - count : count; };
      const std::tuple rank{fewest(uses_[l]), is_far(links_[l]), kNone - nearness_[l],
                            fewest(links_[l].load), links_[l].next};
      if (found != kNone && !(rank < found_rank)) continue;
      found = l;
      found_rank = rank;
    }
    return found;
  }

  /// Less is better.
  [[nodiscard]] std::tuple<std::size_t, std::size_t, std::size_t> cost() const {
    return {numa_.size(), kNone - near_, load_};
  }

 private:
  /// Off the NUMA nodes of what is there; nothing is while nothing is.
  [[nodiscard]] bool is_far(const Link& link) const {
    return !numa_.empty() &&
           std::ranges::none_of(link.numa, [&](int node) { return numa_.contains(node); });
  }

  const std::vector<Link>& links_;
  bool pack_;
  std::vector<std::size_t> uses_;
  std::vector<std::size_t> nearness_;  ///< of each to all that are held
  std::set<int> numa_;
  std::size_t near_ = 0;
  std::size_t load_ = 0;
};

class Chooser {
 public:
  Chooser(const std::vector<PoolDevice>& devices, const std::vector<NetFunction>& functions,
          const Wish& wish)
      : devices_(devices),
        how_(wish.how),
        free_(devices.size()),
        link_of_(devices.size()) {
    known_.reserve(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) known_.emplace(devices[i].id, i);
    for (const auto* ids : {&wish.available, &wish.must_include}) {
      for (const auto& id : *ids) offer(id);
    }
    make_links(functions);
    for (auto& link : links_) link.find_next(free_);
  }

  std::vector<std::string> choose(const Wish& wish) {
    Holding holding(links_, how_);
    for (const auto& id : wish.must_include) take(id, holding);
    if (chosen_.empty() && wish.size > 1) {
      take_at(how_ == PoolPreference::pack ? tightest(wish.size) : beginning(wish.size), holding);
    }
    while (chosen_.size() < wish.size) {
      const auto link = holding.best();
      if (link == kNone) break;
      take_at(link, holding);
    }
    if (chosen_.size() < wish.size) {
      const std::set<std::string_view> rest(unknown_.begin(), unknown_.end());
      for (auto at = rest.begin(); at != rest.end() && chosen_.size() < wish.size; ++at) {
        chosen_.emplace_back(*at);
      }
    }
    return std::move(chosen_);
  }

 private:
  void offer(const std::string& id) {
    const auto known = known_.find(id);
    if (known == known_.end()) {
      unknown_.insert(id);
    } else {
      free_[known->second] = true;
    }
  }

  /// By address; soft devices, which have none, by their number.
  void make_links(const std::vector<NetFunction>& functions) {
    std::map<std::pair<std::optional<node::PciAddress>, std::size_t>, std::size_t> numbers;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const auto function = devices_[i].function;
      if (i == 0 || function != devices_[i - 1].function) {
        const NetFunction* at = function ? &functions[*function] : nullptr;
        const auto address = at != nullptr ? at->link() : std::nullopt;
        const std::pair key{address, address ? kNone : function.value_or(kNone)};
        const auto [entry, is_new] = numbers.emplace(key, links_.size());
        if (is_new) links_.emplace_back().at = at;
        link_of_[i] = entry->second;
      } else {
        link_of_[i] = link_of_[i - 1];
      }
      place(i);
    }
  }

  void place(std::size_t device) {
    const auto& one = devices_[device];
    auto& link = links_[link_of_[device]];
    auto& slots = link.members[one.member.value_or(kNone)];
    link.numa.insert(one.numa_nodes.begin(), one.numa_nodes.end());
    if (free_[device]) {
      slots.places.push_back(device);
      ++link.room;
    } else {
      ++slots.taken;
      ++link.load;
    }
  }

  void take(const std::string& id, Holding& holding) {
    const auto known = known_.find(id);
    if (known != known_.end()) return take_device(known->second, holding);
    if (unknown_.erase(id) != 0) chosen_.push_back(id);
  }

  void take_device(std::size_t device, Holding& holding) {
    if (!free_[device]) return;
    free_[device] = false;
    chosen_.push_back(devices_[device].id);
    holding.add(link_of_[device]);
    auto& link = links_[link_of_[device]];
    ++link.members[devices_[device].member.value_or(kNone)].taken;
    ++link.load;
    link.find_next(free_);
  }

  void take_at(std::size_t link, Holding& holding) {
    if (link != kNone) take_device(links_[link].next, holding);
  }

  /// Links that have something left, those with the fewest devices taken first.
  [[nodiscard]] std::vector<std::size_t> beginnings() const {
    std::vector<std::size_t> all;
    for (std::size_t l = 0; l < links_.size(); ++l) {
      if (links_[l].next != kNone) all.push_back(l);
    }
    std::ranges::stable_sort(
        all, [&](std::size_t a, std::size_t b) { return links_[a].load < links_[b].load; });
    return all;
  }

  /// Where a container of so many devices had best begin.
  [[nodiscard]] std::size_t beginning(std::size_t size) const {
    const auto all = beginnings();
    const auto links = std::min(size, all.size());
    std::size_t best = kNone;
    auto best_cost = Holding(links_, how_).cost();
    for (std::size_t i = 0; i < std::min(all.size(), kMaxBeginnings); ++i) {
      Holding holding(links_, how_);
      holding.add(all[i]);
      for (std::size_t n = 1; n < links; ++n) holding.add(holding.best());
      if (best != kNone && !(holding.cost() < best_cost)) continue;
      best = all[i];
      best_cost = holding.cost();
    }
    return best;
  }

  /// The link with the least room of those that have room for all; else the one with the most.
  [[nodiscard]] std::size_t tightest(std::size_t size) const {
    std::size_t found = kNone;
    std::pair<bool, std::size_t> found_rank;
    for (std::size_t l = 0; l < links_.size(); ++l) {
      const auto room = links_[l].room;
      const std::pair rank{room < size, room < size ? kNone - room : room};
      if (room == 0 || (found != kNone && !(rank < found_rank))) continue;
      found = l;
      found_rank = rank;
    }
    return found;
  }

  const std::vector<PoolDevice>& devices_;
  PoolPreference how_;
  std::vector<bool> free_;            ///< by device
  std::vector<std::size_t> link_of_;  ///< by device
  std::vector<Link> links_;
  std::unordered_map<std::string_view, std::size_t> known_;
  std::unordered_set<std::string_view> unknown_;  ///< asked about, and no device of the pool
  std::vector<std::string> chosen_;
};

/// Slots of a pool in which all are alike: the first ones, because there is nothing to prefer. Ids
/// that the pool does not know come last.
std::vector<std::string> choose_slots(const Pool& pool, const Wish& wish) {
  std::vector<std::string> chosen;
  std::unordered_set<std::string_view> taken;
  const auto take = [&](const std::string& id) {
    if (taken.insert(id).second) chosen.push_back(id);
  };
  for (const auto& id : wish.must_include) take(id);
  for (const bool known : {true, false}) {
    for (const auto& id : wish.available) {
      if (chosen.size() >= wish.size) return chosen;
      if (slot_number(pool, id).has_value() == known) take(id);
    }
  }
  return chosen;
}

}  // namespace

std::vector<std::string> prefer(const std::vector<PoolDevice>& devices,
                                const std::vector<NetFunction>& functions, const Wish& wish) {
  return Chooser(devices, functions, wish).choose(wish);
}

std::vector<std::string> prefer(const Pool& pool, const std::vector<NetFunction>& functions,
                                const Wish& wish) {
  if (is_fungible(pool)) return choose_slots(pool, wish);
  return prefer(devices_of(pool, functions), functions, wish);
}

}  // namespace railhead::pools
