// SPDX-License-Identifier: Apache-2.0
#include "allocation/grant_variables.h"

#include <algorithm>

#include "allocation/handed_nodes.h"
#include "base/text.h"
#include "data/json.h"
#include "inject/rdma_devices.h"

namespace railhead::allocation {
namespace {

using Variables = std::map<std::string, std::string>;

/// Source: k8s-rdma-device-plugin pkg/plugin/plugin.go, Allocate.
Variables of_k8s_rdma(const pools::Pool& pool, std::size_t slots) {
  return {{"RDMA_RESOURCE", pool.spec.name}, {"RDMA_ALLOCATED", std::to_string(slots)}};
}

/// By provider, and each by key; sorted, as there.
using Facts = std::map<std::string, Variables>;

/// Only what can be handed out is named. Keys of this and the following providers: GetName() and
/// GetEnvVal() of sriov-network-device-plugin
/// pkg/infoprovider/{rdma,vfio,vdpa,vhostNet,generic,extra} InfoProvider.go; which function has
/// which: pkg/netdevice/pciNetDevice.go.
Variables rdma_facts(const inject::DecisionTable& table, const pools::Pool& pool,
                     const pools::NetFunction& function) {
  Variables facts;
  const auto classes = inject::device_classes(table.policy(), pool.spec.devices);
  for (const auto& node : inject::devices_to_add({}, table, function.nics, classes)) {
    const auto device = inject::find_rdma_device(table, node.path);
    if (!device) continue;
    switch (device->kind) {
      case inject::RdmaDeviceKind::uverbs: facts["uverbs"] = node.path; break;
      case inject::RdmaDeviceKind::umad: facts["umad"] = node.path; break;
      case inject::RdmaDeviceKind::issm: facts["issm"] = node.path; break;
      case inject::RdmaDeviceKind::rdma_cm: facts["rdma_cm"] = node.path; break;
    }
  }
  if (!function.nics.empty()) facts["rdma_dev"] = table.node().nics[function.nics.front()].name;
  return facts;
}

/// Of an SF the address of its physical function counts. The function's own values go before "*".
Variables extra_facts(const pools::Pool& pool, const pools::NetFunction& function) {
  Variables extra;
  const auto id = function.pci ? function.pci->str() : function.id;
  for (const auto& key : {id, std::string("*")}) {
    const auto at = pool.spec.additional_info.find(key);
    if (at != pool.spec.additional_info.end()) extra.insert(at->second.begin(), at->second.end());
  }
  return extra;
}

Facts facts_of(const inject::DecisionTable& table, const pools::Pool& pool,
               const pools::Member& member) {
  const pools::NetFunction& function = table.pools().functions[member.function];
  const pools::Selector& selector = pool.spec.include[member.selector];
  Facts facts{{"generic", {{"deviceID", function.id}}}};
  if (selector.rdma) facts["rdma"] = rdma_facts(table, pool, function);
  if (const auto group = vfio_group_node(table, function)) {
    facts["vfio"] = {{"mount", kVfioContainer}, {"dev-mount", group->container_path}};
  }
  if (const auto* device = vdpa_device(table, pool, member)) {
    const auto path = vhost_vdpa_node(*device);
    facts["vdpa"] = path ? Variables{{"mount", *path}} : Variables{};
  }
  if (selector.vhost_net) facts["vhost"] = {{"net-mount", kVhostNet}, {"tun-mount", kTun}};
  if (!pool.spec.additional_info.empty()) facts["extra"] = extra_facts(pool, function);
  return facts;
}

/// Source: sriov-network-device-plugin pkg/resources/pool_stub.go, GetEnvs: dots and the slash
/// become underscores, a hyphen stays.
Variables of_sriov(const inject::DecisionTable& table, const pools::Pool& pool,
                   const std::vector<std::size_t>& members) {
  std::string name = "PCIDEVICE_" + pool.spec.name;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    if (c == '.' || c == '/') return '_';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::vector<std::string> ids;
  std::map<std::string, Facts> info;
  for (const auto m : members) {
    ids.push_back(table.pools().functions[pool.members[m].function].id);
    info[ids.back()] = facts_of(table, pool, pool.members[m]);
  }
  return {{name, join(ids, ",")}, {name + "_INFO", data::Json(info).dump()}};
}

}  // namespace

std::map<std::string, std::string> grant_variables(const inject::DecisionTable& table,
                                                   const pools::Pool& pool,
                                                   const std::vector<std::size_t>& members,
                                                   std::size_t slots) {
  if (pool.spec.origin.flavour == pools::PoolFlavour::k8s_rdma_device_plugin) {
    return of_k8s_rdma(pool, slots);
  }
  // What programs look for that are handed functions, whoever hands them out.
  if (pool.spec.mode == pools::PoolMode::exclusive) return of_sriov(table, pool, members);
  return {};
}

}  // namespace railhead::allocation
