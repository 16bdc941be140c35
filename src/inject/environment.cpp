// SPDX-License-Identifier: Apache-2.0
#include "inject/environment.h"

#include <algorithm>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::inject {
namespace {

std::string ports_of(const DecisionTable& table, const std::vector<std::size_t>& nics) {
  std::string out;
  for (const std::size_t nic : nics) {
    const auto& ports = table.active_ports_of(nic);
    if (ports.empty()) continue;
    if (!out.empty()) out += ',';
    out += ports;
  }
  return out;
}

/// "<port>:<number of processes>,…": process i of a node, which drives GPU i, takes the first port
/// of that GPU's first NIC. Empty where a GPU has none.
std::string process_mapping(const DecisionTable& table, const std::vector<std::size_t>& nics,
                            const std::vector<affinity::GpuChoice>& choices) {
  std::vector<std::pair<std::string, unsigned>> runs;
  for (const affinity::GpuChoice& choice : choices) {
    std::string port;
    for (const affinity::Choice& one : choice.nics) {
      if (!contains(nics, one.nic)) continue;
      const std::string_view ports = table.active_ports_of(one.nic);
      port = ports.substr(0, ports.find(','));
      if (!port.empty()) break;
    }
    if (port.empty()) return {};
    if (runs.empty() || runs.back().first != port) runs.emplace_back(port, 0);
    ++runs.back().second;
  }
  std::vector<std::string> out;
  for (const auto& [port, count] : runs) out.push_back(port + ":" + std::to_string(count));
  return join(out, ",");
}

}  // namespace

bool has_variable(const container::Request& request, std::string_view name) {
  return std::any_of(request.env.begin(), request.env.end(), [&](std::string_view entry) {
    return entry.starts_with(name) && (entry.size() == name.size() || entry[name.size()] == '=');
  });
}

std::vector<std::pair<std::string, std::string>> environment_for(
    const container::Request& request, const DecisionTable& table,
    const std::vector<std::size_t>& nics, const std::vector<affinity::GpuChoice>& choices) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::string ports = ports_of(table, nics);
  if (ports.empty()) return out;
  // Without "=" NCCL takes names as prefixes, and mlx5_1 would also be mlx5_10.
  if (!has_variable(request, "NCCL_IB_HCA")) out.emplace_back("NCCL_IB_HCA", "=" + ports);
  if (table.policy().ucx_env && !has_variable(request, "UCX_NET_DEVICES")) {
    out.emplace_back("UCX_NET_DEVICES", ports);
  }
  // NVSHMEM looks at its two lists only where the mapping is enabled, and at one of them: the three
  // variables go together or not at all.
  constexpr std::string_view kEnable = "NVSHMEM_ENABLE_NIC_PE_MAPPING";
  constexpr std::string_view kList = "NVSHMEM_HCA_LIST";
  constexpr std::string_view kMapping = "NVSHMEM_HCA_PE_MAPPING";
  if (table.policy().nvshmem_env && !has_variable(request, kEnable) &&
      !has_variable(request, kList) && !has_variable(request, kMapping)) {
    const std::string mapping = process_mapping(table, nics, choices);
    out.emplace_back(kEnable, "1");
    out.emplace_back(mapping.empty() ? kList : kMapping, mapping.empty() ? ports : mapping);
  }
  return out;
}

}  // namespace railhead::inject
