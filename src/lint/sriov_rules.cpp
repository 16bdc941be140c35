// SPDX-License-Identifier: Apache-2.0
//
// SR-IOV policies, alone and together, and the networks of their resources. What the operator's
// webhook refuses: k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go at 249e200.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/find.h"
#include "base/text.h"
#include "config/node_policies.h"
#include "lint/networks.h"
#include "lint/nic_policies.h"
#include "lint/rule.h"
#include "pools/value_form.h"

namespace railhead::lint {
namespace {

using pools::Fact;

enum class Link : std::uint8_t { unknown, infiniband, ethernet };

template <typename Use>
void for_each_policy(const Given& given, Use use) {
  for (const auto* policy : given.of_kind("SriovNetworkNodePolicy")) {
    if (const auto* spec = below(policy->root, {"spec"})) use(*policy, *spec);
  }
}

Link link_of_policy(const data::Value& spec) {
  const auto type = to_lower(text_below(spec, {"linkType"}));
  if (type == "ib") return Link::infiniband;
  return type == "eth" ? Link::ethernet : Link::unknown;
}

/// Of the resources of policies, by their names without a domain. Unknown where they differ.
std::map<std::string, Link, std::less<>> links_of_resources(const Given& given) {
  std::map<std::string, Link, std::less<>> links;
  for_each_policy(given, [&](const Object&, const data::Value& spec) {
    const auto name = text_below(spec, {"resourceName"});
    if (name.empty()) return;
    const auto link = link_of_policy(spec);
    const auto [at, is_new] = links.emplace(name, link);
    if (!is_new && at->second != link) at->second = Link::unknown;
  });
  return links;
}

/// A network whose CNI plugin is for one kind of link.
struct LinkedNetwork {
  const Object* object = nullptr;
  const data::Value* place = nullptr;  ///< where it names its resource
  std::string resource;                ///< without a domain
  Link link = Link::unknown;
  std::string plugin;  ///< "sriov-cni"
};

/// sriov and ib-sriov in a CNI configuration, alone or in a chain.
Link link_of_text(const data::Value& config) {
  const auto link_of = [](std::string_view type) {
    if (type == "ib-sriov") return Link::infiniband;
    return type == "sriov" ? Link::ethernet : Link::unknown;
  };
  const auto own = link_of(text_below(config, {"type"}));
  if (own != Link::unknown) return own;
  for (const auto& plugin : items_below(config, {"plugins"})) {
    const auto its = link_of(text_below(plugin, {"type"}));
    if (its != Link::unknown) return its;
  }
  return Link::unknown;
}

std::vector<LinkedNetwork> linked_networks(const Given& given) {
  constexpr std::string_view kResource = "k8s.v1.cni.cncf.io/resourceName";
  std::vector<LinkedNetwork> all;
  const auto add = [&](const Object& object, const data::Value* place, Link link) {
    if (place == nullptr || link == Link::unknown) return;
    const auto name = place->scalar.substr(place->scalar.find('/') + 1);
    all.push_back(
        {&object, place, name, link, link == Link::infiniband ? "ib-sriov-cni" : "sriov-cni"});
  };
  for (const auto* one : given.of_kind("SriovNetwork")) {
    add(*one, below(one->root, {"spec", "resourceName"}), Link::ethernet);
  }
  for (const auto* one : given.of_kind("SriovIBNetwork")) {
    add(*one, below(one->root, {"spec", "resourceName"}), Link::infiniband);
  }
  for (const auto& text : network_texts(given)) {
    if (!text.is_whole || !text.problem.empty()) continue;
    add(*text.object, below(text.object->root, {"metadata", "annotations", kResource}),
        link_of_text(text.value));
  }
  return all;
}

void wrong_link(const Given& given, Found& found) {
  const auto links = links_of_resources(given);
  for (const auto& network : linked_networks(given)) {
    const auto* link = find_value(links, network.resource);
    if (link == nullptr || *link == Link::unknown || *link == network.link) continue;
    const bool is_infiniband = *link == Link::infiniband;
    const bool has_vlan = below(network.object->root, {"spec", "vlan"}) != nullptr;
    found
        .add(*network.object, network.place,
             "the policy of " + in_quotes(network.resource) + " is of linkType " +
                 (is_infiniband ? "ib" : "eth") + ", and this network is of " + network.plugin +
                 (is_infiniband && has_vlan ? "; InfiniBand has no VLANs" : ""))
        .remedy = is_infiniband ? "Make it a SriovIBNetwork (ib-sriov-cni); partitions take the "
                                  "place of VLANs."
                                : "Make it a SriovNetwork (sriov-cni).";
  }
}

void no_policy(const Given& given, Found& found) {
  const auto links = links_of_resources(given);
  if (links.empty()) return;
  for (const char* kind : {"SriovNetwork", "SriovIBNetwork", "OVSNetwork"}) {
    for (const auto* network : given.of_kind(kind)) {
      const auto* place = below(network->root, {"spec", "resourceName"});
      if (place == nullptr || find_value(links, place->scalar) != nullptr) continue;
      auto& finding = found.add(*network, place, "no policy makes " + in_quotes(place->scalar));
      if (given.is_whole_cluster) finding.severity = Severity::warn;
    }
  }
}

/// Operators put their prefix before a network's resourceName.
/// Source: sriov-network-operator api/v1/helper.go (RESOURCE_PREFIX); Mellanox/network-operator
/// pkg/state/state_hostdevice_network.go, which leaves its own prefix.
void prefixed(const Given& given, Found& found) {
  const auto look = [&](const char* kind, std::string_view own) {
    for (const auto* network : given.of_kind(kind)) {
      const auto* place = below(network->root, {"spec", "resourceName"});
      if (place == nullptr || place->scalar.find('/') == std::string::npos) continue;
      if (is_template(place->scalar)) continue;
      if (!own.empty() && place->scalar.starts_with(own)) continue;
      found.add(*network, place,
                "its pods ask for PREFIX/" + place->scalar + ": write " +
                    place->scalar.substr(place->scalar.rfind('/') + 1));
    }
  };
  for (const char* kind : {"SriovNetwork", "SriovIBNetwork", "OVSNetwork"}) look(kind, "");
  look("HostDeviceNetwork", "nvidia.com/");
}

void vf_as_pf(const Given& given, Found& found) {
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    const auto* id = below(spec, {"nicSelector", "deviceID"});
    if (id == nullptr) return;
    const auto ids = join(config::physical_ids_of(to_lower(id->scalar)), ", ");
    if (ids.empty()) return;
    found
        .add(policy, id,
             "deviceID " + in_quotes(id->scalar) +
                 " is that of virtual functions; their ports are " + ids)
        .remedy = "Write the port's own id: " + ids + ".";
  });
}

