// SPDX-License-Identifier: Apache-2.0
//
// Device plugins: their files in ConfigMaps and policies, and two that want the same.
#include <algorithm>
#include <map>
#include <set>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "config/node_policies.h"
#include "lint/nic_policies.h"
#include "lint/rule.h"

namespace railhead::lint {
namespace {

using pools::Fact;
using pools::PoolFlavour;

data::Mark mark_of(const Complaint& complaint) {
  if (complaint.mark.line > 0 || complaint.place == nullptr) return complaint.mark;
  return complaint.place->mark;
}

void unusable(const Given& given, Found& found) {
  for (const auto& complaint : given.complaints) {
    if (complaint.is_left_out) found.add(*complaint.object, mark_of(complaint), complaint.what);
  }
}

void ignored(const Given& given, Found& found) {
  for (const auto& complaint : given.complaints) {
    if (!complaint.is_left_out) found.add(*complaint.object, mark_of(complaint), complaint.what);
  }
}

/// Calls `use(offer, selector)` with each selector of a plugin's file in an object.
template <typename Use>
void for_each_selector(const Given& given, Use use) {
  for (const auto& offer : given.offers) {
    if (offer.object == nullptr || !offer.spec) continue;
    if (offer.spec->origin.flavour == PoolFlavour::railhead) continue;
    for (const auto& selector : offer.spec->include) use(offer, selector);
  }
}

const pools::Condition* condition(const pools::Selector& selector, Fact fact) {
  return find_by(selector.conditions, &pools::Condition::fact, fact);
}

bool has_any(const pools::Selector& selector, std::initializer_list<Fact> facts) {
  return std::ranges::any_of(facts,
                             [&](Fact fact) { return condition(selector, fact) != nullptr; });
}

void any_nic(const Given& given, Found& found) {
  std::set<const Offer*> done;
  for_each_selector(given, [&](const Offer& offer, const pools::Selector& selector) {
    const bool is_narrow =
        has_any(selector, {Fact::device, Fact::netdev, Fact::rdma_name, Fact::pci_address,
                           Fact::pf_name, Fact::root_device, Fact::link_type, Fact::link_layer,
                           Fact::acpi_index, Fact::pkey, Fact::first_pkey});
    const auto* vendors = condition(selector, Fact::vendor);
    const bool is_mellanox = vendors != nullptr && contains(vendors->values, "15b3");
    if (is_narrow || !is_mellanox || !done.insert(&offer).second) return;
    found.add(*offer.object, offer.place,
              in_quotes(offer.name) + " is selected by " +
                  join(selector.conditions, ", ", &pools::Condition::key) +
                  " alone, so every NIC of the vendor is in it");
  });
}

void vf_ids(const Given& given, Found& found) {
  std::set<const Offer*> done;
  for_each_selector(given, [&](const Offer& offer, const pools::Selector& selector) {
    if (offer.spec->origin.flavour != PoolFlavour::shared_plugin) return;
    const auto* devices = condition(selector, Fact::device);
    if (devices == nullptr) return;
    std::vector<std::string> virtual_ids;
    for (const auto& id : devices->values) {
      if (!config::physical_ids_of(id).empty()) virtual_ids.push_back(id);
    }
    const bool is_mixed = !virtual_ids.empty() && virtual_ids.size() < devices->values.size();
    if (!is_mixed || !done.insert(&offer).second) return;
    found.add(*offer.object, offer.place,
              in_quotes(offer.name) + " selects physical functions and, by " +
                  join(virtual_ids, ", ") + ", virtual functions of " +
                  join(config::physical_ids_of(virtual_ids.front()), ", "));
  });
}

void same_name(const Given& given, Found& found) {
  std::map<std::string, const Offer*> first;
  for (const auto& offer : given.offers) {
    if (offer.object == nullptr || !offer.spec) continue;
    const auto [at, is_new] = first.emplace(offer.name, &offer);
    if (is_new || at->second->object == offer.object) continue;
    if (are_for_other_nodes(*at->second->object, *offer.object)) continue;
    found.add(*offer.object, offer.place, in_quotes(offer.name) + " is also of " + at->second->by);
  }
}

/// Offers of SR-IOV plugins' files that take virtual functions, by vendor; "": of any vendor.
std::map<std::string, const Offer*, std::less<>> takers_of_functions(const Given& given) {
  std::map<std::string, const Offer*, std::less<>> takers;
  for_each_selector(given, [&](const Offer& offer, const pools::Selector& selector) {
    if (offer.spec->origin.flavour != PoolFlavour::sriov_plugin) return;
    const auto* devices = condition(selector, Fact::device);
    const bool takes_vfs =
        devices == nullptr || std::ranges::any_of(devices->values, [](const auto& id) {
          return !config::physical_ids_of(id).empty();
        });
    if (!takes_vfs) return;
    const auto* vendors = condition(selector, Fact::vendor);
    if (vendors == nullptr) {
      takers.emplace("", &offer);
    } else {
      for (const auto& vendor : vendors->values) takers.emplace(vendor, &offer);
    }
  });
  return takers;
}

/// The SR-IOV operator runs a device plugin of its own for what its policies make.
void two_owners(const Given& given, Found& found) {
  const auto takers = takers_of_functions(given);
  if (takers.empty()) return;
  for (const auto& offer : given.offers) {
    if (offer.object == nullptr || offer.object->kind != "SriovNetworkNodePolicy") continue;
    const auto vendor = text_below(offer.object->root, {"spec", "nicSelector", "vendor"});
    const auto* of_vendor = find_value(takers, vendor);
    const auto* of_any = find_value(takers, "");
    const auto* other = of_vendor != nullptr ? *of_vendor : of_any != nullptr ? *of_any : nullptr;
    // A policy without a vendor may take functions of any.
    if (other == nullptr && vendor.empty()) other = takers.begin()->second;
    if (other == nullptr) continue;
    found.add(*offer.object, offer.place,
              "its VFs are offered as " + in_quotes(offer.name) +
                  " by the operator's own plugin, and as " + in_quotes(other->name) + " by " +
                  other->by);
  }
}

void misplaced_variables(const Given& given, Found& found) {
  for (const auto* policy : nic_policies(given)) {
    for (const char* section : {"rdmaSharedDevicePlugin", "sriovDevicePlugin"}) {
      const auto* entry = entry_of(below(policy->root, {"spec", section}), "env");
      if (entry == nullptr) continue;
      found.add(*policy, entry, "env stands in " + std::string(section));
    }
  }
}

constexpr Rule kPluginRules[] = {
    {"plugin.file", "The file of a device plugin cannot be used.", Severity::fail,
     "The plugin ends, or leaves the resource out, and its pods stay Pending.",
     "Put it right at the place that is named.", "D24", unusable},
    {"plugin.key", "Something in the file of a device plugin has no effect.", Severity::warn,
     "The plugin passes it over, or no function matches it.",
     "Take it away, or write it as the plugin reads it.", "D24", ignored},
    {"plugin.any-nic", "A pool selects every NIC of a vendor.", Severity::warn,
     "The NIC of the node's default route, of storage and the front-end NIC of a virtual machine "
     "are in it. A library then takes the one that is nearest to its GPU.",
     "Select by netdev (ifNames), link type, PCI address or device id as well; `railhead pools` "
     "shows which functions a selector matches.",
     "D24 C03 C06 F39", any_nic},
    {"plugin.vf-ids", "A shared pool mixes physical and virtual functions.", Severity::warn,
     "Virtual functions have an id of their own, one for several models. Where the node has VFs, "
     "the pool counts those of the SR-IOV pools, too; with names of ports it matches none.",
     "Name the physical functions (101d ConnectX-6 Dx, 1021 ConnectX-7, 1023 ConnectX-8, a2dc "
     "BlueField-3), or the virtual ones alone in a guest.",
     "E15", vf_ids},
    {"plugin.same-resource", "Two plugins offer a resource of the same name.", Severity::fail,
     "The kubelet takes the last that registers, and the other's devices are gone.",
     "Give each its own name, or run one of them.", "", same_name},
    {"plugin.two-owners", "Two plugins hand out the same VFs.", Severity::fail,
     "Each counts all of them, so the same VF is given to two pods; pods that ask for one name use "
     "what the other has promised.",
     "Keep the policies and take the plugin's section out of the NicClusterPolicy, or the other "
     "way round.",
     "E21", two_owners},
    {"plugin.env", "Variables of the OFED driver stand in a plugin's section.", Severity::warn,
     "They have no effect there.", "Move them to ofedDriver.env.", "F42", misplaced_variables},
};

}  // namespace

std::span<const Rule> plugin_rules() {
  return kPluginRules;
}

}  // namespace railhead::lint
