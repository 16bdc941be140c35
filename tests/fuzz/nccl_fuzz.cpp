// SPDX-License-Identifier: Apache-2.0
//
// Whatever is accepted is a machine with relations between all its devices and a deal, each address
// once; it is written as a file that is accepted again and means the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "affinity/affinity.h"
#include "topology/layout.h"
#include "topology/nccl_hardware.h"
#include "topology/topology.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Nothing of what is written comes from outside unchecked.
bool is_plain(const std::string& xml) {
  return std::all_of(xml.begin(), xml.end(),
                     [](char c) { return c == '\n' || (c >= ' ' && c < '\x7f'); });
}

void decide(const railhead::node::Node& node) {
  for (std::size_t i = 1; i < node.pci.size(); ++i) {
    require(node.pci[i - 1].address < node.pci[i].address);
  }
  const auto topology = railhead::topology::make_topology(node);
  require(topology.gpu_nic.size() == node.gpus.size());
  for (const auto& row : topology.gpu_nic) require(row.size() == node.nics.size());
  const auto deal = railhead::affinity::deal(node, topology, {});
  require(deal.gpus.size() == node.gpus.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto topology = railhead::topology::parse_nccl_topology(text, "fuzz");
  if (!topology) {
    require(!topology.error().message.empty());
    return 0;
  }
  const auto node = railhead::topology::node_from(*topology);
  decide(node);
  const auto written = railhead::topology::to_xml(*topology);
  const auto again = railhead::topology::parse_nccl_topology(written, "again");
  // Escapes make a text longer: what was just below the limit may be above it.
  if (!again) return 0;
  require(railhead::topology::to_xml(*again) == written);
  require(is_plain(written));
  require(is_plain(railhead::topology::to_xml(
      railhead::topology::completed(railhead::topology::hardware_of(*topology), node))));
  const auto ours = railhead::topology::parse_nccl_topology(
      railhead::topology::to_xml(railhead::topology::nccl_topology_of(node)), "ours");
  if (ours) decide(railhead::topology::node_from(*ours));
  return 0;
}