/// A value of nicSelector, and what a plugin calls it.
struct SelectorKey {
  const char* key;
  Fact fact;
};

constexpr std::array kSelectorKeys = {
    SelectorKey{"vendor", Fact::vendor}, SelectorKey{"deviceID", Fact::device},
    SelectorKey{"pfNames", Fact::pf_name}, SelectorKey{"rootDevices", Fact::root_device}};

void selector(const Given& given, Found& found) {
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    for (const auto& known : kSelectorKeys) {
      const auto* values = below(spec, {"nicSelector", known.key});
      if (values == nullptr) continue;
      const auto look = [&](const data::Value& value, bool is_one_of_several) {
        if (value.kind != data::Value::Kind::scalar) return;
        const auto why = pools::why_nothing_has(known.fact, value.scalar);
        if (why.empty()) return;
        auto& finding =
            found.add(policy, &value, "nicSelector." + std::string(known.key) + ": " + why);
        if (is_one_of_several) finding.severity = Severity::warn;
      };
      if (values->kind == data::Value::Kind::scalar) look(*values, false);
      for (const auto& item : values->items) look(item, values->items.size() > 1);
    }
  });
}

/// Some virtual functions of a port that a policy names; without a range all of them.
struct NamedPort {
  const Object* policy = nullptr;
  const data::Value* place = nullptr;
  std::string name;
  bool has_range = false;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<NamedPort> named_port(const Object& policy, const data::Value& value) {
  const std::string_view text = value.scalar;
  const auto hash = text.find('#');
  NamedPort port{&policy, &value, std::string(text.substr(0, hash)), hash != text.npos};
  if (!port.has_range) return port;
  const auto range = text.substr(hash + 1);
  const auto dash = range.find('-');
  const auto first = parse_unsigned(range.substr(0, dash));
  const auto last = dash == range.npos ? first : parse_unsigned(range.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  port.first = *first;
  port.last = *last;
  return port;
}

/// A policy that stands twice, as in a file and its repair, is no other.
bool is_other(const Object& a, const Object& b) {
  return a.name != b.name || a.name_space != b.name_space;
}

/// Each is compared with so many of the same port before it.
constexpr std::size_t kMostOfOnePort = 256;

void overlap(const Given& given, Found& found) {
  std::map<std::string, std::vector<NamedPort>> ports;
  const auto look = [&](const Object& policy, const data::Value& value) {
    const auto port = named_port(policy, value);
    if (!port) return;
    auto& others = ports[port->name];
    for (std::size_t i = others.size() - std::min(others.size(), kMostOfOnePort); i < others.size();
         ++i) {
      const auto& other = others[i];
      // The operator's webhook takes one with a range beside one without.
      if (other.has_range != port->has_range || !is_other(*other.policy, policy)) continue;
      if (port->has_range && (port->last < other.first || port->first > other.last)) continue;
      if (!takes_all_of(below(policy.root, {"spec", "nodeSelector"}),
                        below(other.policy->root, {"spec", "nodeSelector"}))) {
        continue;
      }
      found.add(policy, &value,
                in_quotes(value.scalar) + " has virtual functions that " + other.policy->label() +
                    " has, too (" + in_quotes(other.place->scalar) + ")");
      break;
    }
    others.push_back(*port);
  };
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    for (const char* key : {"pfNames", "rootDevices"}) {
      for (const auto& value : items_below(spec, {"nicSelector", key})) look(policy, value);
    }
  });
}

