// SPDX-License-Identifier: Apache-2.0
#include "allocation/grant.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "allocation/cdi_spec.h"
#include "allocation/handed_nodes.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "data/json.h"
#include "inject/allocations.h"
#include "inject/function_nodes.h"
#include "inject/rdma_devices.h"

namespace railhead::allocation {
namespace {

/// Why a function of an exclusive pool cannot be handed out although it was allocated.
Error not_there(const inject::DecisionTable& table, std::size_t pool, const std::string& id) {
  const auto what =
      in_quotes(id, pools::kMaxDeviceIdLength) + " of " + table.pools().pools[pool].spec.name;
  const auto function = table.pools().find_function(id);
  if (!function) return Error{ErrorCode::unavailable, what + " is not on this node any more"};
  return Error{ErrorCode::unavailable,
               what + " is not in it any more: " + table.why_not_in(pool, *function)};
}

/// A move into another network namespace makes new nodes; while it goes on there are none.
Status nodes_are_known(const inject::DecisionTable& table, const pools::Pool& pool,
                       const pools::Member& member) {
  const auto& function = table.pools().functions[member.function];
  if (!pool.spec.include[member.selector].rdma) return {};
  for (const auto nic : function.nics) {
    const auto& own = table.node().nics[nic];
    if (!own.elsewhere || !own.uverbs.empty()) return {};
  }
  if (function.nics.empty()) return {};
  return Error{ErrorCode::unavailable,
               in_quotes(function.id, pools::kMaxDeviceIdLength) + " of " + pool.spec.name +
                   " is on its way into another network namespace: its RDMA device has no nodes"};
}

bool has_rdma_nodes(const inject::DecisionTable& table, const pools::Pool& pool, std::size_t m) {
  const auto& member = pool.members[m];
  const auto& nics = table.pools().functions[member.function].nics;
  return !pool.spec.include[member.selector].rdma || std::ranges::any_of(nics, [&](auto nic) {
    return !table.node().nics[nic].uverbs.empty();
  });
}

/// Where nobody looks for them when the container is created, they have to be there now.
Status nodes_are_there(const inject::DecisionTable& table, const pools::Pool& pool,
                       const std::vector<std::size_t>& members) {
  const auto has = [&](auto m) { return has_rdma_nodes(table, pool, m); };
  const auto lacking = std::ranges::find_if_not(members, has);
  const bool enough =
      pools::is_fungible(pool) ? std::ranges::any_of(members, has) : lacking == members.end();
  if (enough) return {};
  const auto& id = table.pools().functions[pool.members[*lacking].function].id;
  return Error{ErrorCode::unavailable, in_quotes(id, pools::kMaxDeviceIdLength) + " of " +
                                           pool.spec.name +
                                           " has no uverbs node: ib_uverbs is not loaded, or its "
                                           "driver is just being loaded"};
}

std::vector<std::string> function_ids(const inject::DecisionTable& table, const pools::Pool& pool,
                                      const std::vector<std::size_t>& members) {
  std::vector<std::string> ids;
  for (const auto m : members) ids.push_back(table.pools().functions[pool.members[m].function].id);
  return ids;
}

void add_specs(const std::vector<HandedNode>& nodes, kubelet::Grant& grant) {
  for (const auto& node : nodes) grant.devices.push_back({node.host_path, node.container_path});
}

using Variables = std::map<std::string, std::string>;

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

/// Values for the function's own address go before those for "*". An SF goes by the address of its
/// physical function.
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
  if (const auto group = inject::vfio_group_node(table, function)) {
    facts["vfio"] = {{"mount", inject::kVfioContainer}, {"dev-mount", group->container_path}};
  }
  if (const auto* device = inject::vdpa_device(table, pool, member)) {
    const auto path = inject::vhost_vdpa_node(*device);
    facts["vdpa"] = path ? Variables{{"mount", *path}} : Variables{};
  }
  if (selector.vhost_net)
    facts["vhost"] = {{"net-mount", inject::kVhostNet}, {"tun-mount", inject::kTun}};
  if (!pool.spec.additional_info.empty()) facts["extra"] = extra_facts(pool, function);
  return facts;
}

/// Source: sriov-network-device-plugin pkg/resources/pool_stub.go, GetEnvs: dots and the slash
/// become underscores, a hyphen stays.
Variables of_sriov(const inject::DecisionTable& table, const pools::Pool& pool,
                   const std::vector<std::size_t>& members) {
  std::string name = "PCIDEVICE_" + pool.spec.name;
  std::ranges::transform(name, name.begin(), [](char c) {
    if (c == '.' || c == '/') return '_';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::vector<std::string> ids;
  std::map<std::string, Facts> info;
  for (const auto m : members) {
    ids.push_back(table.pools().functions[pool.members[m].function].id);
    info[ids.back()] = facts_of(table, pool, pool.members[m]);
  }
  return {{name, join(ids, ",")}, {name + "_INFO", data::to_json_line(info)}};
}

/// The variables that a container with these members of a pool would get from the plugin whose
/// words describe the pool; none for ours and for those of the shared plugin. `slots`: how many
/// devices were allocated.
std::map<std::string, std::string> grant_variables(const inject::DecisionTable& table,
                                                   const pools::Pool& pool,
                                                   const std::vector<std::size_t>& members,
                                                   std::size_t slots) {
  if (pool.spec.origin.flavour == pools::PoolFlavour::k8s_rdma_device_plugin) {
    // Source: k8s-rdma-device-plugin pkg/plugin/plugin.go, Allocate.
    return {{"RDMA_RESOURCE", pool.spec.name}, {"RDMA_ALLOCATED", std::to_string(slots)}};
  }
  // What programs look for that are handed functions, whoever hands them out.
  if (pool.spec.mode == pools::PoolMode::exclusive) return of_sriov(table, pool, members);
  return {};
}

}  // namespace

Result<std::vector<std::size_t>> members_held(const inject::DecisionTable& table, std::size_t pool,
                                              const std::vector<std::string>& ids) {
  const pools::Pool& asked = table.pools().pools[pool];
  std::vector<std::size_t> held;
  if (pools::is_fungible(asked)) {
    if (asked.members.empty())
      return Error{ErrorCode::unavailable, "no NIC of this node is in " + asked.spec.name};
    held.resize(asked.members.size());
    std::iota(held.begin(), held.end(), 0U);
    return held;
  }
  for (const auto& id : ids) {
    const auto member = pools::member_of_device(table.pools(), asked, id);
    if (!member) return not_there(table, pool, id);
    TRY_STATUS(nodes_are_known(table, asked, asked.members[*member]));
    held.push_back(*member);
  }
  sort_unique(held);
  return held;
}

Result<kubelet::Grant> grant_of(const inject::DecisionTable& table, std::size_t pool,
                                const std::vector<std::string>& ids, config::HandOut hand_out) {
  const pools::Pool& asked = table.pools().pools[pool];
  const auto members = TRY(members_held(table, pool, ids));
  kubelet::Grant grant;
  grant.env = grant_variables(table, asked, members, ids.size());
  switch (hand_out) {
    case config::HandOut::nri:
      grant.annotations[inject::allocation_key(asked.spec.name)] =
          join(function_ids(table, asked, members), ",");
      TRY(inject::numbered_devices(table, asked, members));  // they come by NRI, or not at all
      for (const auto& node : inject::constant_nodes(asked, members)) {
        grant.devices.push_back({node.host_path, node.container_path});
      }
      break;
    case config::HandOut::device_specs:
      TRY_STATUS(nodes_are_there(table, asked, members));
      add_specs(rdma_nodes(table, asked, members), grant);
      add_specs(TRY(other_nodes(table, asked, members)), grant);
      break;
    case config::HandOut::cdi:
      TRY_STATUS(nodes_are_there(table, asked, members));
      grant.cdi_devices = TRY(cdi_names(table, asked, members));
      break;
  }
  return grant;
}

}  // namespace railhead::allocation
