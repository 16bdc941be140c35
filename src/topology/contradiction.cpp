// SPDX-License-Identifier: Apache-2.0
#include "topology/contradiction.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "topology/topology.h"

namespace railhead::topology {
namespace {

/// The nearest to a GPU of these NICs, by index.
std::set<std::size_t> nearest(const std::vector<Nearness>& row,
                              const std::vector<std::size_t>& nics) {
  std::set<std::size_t> found;
  for (const auto n : nics) {
    if (!found.empty() && row[n] > row[*found.begin()]) continue;
    if (!found.empty() && row[n] < row[*found.begin()]) found.clear();
    found.insert(n);
  }
  return found;
}

std::vector<std::size_t> known_nics(const node::Node& node, const Layout& layout) {
  std::vector<std::size_t> known;
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    const auto& address = node.nics[n].pci;
    const node::PciDevice* function = address ? node.find_pci(*address) : nullptr;
    if (function != nullptr && find_position(layout, *function) != nullptr) known.push_back(n);
  }
  return known;
}

bool share_a_bridge(const Nearness& near) {
  return near.relation == Relation::pix || near.relation == Relation::pxb;
}

}  // namespace

std::string contradicted_gpus(const node::Node& reference, const node::Node& claim,
                              const Layout& layout) {
  const auto nics = known_nics(claim, layout);
  const Topology right = make_topology(reference);
  const Topology claimed = make_topology(claim);
  std::vector<std::string> gpus;
  for (std::size_t g = 0; g < claim.gpus.size(); ++g) {
    const auto by_reference = nearest(right.gpu_nic[g], nics);
    if (by_reference.empty() || !share_a_bridge(right.gpu_nic[g][*by_reference.begin()])) continue;
    const auto by_claim = nearest(claimed.gpu_nic[g], nics);
    const auto within = [](const auto& small, const auto& large) {
      return std::includes(large.begin(), large.end(), small.begin(), small.end());
    };
    const bool agree = within(by_claim, by_reference) || within(by_reference, by_claim);
    if (!agree) gpus.push_back(claim.gpus[g].pci.str());
  }
  return gpus.empty() ? "" : (gpus.size() == 1 ? "GPU " : "GPUs ") + join(gpus, ", ");
}

}  // namespace railhead::topology
