// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "affinity/affinity.h"
#include "affinity/card.h"
#include "affinity/wording.h"
#include "base/contains.h"
#include "base/find.h"

namespace railhead::affinity {
namespace {

class Explainer {
 public:
  Explainer(const node::Node& node, const topology::Topology& topology, const Deal& deal,
            const std::vector<Usability>& usable)
      : node_(node),
        topology_(topology),
        deal_(deal),
        usable_(usable) {}

  [[nodiscard]] ExplainedGpu explain(const GpuChoice& choice) const {
    ExplainedGpu explained{choice.gpu, {}, deal_.gpus[choice.gpu].why};
    for (const auto nic : nearest_first(choice.gpu)) {
      explained.nics.push_back(explain(choice, nic));
    }
    return explained;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> nearest_first(std::size_t gpu) const {
    std::vector<std::size_t> order(node_.nics.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto& row = topology_.gpu_nic[gpu];
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return row[a] != row[b] ? row[a] < row[b] : comes_before(node_.nics[a], node_.nics[b]);
    });
    return order;
  }

  [[nodiscard]] ExplainedNic explain(const GpuChoice& choice, std::size_t nic) const {
    const GpuDeal& own = deal_.gpus[choice.gpu];
    ExplainedNic entry;
    entry.nic = nic;
    entry.nearness = topology_.gpu_nic[choice.gpu][nic];
    entry.candidate = deal_.roles[nic].role == Role::compute;
    entry.nearest = contains(own.nearest, nic);
    entry.dealt = contains(own.nics, nic);
    const auto* chosen = find_by(choice.nics, &Choice::nic, nic);
    entry.chosen = chosen != nullptr;
    entry.reason = entry.chosen ? chosen->why : reason_against(choice.gpu, entry);
    return entry;
  }

  [[nodiscard]] std::string reason_against(std::size_t gpu, const ExplainedNic& entry) const {
    const RoleDecision& role = deal_.roles[entry.nic];
    if (!entry.candidate) {
      return "excluded: " + std::string(to_string(role.role)) + ", " + role.reason;
    }
    if (entry.dealt) return "dealt, not usable: " + usable_[entry.nic].reason;
    if (entry.nearest) return "as near, " + holder_text(entry.nic);
    return "further away: " +
           nearness_text(node_, node_.gpus[gpu], node_.nics[entry.nic], entry.nearness);
  }

  [[nodiscard]] std::string holder_text(std::size_t nic) const {
    for (std::size_t g = 0; g < deal_.gpus.size(); ++g) {
      if (contains(deal_.gpus[g].nics, nic)) return "dealt to " + gpu_text(node_.gpus[g]);
    }
    return "dealt to none";
  }

  const node::Node& node_;
  const topology::Topology& topology_;
  const Deal& deal_;
  const std::vector<Usability>& usable_;
};

}  // namespace

std::vector<ExplainedGpu> explain(const node::Node& node, const topology::Topology& topology,
                                  const Deal& deal, const std::vector<Usability>& usable,
                                  const Selection& selection) {
  const Explainer explainer(node, topology, deal, usable);
  std::vector<ExplainedGpu> explained;
  for (const auto& choice : selection.gpus) explained.push_back(explainer.explain(choice));
  return explained;
}

}  // namespace railhead::affinity
