// SPDX-License-Identifier: Apache-2.0
//
// The order is that of sriov-network-operator (pkg/host/internal/sriov/sriov.go): the number of
// functions, the physical function's MTU, then each virtual one: its address while the driver is
// bound, the driver anew, its MTU.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "node/pci.h"
#include "setup/functions.h"
#include "setup/link_control.h"
#include "setup/plan.h"
#include "setup/rdma_users.h"

namespace railhead::setup {
namespace {

bool is_zero(const std::string& guid) {
  return guid.find_first_not_of("0:") == std::string::npos;
}

std::string name_of(const NetworkFunction& function) {
  return function.netdev.empty() ? function.address : function.netdev;
}

std::string without_iommu(const NetworkFunction& function) {
  return function.address + std::string(" has no IOMMU, without which ") + kVfio +
         " binds nothing: switch it on in the BIOS, and on an Intel processor boot with "
         "intel_iommu=on";
}

/// What all policies that select it say of a physical function.
Step count_step(const Situation& situation, const NetworkFunction& physical,
                const VfPolicy& policy) {
  const bool externally_managed = policy.externally_managed;
  const unsigned count = policy.count;
  const auto have = static_cast<unsigned>(physical.virtual_functions.size());
  Step step{.id = "sriov.vfs/" + physical.address,
            .title = name_of(physical) + " has " + counted(count, "VF"),
            .before = std::to_string(have),
            .after = std::to_string(count)};
  if (have == count || (externally_managed && have >= count)) {
    step.reason = function_path(physical.address, "sriov_numvfs");
    return step;
  }
  if (externally_managed)
    return refused(std::move(step), "externallyManaged: who made them is to make more");
  if (physical.total_vfs.value_or(0) == 0) {
    return refused(std::move(step),
                   physical.address + " has no SR-IOV: it is off in its firmware or the BIOS");
  }
  if (count > *physical.total_vfs) {
    return refused(std::move(step), physical.address + " can have " +
                                        std::to_string(*physical.total_vfs) +
                                        ": more is a setting of its firmware, and a reboot");
  }
  // Of what it is for: none is made that could not be handed on.
  if (policy.is_vfio && !physical.has_iommu)
    return refused(std::move(step), without_iommu(physical));
  if (have != 0) {
    // The kernel takes another number only by way of none.
    step.risk = Risk::restart;
    const auto users = users_of(*situation.machine.host, physical);
    if (!users.empty()) return refused(std::move(step), "all would go, and " + users);
  }
  return kernel_step(situation, std::move(step), have != 0 ? "all of them go first" : "",
                     {Change::Kind::functions, physical.address, std::to_string(count)});
}

/// An MTU is only raised: others may count on what there is. That of a virtual function is never
/// above that of its `physical` one.
void add_mtu(const Situation& situation, const NetworkFunction& function, unsigned mtu, Risk risk,
             Plan& plan, const NetworkFunction* physical = nullptr) {
  if (function.netdev.empty() || !function.mtu) return;
  Step step{.id = "sriov.mtu/" + function.address,
            .title = function.netdev + " has an MTU of " + std::to_string(mtu),
            .risk = risk,
            .before = std::to_string(*function.mtu),
            .after = std::to_string(std::max(mtu, *function.mtu))};
  const std::string path = "/sys/class/net/" + function.netdev + "/mtu";
  if (*function.mtu < mtu && physical != nullptr && physical->mtu && *physical->mtu < mtu) {
    return plan.push_back(parked(std::move(step), "after that of its PF: " + name_of(*physical) +
                                                      " has " + std::to_string(*physical->mtu)));
  }
  plan.push_back(live_step(situation, std::move(step), path, "",
                           {Change::Kind::attribute, path, std::to_string(mtu)}));
}

/// A driver that was bound before its function had an address has a node GUID of zeros, with which
/// rdma_cm fails and an InfiniBand port never becomes active.
Step identity_step(const Situation& situation, const NetworkFunction& function) {
  Step step{.id = "sriov.identity/" + function.address,
            .title = function.address + " has a node GUID",
            .before = function.rdma.empty() ? "no RDMA device" : function.node_guid,
            .after = "one of its own"};
  if (!function.rdma.empty() && !is_zero(function.node_guid)) {
    step.after = function.node_guid;
    step.reason = function_path(function.address, "infiniband/" + function.rdma + "/node_guid");
    return step;
  }
  if (!function.driver.empty() && function.rdma.empty()) {
    return parked(std::move(step), function.driver +
                                       " gives it no RDMA device here: its RDMA module is missing, "
                                       "or a pod has it");
  }
  return kernel_step(situation, std::move(step), "",
                     {Change::Kind::identity, function.address, ""});
}

/// What a function may do by itself: choose its address, and receive what is for others.
Step trust_step(const Situation& situation, const NetworkFunction& physical, unsigned number,
                bool is_trusted) {
  const std::string& address = physical.virtual_functions[number];
  const std::string subject =
      link_subject(physical.netdev, "vf." + std::to_string(number) + ".trust");
  Step step{.id = "sriov.trust/" + address,
            .title = address + (is_trusted ? " is trusted" : " is not trusted"),
            .after = is_trusted ? "on" : "off"};
  const auto now = read_link(*situation.machine.host, subject);
  step.before = now ? now->value_or("") : "";
  if (situation.machine.is_live && (!now || !*now)) {
    return refused(std::move(step),
                   now ? physical.driver + " does not have it" : now.error().message);
  }
  Change change{Change::Kind::link, subject, step.after};
  return live_step(situation, std::move(step), subject, "", std::move(change));
}

/// For a virtual machine.
Step driver_step(const Situation& situation, const NetworkFunction& physical,
                 const NetworkFunction& function) {
  Step step{.id = "sriov.driver/" + function.address,
            .title = function.address + " is bound to " + kVfio,
            .before = function.driver.empty() ? "no driver" : function.driver,
            .after = kVfio};
  // Who has the netdev up would lose it.
  if (function.is_up) step.risk = Risk::restart;
  host::Host& host = *situation.machine.host;
  std::string against = sharer_of(host, function, physical.virtual_functions);
  if (against.empty() && function.driver == kVfio) {
    step.reason = function_path(function.address, "driver");
    return step;
  }
  if (against.empty()) against = user_of(function);
  if (against.empty() && !function.has_iommu) against = without_iommu(function);
  if (!against.empty()) return refused(std::move(step), std::move(against));
  if (!has_folder(host, "/sys/module/vfio_pci"))
    return parked(std::move(step), "vfio_pci is not loaded");
  against = rdma_user(host, function.rdma);
  if (!against.empty()) return refused(std::move(step), std::move(against));
  return kernel_step(situation, std::move(step), "",
                     {Change::Kind::driver, function.address, kVfio});
}

/// What a virtual machine has by a policy of somebody else, or by one of before.
Step vfio_holder_step(const NetworkFunction& function) {
  Step step{.id = "sriov.driver/" + function.address,
            .title = function.address + " has a driver of the host",
            .before = function.driver};
  return refused(std::move(step), user_of(function));
}

/// "ens8f0#2-4" means the functions 2 to 4; without a part, all.
bool is_part(const VfPolicy& policy, const NetworkFunction& physical, unsigned number) {
  if (policy.pf_names.empty()) return true;
  return std::ranges::any_of(policy.pf_names, [&](const std::string& name) {
    const auto part = part_of(name);
    return part && part->netdev == physical.netdev && number >= part->first && number <= part->last;
  });
}

/// "15b3:101d, ens8f0": what nicSelector says.
std::string selector_of(const VfPolicy& policy) {
  std::vector<std::string> parts;
  if (!policy.vendor.empty() || !policy.device.empty()) {
    const auto id_of = [](const std::string& id) { return id.empty() ? "*" : id; };
    parts.push_back(id_of(policy.vendor) + ":" + id_of(policy.device));
  }
  for (const auto* names : {&policy.pf_names, &policy.root_devices})
    parts.insert(parts.end(), names->begin(), names->end());
  return join(parts, ", ");
}

void plan_virtual(const Situation& situation, const VfPolicy& policy,
                  const NetworkFunction& physical, unsigned number, Plan& plan) {
  const auto function = read_function(*situation.machine.host, physical.virtual_functions[number]);
  if (function && policy.is_vfio) {
    plan.push_back(driver_step(situation, physical, *function));
  } else if (function && node::is_vfio_driver(function->driver)) {
    plan.push_back(vfio_holder_step(*function));
  } else if (function && user_of(*function).empty()) {
    if (policy.is_rdma) plan.push_back(identity_step(situation, *function));
    if (policy.mtu) add_mtu(situation, *function, *policy.mtu, Risk::live, plan, &physical);
  }
  if (policy.is_trusted)
    plan.push_back(trust_step(situation, physical, number, *policy.is_trusted));
}

/// What is wanted of one physical function.
struct PhysicalWish {
  NetworkFunction function;
  std::vector<const VfPolicy*> policies;
};

/// What several policies say of it together.
VfPolicy together(const PhysicalWish& wish) {
  VfPolicy all;
  for (const auto* policy : wish.policies) {
    all.count = std::max(all.count, policy->count);
    if (policy->mtu) all.mtu = std::max(all.mtu.value_or(0), *policy->mtu);
    all.is_vfio = all.is_vfio || policy->is_vfio;
    all.externally_managed = all.externally_managed || policy->externally_managed;
  }
  return all;
}

/// Policies may share a physical function, and not a virtual one: who is right? "": they do not.
std::string overlap_in(const PhysicalWish& wish, unsigned count) {
  for (unsigned number = 0; number < count; ++number) {
    std::vector<std::string> names;
    for (const auto* policy : wish.policies) {
      if (is_part(*policy, wish.function, number)) names.push_back(in_quotes(policy->resource));
    }
    if (names.size() > 1) {
      return "VF " + std::to_string(number) + " is of " + join(names, " and of ") +
             ": give each its part in pfNames";
    }
  }
  return "";
}

/// Before there are any. Who runs without NetworkManager needs no rule.
void add_unmanaged(const Situation& situation, const PhysicalWish& wish, Plan& plan) {
  const bool makes_netdevs = std::ranges::any_of(wish.policies, [](const VfPolicy* policy) {
    return !policy->is_vfio && !policy->externally_managed;
  });
  const std::string& netdev = wish.function.netdev;
  if (!makes_netdevs || netdev.empty()) return;
  if (system::read_unit(*situation.machine.host, "NetworkManager").path.empty()) return;
  Step step{.id = "sriov.unmanaged/" + wish.function.address,
            .title = "NetworkManager leaves the VFs of " + netdev + " alone"};
  plan.push_back(files_step(situation, std::move(step), {unmanaged_file(netdev)}));
}

void plan_physical(const Situation& situation, const PhysicalWish& wish, Plan& plan) {
  const auto& physical = wish.function;
  const VfPolicy all = together(wish);
  std::string overlap = overlap_in(wish, all.count);
  if (!overlap.empty()) {
    Step step{.id = "sriov.overlap/" + physical.address,
              .title = "each VF of " + name_of(physical) + " has one policy"};
    return plan.push_back(refused(std::move(step), std::move(overlap)));
  }
  add_unmanaged(situation, wish, plan);
  plan.push_back(count_step(situation, physical, all));
  if (all.mtu) add_mtu(situation, physical, *all.mtu, Risk::restart, plan);
  for (const auto* policy : wish.policies) {
    for (unsigned number = 0; number < physical.virtual_functions.size(); ++number) {
      if (is_part(*policy, physical, number))
        plan_virtual(situation, *policy, physical, number, plan);
    }
  }
}

}  // namespace

void plan_sriov(const Situation& situation, Plan& plan) {
  std::map<std::string, PhysicalWish> wishes;
  for (const auto& policy : situation.wanted.sriov) {
    const auto selected = select_functions(*situation.machine.host, policy);
    for (const auto& physical : selected) {
      auto& wish = wishes[physical.address];
      wish.function = physical;
      wish.policies.push_back(&policy);
    }
    if (!selected.empty()) continue;
    Step step;
    const std::string selected_by = selector_of(policy);
    step.id = "sriov.vfs/" + (policy.resource.empty() ? selected_by : policy.resource);
    step.title = "a network function is " + selected_by +
                 (policy.resource.empty() ? "" : ", for " + policy.resource);
    plan.push_back(parked(std::move(step), "nicSelector selects no network function here"));
  }
  for (const auto& [address, wish] : wishes) plan_physical(situation, wish, plan);
}

}  // namespace railhead::setup