/// Source: k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go, resourceNameRegexp;
/// before its PR#1120 it took no "-".
bool is_resource_name(std::string_view name) {
  constexpr std::size_t kMost = 63;
  const auto is_inner = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= kMost && is_letter_or_digit(name.front()) &&
         is_letter_or_digit(name.back()) && std::ranges::all_of(name, is_inner);
}

/// What the operator's webhook finds in one policy, as its place and words.
std::optional<std::pair<const data::Value*, std::string>> why_refused(const data::Value& spec) {
  const auto* nics = below(spec, {"nicSelector"});
  const auto is_switchdev = text_below(spec, {"eSwitchMode"}) == "switchdev";
  if (nics != nullptr && nics->kind == data::Value::Kind::map && nics->entries.empty()) {
    return std::pair(nics, std::string("nicSelector selects by nothing"));
  }
  if (below(nics, {"netFilter"}) != nullptr && nics->entries.size() > 1) {
    return std::pair(below(nics, {"netFilter"}), std::string("netFilter stands beside others"));
  }
  if (is_switchdev && link_of_policy(spec) == Link::infiniband) {
    return std::pair(below(spec, {"eSwitchMode"}), std::string("switchdev with linkType ib"));
  }
  const auto* vdpa = below(spec, {"vdpaType"});
  if (vdpa != nullptr && !is_switchdev) {
    return std::pair(vdpa, std::string("vdpaType without eSwitchMode switchdev"));
  }
  const auto* resource = below(spec, {"resourceName"});
  if (resource != nullptr && !is_template(resource->scalar) &&
      !is_resource_name(resource->scalar)) {
    return std::pair(resource, "resourceName " + in_quotes(resource->scalar) +
                                   " is not made of letters, digits, \"-\" and \"_\" alone");
  }
  const auto vfs = parse_unsigned(text_below(spec, {"numVfs"}));
  for (const auto& name : items_below(nics, {"pfNames"})) {
    const auto port = named_port(Object(), name);
    if (!port || port->first > port->last) {
      return std::pair(&name, in_quotes(name.scalar) + " has no range such as #0-3");
    }
    if (!port || !port->has_range || !vfs || port->last < *vfs) continue;
    return std::pair(&name, in_quotes(name.scalar) + " ends behind the last of " +
                                counted(*vfs, "VF") + ", which have numbers from 0");
  }
  return std::nullopt;
}

void refused(const Given& given, Found& found) {
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    if (const auto why = why_refused(spec)) {
      found.add(policy, why->first, why->second);
      return;
    }
    const auto* resource = below(spec, {"resourceName"});
    if (resource == nullptr || is_template(resource->scalar)) return;
    if (resource->scalar.find('-') == std::string::npos) return;
    found
        .add(policy, resource,
             "resourceName " + in_quotes(resource->scalar) +
                 " has a \"-\", which the webhook refused until July 2026")
        .severity = Severity::warn;
  });
}

void vfio(const Given& given, Found& found) {
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    if (text_below(spec, {"deviceType"}) != "vfio-pci" || !is_true(spec, {"isRdma"})) return;
    found.add(policy, below(spec, {"deviceType"}), "deviceType vfio-pci with isRdma");
  });
}

void without_rdma(const Given& given, Found& found) {
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    const auto name = to_lower(text_below(spec, {"resourceName"}));
    const bool says_rdma =
        name.find("rdma") != std::string::npos || name.find("roce") != std::string::npos;
    if (!says_rdma || is_true(spec, {"isRdma"})) return;
    found.add(policy, below(spec, {"resourceName"}),
              in_quotes(text_below(spec, {"resourceName"})) + " without isRdma: true");
  });
}

