// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "affinity/affinity.h"
#include "data/json.h"
#include "inject/decide.h"
#include "node/node.h"
#include "topology/topology.h"

namespace railhead::cli {

/// A NIC in one word each, over all its ports: the best state, the link layer and rate of that
/// port.
struct NicSummary {
  std::optional<node::PortState> state;
  std::optional<node::LinkLayer> link_layer;
  std::optional<double> rate_gbps;
};

NicSummary summarize(const node::Nic& nic);

/// What sysfs says; null where it says nothing, or no word that we know.
data::Json json_of(node::LinkLayer layer);
data::Json json_of(const std::vector<node::Gid>& gids);

template <typename Value>
data::Json json_of(const Value& value) {
  if constexpr (requires { *value; }) {
    return value ? json_of(*value) : data::Json(nullptr);
  } else if constexpr (std::is_enum_v<Value>) {
    return to_string(value);
  } else {
    return value;
  }
}

std::string rate_text(std::optional<double> gbps);  ///< "400", "2.5", ""

/// "0-3,8": ranges as the kernel writes them; the numbers ascend.
std::string range_list(const std::vector<unsigned>& numbers);

/// The GPU and NIC objects that Topology and Affinity documents share.
data::Json gpu_json(const node::Node& node, std::size_t gpu);
data::Json nic_json(const node::Node& node, std::size_t nic);

/// `source`, `origin` (null: sysfs alone) and `confidence` of a document's relations.
void add_source(data::Json& document, const topology::Topology& topology);
/// "source: PCI tree (AWS p5.48xlarge), confidence high"
std::string source_line(const topology::Topology& topology);

/// "GPU3" by nvidia-smi's index, else by PCI address.
std::string gpu_label(const node::Gpu& gpu);

/// Of a node without GPUs: that it has none, or that its topology file does not say which they are.
std::string no_gpu_text(const node::Node& node);

/// "shared" or "exclusive", as `rdma system` says it; absent where it is not known.
std::optional<std::string> rdma_namespaces(const node::Node& node);

/// What holds for every NIC of the node and a person has to know: RDMA namespaces are exclusive.
std::vector<std::string> namespace_lines(const node::Node& node);

/// NICs that are due to one of these GPUs and cannot carry traffic, or seem to be missing, one line
/// each. What an exclusive pool keeps for its own pods is none of them.
std::vector<std::string> lost_nic_lines(const inject::DecisionTable& table,
                                        const affinity::Selection& selection);
/// The same for all GPUs of the node, and whether its type of machine has more NICs.
std::vector<std::string> lost_nic_lines(const inject::DecisionTable& table);

/// kExitOk, kExitProblem where something is wrong, or kExitCannotTell where nothing is seen to be
/// wrong and a device, or a folder of devices, could not be read.
int exit_code_for(const node::Node& node, bool is_well);

/// What could not be read or is malformed, one line each.
std::vector<std::string> problem_lines(const node::Node& node);
data::Json problems_json(const node::Node& node);

}  // namespace railhead::cli
