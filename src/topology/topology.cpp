// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "topology/place.h"

namespace railhead::topology {
namespace {

/// Numbers the distinct places of a list of functions and relates them once.
class PlaceTable {
 public:
  explicit PlaceTable(const node::Node& node)
      : node_(node) {}

  std::size_t number_of(const node::PciDevice* function) {
    const Place place = place_of(node_, function);
    const auto [first, last] = known_.equal_range(key_of(place));
    for (auto at = first; at != last; ++at) {
      if (same_place(places_[at->second], place)) return at->second;
    }
    places_.push_back(place);
    known_.emplace(key_of(place), places_.size() - 1);
    return places_.size() - 1;
  }

  void relate() {
    relations_.resize(places_.size() * places_.size());
    for (std::size_t a = 0; a < places_.size(); ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        const Nearness near = nearness_of(places_[a], places_[b]);
        relations_[a * places_.size() + b] = near;
        relations_[b * places_.size() + a] = near;
      }
    }
  }

  [[nodiscard]] const Nearness& between(std::size_t a, std::size_t b) const {
    return relations_[a * places_.size() + b];
  }

 private:
  using Key = std::tuple<node::PciAddress, std::size_t>;

  /// Parent bridge and depth: nearly unique, and cheap to compare.
  static Key key_of(const Place& place) {
    if (place.bridges.empty()) return {};
    return {place.bridges.back(), place.bridges.size()};
  }

  const node::Node& node_;
  std::vector<Place> places_;
  std::multimap<Key, std::size_t> known_;
  std::vector<Nearness> relations_;
};

/// One function of a list: where it is, and which function it is (nullptr: unknown or soft).
struct Located {
  std::size_t place = 0;
  const node::PciDevice* function = nullptr;
};

using Matrix = std::vector<std::vector<Nearness>>;

/// The nearness of a function to itself, or of two devices that share one.
Nearness own_nearness(const Nearness& near) {
  return {Relation::pix, false, near.common_depth};
}

Matrix make_matrix(const PlaceTable& table, const std::vector<Located>& rows,
                   const std::vector<Located>& columns) {
  Matrix matrix(rows.size());
  const bool square = &rows == &columns;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    matrix[r].reserve(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Nearness& near = table.between(rows[r].place, columns[c].place);
      const bool one_function =
          rows[r].function != nullptr && rows[r].function == columns[c].function;
      const bool same = one_function || (square && r == c);
      matrix[r].push_back(same ? own_nearness(near) : near);
    }
  }
  return matrix;
}

}  // namespace

std::string_view to_string(Relation relation) {
  switch (relation) {
    case Relation::pix: return "PIX";
    case Relation::pxb: return "PXB";
    case Relation::phb: return "PHB";
    case Relation::node: return "NODE";
    case Relation::sys: break;
  }
  return "SYS";
}

std::string_view to_string(TopologySource source) {
  switch (source) {
    case TopologySource::pci_tree: return "PCI tree";
    case TopologySource::topology_file: return "topology file";
    case TopologySource::machine_table: return "table of known machines";
    case TopologySource::numa: break;
  }
  return "NUMA node";
}

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::high: return "high";
    case Confidence::medium: return "medium";
    case Confidence::low: break;
  }
  return "low";
}

std::strong_ordering operator<=>(const Nearness& a, const Nearness& b) {
  if (const auto order = a.relation <=> b.relation; order != 0) return order;
  if (a.relation == Relation::sys) return b.same_socket <=> a.same_socket;
  return b.common_depth <=> a.common_depth;
}

std::optional<node::PciAddress> common_bridge(const node::PciDevice& a, const node::PciDevice& b) {
  if (a.root.empty() || a.root != b.root) return std::nullopt;
  const auto common = common_bridges(a.bridges, b.bridges);
  if (common == 0) return std::nullopt;
  return a.bridges[common - 1];
}

std::vector<node::PciAddress> bridges_between(const node::PciDevice& a, const node::PciDevice& b) {
  std::vector<node::PciAddress> between;
  const auto common = common_bridge(a, b);
  if (!common) return between;
  for (const auto* bridges : {&a.bridges, &b.bridges}) {
    const auto at = std::ranges::find(*bridges, *common);
    between.insert(between.end(), at + 1, bridges->end());
  }
  return between;
}

Topology make_topology(const node::Node& node) {
  Topology topology;
  PlaceTable table(node);
  const auto locate = [&](const std::optional<node::PciAddress>& address) {
    const node::PciDevice* function = address ? node.find_pci(*address) : nullptr;
    if (address && (function == nullptr || function->root.empty())) {
      topology.warnings.push_back(
          address->str() +
          ": its place in the PCI tree is not known, so it is far from everything");
      topology.confidence = Confidence::low;
    }
    return Located{table.number_of(function), function};
  };
  std::vector<Located> gpus;
  std::vector<Located> nics;
  for (const auto& gpu : node.gpus) gpus.push_back(locate(gpu.pci));
  for (const auto& nic : node.nics) nics.push_back(locate(nic.pci));
  table.relate();

  topology.gpu_nic = make_matrix(table, gpus, nics);
  topology.gpu_gpu = make_matrix(table, gpus, gpus);
  return topology;
}

std::vector<std::vector<Nearness>> nic_relations(const node::Node& node) {
  PlaceTable table(node);
  std::vector<Located> nics;
  for (const auto& nic : node.nics) {
    const node::PciDevice* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
    nics.push_back({table.number_of(function), function});
  }
  table.relate();
  return make_matrix(table, nics, nics);
}

}  // namespace railhead::topology
