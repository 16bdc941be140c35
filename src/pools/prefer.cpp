// SPDX-License-Identifier: Apache-2.0
#include "pools/prefer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace railhead {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
/// Beginnings that are tried, of those with the fewest devices taken.
constexpr std::size_t kMaxBeginnings = 64;

/// The devices of one link that may be chosen, and how much of it is taken.
struct Link {
  const NetFunction* at = nullptr;  ///< null: slots that are no NIC
  std::set<int> numa;
  std::map<std::size_t, std::set<std::size_t>> free;  ///< places in the pool's list, by member
  std::map<std::size_t, std::size_t> taken;           ///< by member
  std::size_t load = 0;                               ///< devices taken

  /// Of the function with the fewest taken.
  [[nodiscard]] std::size_t next() const {
    std::pair best{kNone, kNone};
    for (const auto& [member, places] : free) {
      const auto load_of = taken.find(member);
      const auto taken_of = load_of == taken.end() ? 0 : load_of->second;
      best = std::min(best, std::pair(taken_of, *places.begin()));
    }
    return best.second;
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
  explicit Holding(const std::vector<Link>& links)
      : links_(links),
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
      if (links_[l].free.empty()) continue;
      const std::tuple rank{uses_[l], is_far(links_[l]), kNone - nearness_[l], links_[l].load,
                            links_[l].next()};
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
    return !numa_.empty() && std::none_of(link.numa.begin(), link.numa.end(),
                                          [&](int node) { return numa_.contains(node); });
  }

  const std::vector<Link>& links_;
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
        free_(wish.available.begin(), wish.available.end()) {
    free_.insert(wish.must_include.begin(), wish.must_include.end());
    // By address; soft devices, which have none, by their number.
    std::map<std::pair<std::optional<PciAddress>, std::size_t>, std::size_t> numbers;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const auto function = devices[i].function;
      const NetFunction* at = function ? &functions[*function] : nullptr;
      const auto address = at != nullptr ? at->link() : std::nullopt;
      const std::pair key{address, address ? kNone : function.value_or(kNone)};
      const auto [entry, is_new] = numbers.emplace(key, links_.size());
      if (is_new) links_.emplace_back().at = at;
      place(i, entry->second);
    }
  }

  std::vector<std::string> choose(const Wish& wish) {
    Holding holding(links_);
    for (const auto& id : wish.must_include) take(id, holding);
    if (chosen_.empty() && wish.size > 1) take_at(beginning(wish.size), holding);
    while (chosen_.size() < wish.size) {
      const auto link = holding.best();
      if (link == kNone) break;
      take_at(link, holding);
    }
    const std::set<std::string> rest(free_.begin(), free_.end());
    for (auto at = rest.begin(); at != rest.end() && chosen_.size() < wish.size; ++at) {
      take(*at, holding);
    }
    return std::move(chosen_);
  }

 private:
  void place(std::size_t device, std::size_t link) {
    const auto& one = devices_[device];
    auto& there = links_[link];
    const auto member = one.member.value_or(kNone);
    there.numa.insert(one.numa_nodes.begin(), one.numa_nodes.end());
    if (free_.contains(one.id)) {
      there.free[member].insert(device);
      known_.emplace(one.id, std::pair{device, link});
    } else {
      ++there.taken[member];
      ++there.load;
    }
  }

  void take(const std::string& id, Holding& holding) {
    if (free_.erase(id) == 0) return;
    chosen_.push_back(id);
    const auto known = known_.find(id);
    if (known == known_.end()) return;
    const auto [device, at] = known->second;
    holding.add(at);
    auto& link = links_[at];
    const auto member = devices_[device].member.value_or(kNone);
    auto& places = link.free[member];
    places.erase(device);
    if (places.empty()) link.free.erase(member);
    ++link.taken[member];
    ++link.load;
  }

  void take_at(std::size_t link, Holding& holding) {
    if (link != kNone) take(std::string(devices_[links_[link].next()].id), holding);
  }

  /// Links that have something left, those with the fewest devices taken first.
  [[nodiscard]] std::vector<std::size_t> beginnings() const {
    std::vector<std::size_t> all;
    for (std::size_t l = 0; l < links_.size(); ++l) {
      if (!links_[l].free.empty()) all.push_back(l);
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](std::size_t a, std::size_t b) { return links_[a].load < links_[b].load; });
    return all;
  }

  /// Where a container of so many devices had best begin.
  [[nodiscard]] std::size_t beginning(std::size_t size) const {
    const auto all = beginnings();
    const auto links = std::min(size, all.size());
    std::size_t best = kNone;
    auto best_cost = Holding(links_).cost();
    for (std::size_t i = 0; i < std::min(all.size(), kMaxBeginnings); ++i) {
      Holding holding(links_);
      holding.add(all[i]);
      for (std::size_t n = 1; n < links; ++n) holding.add(holding.best());
      if (best != kNone && !(holding.cost() < best_cost)) continue;
      best = all[i];
      best_cost = holding.cost();
    }
    return best;
  }

  const std::vector<PoolDevice>& devices_;
  std::unordered_set<std::string> free_;
  std::vector<Link> links_;
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> known_;  ///< device, link
  std::vector<std::string> chosen_;
};

}  // namespace

std::vector<std::string> prefer(const std::vector<PoolDevice>& devices,
                                const std::vector<NetFunction>& functions, const Wish& wish) {
  return Chooser(devices, functions, wish).choose(wish);
}

}  // namespace railhead
