// SPDX-License-Identifier: Apache-2.0
#include "allocation/device_info.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "data/json.h"
#include "inject/function_nodes.h"

namespace railhead::allocation {
namespace {

constexpr std::string_view kEnd = "-device.json";

std::string without_slashes(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '/', '-');
  return name;
}

std::vector<std::string> rdma_devices(const inject::DecisionTable& table,
                                      const pools::NetFunction& function) {
  std::vector<std::string> names;
  for (const auto nic : function.nics) {
    if (table.node().nics[nic].registered) names.push_back(table.node().nics[nic].name);
  }
  return names;
}

/// "driver" is what the selector calls it. Source: sriov-network-device-plugin
/// pkg/netdevice/netResourcePool.go, StoreDeviceInfoFile; pkg/devices/vdpa.go.
data::Json vdpa_facts(const node::VdpaDevice& device, const pools::NetFunction& function) {
  data::Json vdpa{{"parent-device", device.name}, {"driver", device.type()}};
  if (const auto path = inject::vhost_vdpa_node(device)) vdpa["path"] = *path;
  vdpa["pci-address"] = function.pci->str();
  if (function.parent) vdpa["pf-pci-address"] = function.parent->str();
  return vdpa;
}

std::string text_of(const char* type, data::Json facts) {
  return data::to_json_line(
             data::Json{{"type", type}, {"version", "1.1.0"}, {type, std::move(facts)}}) +
         "\n";
}

}  // namespace

std::string device_info_file_name(std::string_view resource, std::string_view id) {
  return without_slashes(resource) + "-" + without_slashes(id) + std::string(kEnd);
}

std::optional<std::string> id_in_device_info_file(std::string_view resource,
                                                  std::string_view file_name) {
  const auto start = without_slashes(resource) + "-";
  if (!file_name.starts_with(start) || !file_name.ends_with(kEnd)) return std::nullopt;
  if (file_name.size() < start.size() + kEnd.size()) return std::nullopt;
  const auto id = file_name.substr(start.size(), file_name.size() - start.size() - kEnd.size());
  const auto address = node::PciAddress::parse(id);
  if (!address || address->str() != id) return std::nullopt;
  return std::string(id);
}

std::optional<std::string> device_info(const inject::DecisionTable& table, const pools::Pool& pool,
                                       std::size_t member) {
  const auto& function = table.pools().functions[pool.members[member].function];
  const bool is_pci_function = function.kind == pools::FunctionKind::physical ||
                               function.kind == pools::FunctionKind::virtual_;
  if (pool.spec.mode != pools::PoolMode::exclusive || !is_pci_function || !function.pci) {
    return std::nullopt;
  }
  if (const auto* device = inject::vdpa_device(table, pool, pool.members[member])) {
    return text_of("vdpa", vdpa_facts(*device, function));
  }
  data::Json pci{{"pci-address", function.pci->str()}};
  if (pool.spec.include[pool.members[member].selector].rdma) {
    const auto names = rdma_devices(table, function);
    if (!names.empty()) pci["rdma-device"] = join(names, ",");
  }
  if (function.parent) pci["pf-pci-address"] = function.parent->str();
  return text_of("pci", std::move(pci));
}

}  // namespace railhead::allocation
