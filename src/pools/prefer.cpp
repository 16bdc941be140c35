// SPDX-License-Identifier: Apache-2.0
#include "pools/prefer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace railhead {
namespace {

constexpr std::size_t kNoMember = std::numeric_limits<std::size_t>::max();

/// One device that may be chosen.
struct Candidate {
  std::size_t place = 0;  ///< in the pool's list
  std::size_t member = kNoMember;
  const PoolDevice* device = nullptr;
};

class Chooser {
 public:
  Chooser(const std::vector<PoolDevice>& devices, const Wish& wish)
      : free_(wish.available.begin(), wish.available.end()) {
    free_.insert(wish.must_include.begin(), wish.must_include.end());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const Candidate one{i, devices[i].member.value_or(kNoMember), &devices[i]};
      if (free_.contains(devices[i].id)) {
        by_id_.emplace(devices[i].id, one);
        queues_[one.member].emplace(i, one);
      } else {
        ++taken_[one.member];
      }
    }
  }

  std::vector<std::string> choose(const Wish& wish) {
    for (const auto& id : wish.must_include) take(id);
    while (chosen_.size() < wish.size && take_best()) {
    }
    const std::set<std::string> rest(free_.begin(), free_.end());
    for (auto at = rest.begin(); at != rest.end() && chosen_.size() < wish.size; ++at) take(*at);
    return std::move(chosen_);
  }

 private:
  void take(const std::string& id) {
    if (free_.erase(id) == 0) return;
    chosen_.push_back(id);
    const auto known = by_id_.find(id);
    if (known == by_id_.end()) return;
    const Candidate one = known->second;
    auto& queue = queues_[one.member];
    queue.erase(one.place);
    if (queue.empty()) queues_.erase(one.member);
    ++taken_[one.member];
    numa_.insert(one.device->numa_nodes.begin(), one.device->numa_nodes.end());
  }

  /// Off the NUMA nodes of what is chosen; 0 while nothing is.
  [[nodiscard]] bool is_far(const Candidate& one) const {
    if (numa_.empty()) return false;
    const auto& nodes = one.device->numa_nodes;
    return std::none_of(nodes.begin(), nodes.end(), [&](int n) { return numa_.contains(n); });
  }

  bool take_best() {
    const Candidate* best = nullptr;
    std::tuple<bool, std::size_t, std::size_t> best_rank;
    for (const auto& [member, queue] : queues_) {
      const Candidate& first = queue.begin()->second;
      const auto load = taken_.find(member);
      const std::tuple rank{is_far(first), load == taken_.end() ? 0 : load->second, first.place};
      if (best != nullptr && !(rank < best_rank)) continue;
      best = &first;
      best_rank = rank;
    }
    if (best == nullptr) return false;
    take(std::string(best->device->id));
    return true;
  }

  std::unordered_set<std::string> free_;
  std::unordered_map<std::string, Candidate> by_id_;
  std::map<std::size_t, std::map<std::size_t, Candidate>> queues_;  ///< free ones of each NIC
  std::map<std::size_t, std::size_t> taken_;                        ///< slots of each NIC
  std::set<int> numa_;
  std::vector<std::string> chosen_;
};

}  // namespace

std::vector<std::string> prefer(const std::vector<PoolDevice>& devices, const Wish& wish) {
  return Chooser(devices, wish).choose(wish);
}

}  // namespace railhead
