// SPDX-License-Identifier: Apache-2.0
#include "topology/place.h"

#include <algorithm>
#include <limits>

#include "base/find.h"
#include "node/pci_reader.h"
#include "topology/layout.h"

namespace railhead::topology {
namespace {

/// The nearest node with CPUs; the kernel prints distances in the order of node ids, as Node::numa
/// is.
const node::NumaNode* nearest_with_cpus(const node::Node& node, const node::NumaNode& from) {
  if (from.distances.size() != node.numa.size()) return nullptr;
  const node::NumaNode* best = nullptr;
  unsigned best_distance = std::numeric_limits<unsigned>::max();
  for (std::size_t i = 0; i < node.numa.size(); ++i) {
    if (node.numa[i].cpus.empty() || from.distances[i] >= best_distance) continue;
    best = &node.numa[i];
    best_distance = from.distances[i];
  }
  return best;
}

/// Upstream and downstream port of a GPU card's own switch are bridges of the GPU's vendor, below a
/// bridge of the machine: a root port of Intel's is the highest of all. A topology file leaves
/// downstream ports out.
std::span<const node::PciAddress> counted_bridges(const node::Node& node,
                                                  const node::PciDevice& function) {
  const std::span<const node::PciAddress> all = function.bridges;
  const gpu::GpuRow* row = node::gpu_row_of(function);
  if (row == nullptr || row->card_switch_counts || all.size() < 3) return all;
  const auto is_makers = [&](const node::PciAddress& address) {
    const node::PciDevice* bridge = node.find_pci(address);
    return bridge != nullptr && bridge->vendor == row->pci_vendor;
  };
  const auto ports = all.last(2);
  const bool on_card = is_makers(ports[0]) && (is_makers(ports[1]) || is_invented(ports[1]));
  return on_card ? all.first(all.size() - 2) : all;
}

}  // namespace

const node::NumaNode* find_numa(const node::Node& node, int id) {
  return find_by(node.numa, &node::NumaNode::id, id);
}

std::optional<int> cpu_numa_node(const node::Node& node, const node::PciDevice& function) {
  if (!function.numa_node || *function.numa_node < 0) return std::nullopt;
  const node::NumaNode* own = find_numa(node, *function.numa_node);
  if (own == nullptr || !own->cpus.empty()) return function.numa_node;
  const node::NumaNode* near = nearest_with_cpus(node, *own);
  return near != nullptr ? near->id : function.numa_node;
}

Place place_of(const node::Node& node, const node::PciDevice* function) {
  Place place;
  if (function == nullptr || function->root.empty()) return place;
  place.root = &function->root;
  place.bridges = counted_bridges(node, *function);
  place.numa = function->numa_node;
  place.cpu_numa = cpu_numa_node(node, *function);
  if (place.cpu_numa) {
    if (const node::NumaNode* numa = find_numa(node, *place.cpu_numa)) place.socket = numa->socket;
  }
  return place;
}

/// A node that stands for another is its socket where sockets are not known.
bool on_one_socket(const Place& a, const Place& b) {
  if (a.socket && b.socket) return a.socket == b.socket;
  return a.cpu_numa && a.cpu_numa == b.cpu_numa;
}

bool same_place(const Place& a, const Place& b) {
  if (a.root == nullptr || b.root == nullptr) return a.root == b.root;
  return *a.root == *b.root && a.numa == b.numa && std::ranges::equal(a.bridges, b.bridges);
}

std::size_t common_bridges(std::span<const node::PciAddress> a,
                           std::span<const node::PciAddress> b) {
  const auto parted = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(parted.first - a.begin());
}

Nearness nearness_of(const Place& a, const Place& b) {
  Nearness near;
  if (a.root == nullptr || b.root == nullptr) return near;
  if (*a.root == *b.root) {
    const auto common = common_bridges(a.bridges, b.bridges);
    near.common_depth = static_cast<int>(common);
    const auto below = std::max(a.bridges.size(), b.bridges.size()) - common;
    near.relation = common == 0 ? Relation::phb : below <= 1 ? Relation::pix : Relation::pxb;
  } else if (a.numa && a.numa == b.numa) {
    near.relation = Relation::node;
  } else {
    near.same_socket = on_one_socket(a, b);
  }
  return near;
}

}  // namespace railhead::topology