void small_mtu(const Given& given, Found& found) {
  constexpr std::uint64_t kMtuFor4096 = 4192;  // Linux include/rdma/ib_addr.h, iboe_get_mtu
  std::map<std::string, Link, std::less<>> networks;
  for (const auto& one : linked_networks(given)) networks.emplace(one.resource, one.link);
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    const auto mtu = parse_unsigned(text_below(spec, {"mtu"}));
    if (!mtu || *mtu >= kMtuFor4096 || !is_true(spec, {"isRdma"})) return;
    auto link = link_of_policy(spec);
    const auto* of_network = find_value(networks, text_below(spec, {"resourceName"}));
    if (link == Link::unknown && of_network != nullptr) link = *of_network;
    if (link == Link::infiniband) return;
    const bool is_known = link == Link::ethernet;
    auto& finding = found.add(policy, below(spec, {"mtu"}),
                              "mtu " + std::to_string(*mtu) +
                                  (is_known ? "" : ", if its ports are Ethernet: no linkType"));
    if (!is_known) finding.severity = Severity::note;
  });
}

void shared_link(const Given& given, Found& found) {
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    const auto vfs = parse_unsigned(text_below(spec, {"numVfs"})).value_or(0U);
    const auto ports = items_below(spec, {"nicSelector", "pfNames"}).size();
    if (vfs < 2 || ports != 1 || !is_true(spec, {"isRdma"})) return;
    found.add(policy, below(spec, {"numVfs"}), counted(vfs, "VF") + " of one port share its link");
  });
}

constexpr Rule kSriovRules[] = {
    {"sriov.device-id", "A policy selects physical functions by the id of virtual ones.",
     Severity::fail, "No port has this id: the policy matches none, and makes no VF.",
     "Write the port's own id.", "E15", vf_as_pf},
    {"sriov.selector", "A policy selects by a value that no port has.", Severity::fail,
     "Values are compared letter by letter with what the kernel prints, and the webhook refuses "
     "vendors and ids that it does not know.",
     "Write the value as the node's state has it (kubectl get sriovnetworknodestates).", "",
     selector},
    {"sriov.refused", "A policy is refused by the operator's webhook.", Severity::fail,
     "It is not stored, and an older one of its name stays as it was.", "Put it right.", "",
     refused},
    {"sriov.overlap", "Two policies have the same virtual functions.", Severity::fail,
     "The operator's webhook refuses the second: a VF belongs to one policy on a node.",
     "Give each a range of its own (pfNames: [\"ens1f0np0#0-3\"]), or other nodes.", "", overlap},
    {"sriov.link-type", "A network is of another link than the policy of its resource.",
     Severity::warn,
     "sriov-cni sets up Ethernet and ib-sriov-cni InfiniBand: pods stay in ContainerCreating.",
     "Make the network of the policy's link.", "", wrong_link},
    {"sriov.no-policy", "A network names a resource that no policy here makes.", Severity::note,
     "Its pods stay Pending, unless a policy elsewhere makes it.",
     "Write the resourceName of a policy.", "", no_policy},
    {"sriov.prefix", "A network names its resource with a prefix.", Severity::fail,
     "The operator puts its own prefix before it, and no resource has such a name: pods are "
     "refused "
     "or stay Pending.",
     "Write the resourceName alone.", "", prefixed},
    {"sriov.vfio", "VFs for RDMA are bound to vfio-pci.", Severity::fail,
     "vfio-pci takes the function away from mlx5_core, so it has no RDMA device.",
     "Write deviceType: netdevice.", "F13", vfio},
    {"sriov.rdma", "A pool that is called RDMA has none.", Severity::warn,
     "Without isRdma the plugin hands out no RDMA device nodes.", "Write isRdma: true.", "F14",
     without_rdma},
    {"sriov.mtu", "The MTU is too small for RoCE's largest packets.", Severity::warn,
     "RoCE needs 96 bytes of each frame: below 4192 the path MTU is 2048 or less.",
     "Set 4192 or more (9000), on the switches, too.", "F16 F36", small_mtu},
    {"sriov.one-link", "All VFs are of one port.", Severity::note,
     "They share its rate: eight VFs of a port of 400 Gb/s have 50 each when all send. A VF is no "
     "rail of its own.",
     "Make VFs on each port that belongs to a GPU, one where pods have whole nodes.", "E17 F12",
     shared_link},
};

}  // namespace

std::span<const Rule> sriov_rules() {
  return kSriovRules;
}

}  // namespace railhead::lint
