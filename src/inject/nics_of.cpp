// SPDX-License-Identifier: Apache-2.0
#include "inject/nics_of.h"

#include <algorithm>
#include <utility>

#include "base/sort_unique.h"
#include "base/text.h"
#include "inject/codes.h"
#include "inject/rdma_devices.h"

namespace railhead {
namespace {

bool contains(const std::vector<std::size_t>& nics, std::size_t nic) {
  return std::find(nics.begin(), nics.end(), nic) != nics.end();
}

/// RoCE: without a netdev in the container's network namespace it has no usable GID there.
bool is_ethernet(const Nic& nic) {
  const auto has = [&](LinkLayer layer) {
    return std::any_of(nic.ports.begin(), nic.ports.end(),
                       [&](const Port& port) { return port.link_layer == layer; });
  };
  return has(LinkLayer::ethernet) && !has(LinkLayer::infiniband);
}

/// Who asked for one of our resources knows that the pod needs a netdev of its own.
bool ethernet_is_left_out(const Case& of) {
  return of.basis != Basis::resource && !of.surroundings.host_network &&
         !of.table.policy().roce_without_host_network;
}

/// What is allocated to one pod alone can be moved into its namespace; what is dealt cannot.
bool dealing_is_exclusive(const Case& of) {
  return of.allocated.exclusive.empty() && of.table.node().rdma_netns == RdmaNetns::exclusive &&
         !of.surroundings.host_network;
}

/// Why a NIC that policy may give on request is not given; absent: it may be.
std::optional<std::string> obstacle(const Case& of, std::size_t nic) {
  const Usability& usable = of.table.usable()[nic];
  if (!usable.usable) return usable.reason;
  const Role role = of.table.deal().roles[nic].role;
  if (role == Role::virtual_function || role == Role::nvlink_management) {
    return "its role is " + std::string(to_string(role));
  }
  if (dealing_is_exclusive(of)) {
    return "RDMA namespaces are exclusive and the pod has a network of its own";
  }
  if (ethernet_is_left_out(of) && is_ethernet(of.table.node().nics[nic])) {
    return "it is Ethernet and the pod has a network of its own";
  }
  return std::nullopt;
}

void becomes_empty(NicChoice& choice, std::string_view reason, std::string why) {
  if (!choice.nics.empty() || !choice.empty_reason.empty()) return;
  choice.empty_reason = reason;
  choice.empty_why = std::move(why);
}

std::vector<std::size_t> usable_compute(const DecisionTable& table) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < table.node().nics.size(); ++i) {
    if (table.usable()[i].usable && table.deal().roles[i].role == Role::compute) out.push_back(i);
  }
  return out;
}

/// What is wrong with the compute NICs of the node, for a person who got none.
std::string why_none_usable(const DecisionTable& table) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < table.node().nics.size(); ++i) {
    if (table.deal().roles[i].role != Role::compute || table.usable()[i].usable) continue;
    if (parts.size() == 8) {
      parts.emplace_back("…");
      break;
    }
    parts.push_back(table.node().nics[i].name + " " + table.usable()[i].reason);
  }
  return parts.empty() ? "this node has no compute NIC for it"
                       : "no compute NIC is usable: " + join(parts, "; ");
}

void note_stand_in(const Case& of, const GpuChoice& gpu, const Choice& chosen, NicChoice& choice) {
  const std::string text = of.table.node().nics[chosen.nic].name + " stands in for the NIC of " +
                           gpu_label(of.table.node(), gpu.gpu) +
                           (chosen.why.empty() ? "" : ": " + chosen.why);
  choice.remarks.push_back({std::string(warn::kStandIn), text});
  if (!choice.stand_in) choice.stand_in = text;
}

void note_unusable_of_deal(const Case& of, const GpuChoice& gpu, NicChoice& choice) {
  const Node& node = of.table.node();
  for (const std::size_t nic : of.table.deal().gpus[gpu.gpu].nics) {
    if (of.table.usable()[nic].usable) continue;
    choice.remarks.push_back(
        {std::string(warn::kNicNotUsable), node.nics[nic].name + " of " + gpu_label(node, gpu.gpu) +
                                               " is not usable: " + of.table.usable()[nic].reason});
  }
}

void choose_closest(const Case& of, NicChoice& choice) {
  const DecisionTable& table = of.table;
  Selection selection =
      select(table.node(), table.topology(), table.deal(), table.usable(), of.held.gpus);
  for (const GpuChoice& gpu : selection.gpus) {
    note_unusable_of_deal(of, gpu, choice);
    for (const Choice& chosen : gpu.nics) {
      if (chosen.stand_in) note_stand_in(of, gpu, chosen, choice);
    }
  }
  choice.nics = std::move(selection.nics);
  choice.per_gpu = std::move(selection.gpus);
}

void choose_by_numa(const Case& of, NicChoice& choice) {
  const Node& node = of.table.node();
  for (const std::size_t nic : usable_compute(of.table)) {
    const auto& home = node.nics[nic].numa_node;
    const bool near = home && std::any_of(of.held.gpus.begin(), of.held.gpus.end(), [&](auto gpu) {
                        return node.gpus[gpu].numa_node == home;
                      });
    if (near) choice.nics.push_back(nic);
  }
}

void choose_for_gpus(const Case& of, NicChoice& choice) {
  switch (of.table.policy().gpus) {
    case GpuPolicy::closest:
    case GpuPolicy::none:  // an annotation has asked: it gets its deal
      choose_closest(of, choice);
      break;
    case GpuPolicy::numa: choose_by_numa(of, choice); break;
    case GpuPolicy::all: choice.nics = usable_compute(of.table); break;
  }
  becomes_empty(choice, reason::kNoUsableNic, why_none_usable(of.table));
}

void refuse_nic(const Case& of, std::string_view key, std::string_view name, std::string_view why,
                NicChoice& choice) {
  constexpr std::size_t kMaxRefusals = 16;
  if (choice.remarks.size() >= kMaxRefusals + of.table.node().nics.size()) return;
  choice.remarks.push_back({std::string(warn::kAnnotationRefused),
                            quoted(key, 128) + ": " + quoted(name) + " " + std::string(why)});
}

std::optional<std::size_t> nic_named(const Node& node, std::string_view name) {
  const Nic* nic = node.find_nic(name);
  if (nic == nullptr) return std::nullopt;
  return static_cast<std::size_t>(nic - node.nics.data());
}

/// A container without GPUs that an annotation makes an RDMA container: what it names, else all.
void choose_as_annotated(const Case& of, NicChoice& choice) {
  const auto& nics = of.wishes.nics;
  if (!nics && of.asked.empty()) {
    choice.nics = usable_compute(of.table);
    becomes_empty(choice, reason::kNoUsableNic, why_none_usable(of.table));
    return;
  }
  for (const std::string& name : nics ? nics->value : std::vector<std::string>{}) {
    const auto nic = nic_named(of.table.node(), name);
    if (!nic) {
      refuse_nic(of, nics->key, name, "is no RDMA device of this node", choice);
    } else if (const auto why = obstacle(of, *nic)) {
      refuse_nic(of, nics->key, name, "is refused: " + *why, choice);
    } else {
      choice.nics.push_back(*nic);
    }
  }
  sort_unique(choice.nics);
}

void narrow(const Case& of, NicChoice& choice) {
  const auto& nics = of.wishes.nics;
  if (!nics) return;
  const bool had_some = !choice.nics.empty();
  std::vector<std::size_t> kept;
  for (const std::string& name : nics->value) {
    const auto nic = nic_named(of.table.node(), name);
    if (!nic) {
      refuse_nic(of, nics->key, name, "is no RDMA device of this node", choice);
    } else if (!contains(choice.nics, *nic)) {
      refuse_nic(of, nics->key, name, "is not due to this container; it may only narrow", choice);
    } else {
      kept.push_back(*nic);
    }
  }
  sort_unique(kept);
  choice.nics = std::move(kept);
  if (had_some) {
    becomes_empty(choice, reason::kNarrowedAway,
                  quoted(nics->key, 128) + " names no NIC that is due");
  }
}

/// The deal within the pools of its slots, or all of these where it has no GPU or nothing of its
/// deal is in them; and what was allocated to it alone.
void choose_allocated(const Case& of, NicChoice& choice) {
  const Allocations& allocated = of.allocated;
  if (!allocated.admitted.empty() && !of.held.gpus.empty()) {
    choose_closest(of, choice);
    std::erase_if(choice.nics, [&](std::size_t nic) { return !contains(allocated.admitted, nic); });
    if (choice.nics.empty()) choice.nics = allocated.admitted;
  } else {
    choice.nics = allocated.slots;
  }
  narrow(of, choice);
  choice.nics.insert(choice.nics.end(), allocated.exclusive.begin(), allocated.exclusive.end());
  sort_unique(choice.nics);
  for (const auto& id : allocated.gone) {
    choice.remarks.push_back({std::string(warn::kAllocationGone),
                              quoted(id) + " was allocated and is not on this node any more"});
  }
  if (!allocated.gone.empty()) {
    becomes_empty(
        choice, reason::kAllocationGone,
        quoted(allocated.gone.front()) + " was allocated and is not on this node any more");
  }
  becomes_empty(choice, reason::kNoUsableNic, "the pools that it holds slots of have no NIC");
}

/// Multus gives a pod more netdevs by this annotation; whether they are on the right NIC is its
/// author's. Source: Kubernetes Network Custom Resource Definition De-facto Standard 1.3, 4.1.
bool has_more_networks(const Case& of) {
  constexpr std::string_view kNetworks = "k8s.v1.cni.cncf.io/networks";
  const auto& annotations = of.request.pod_annotations;
  return std::any_of(annotations.begin(), annotations.end(),
                     [&](const auto& one) { return one.first == kNetworks; });
}

/// RoCE connects by addresses of netdevs in its own network namespace (the kernel's rdma_cm). What
/// was allocated to one pod alone is moved there with its netdev; a NIC that is shared is not.
void note_missing_netdev(const Case& of, NicChoice& choice) {
  if (of.surroundings.host_network || has_more_networks(of)) return;
  std::vector<std::size_t> mute;
  for (const std::size_t nic : choice.nics) {
    if (!contains(of.allocated.exclusive, nic) && is_ethernet(of.table.node().nics[nic])) {
      mute.push_back(nic);
    }
  }
  if (mute.empty()) return;
  choice.remarks.push_back(
      {std::string(warn::kRoceNeedsNetdev),
       nic_names(of.table.node(), mute) + (mute.size() == 1 ? " is" : " are") +
           " Ethernet, and the pod has a network of its own: RoCE has no address there without a "
           "netdev on that NIC (macvlan, ipvlan or SR-IOV, or hostNetwork)"});
}

void obey_network(const Case& of, NicChoice& choice) {
  if (choice.nics.empty()) return;
  if (dealing_is_exclusive(of)) {
    choice.nics.clear();
    becomes_empty(choice, reason::kRdmaNetnsExclusive,
                  "RDMA namespaces are exclusive on this node, and the pod has a network of its "
                  "own: only host-network pods are dealt to");
    return;
  }
  if (!ethernet_is_left_out(of)) return;
  std::vector<std::size_t> left_out;
  std::erase_if(choice.nics, [&](std::size_t nic) {
    const bool out = is_ethernet(of.table.node().nics[nic]);
    if (out) left_out.push_back(nic);
    return out;
  });
  if (left_out.empty()) return;
  std::string text = nic_names(of.table.node(), left_out) +
                     (left_out.size() == 1 ? " is" : " are") +
                     " Ethernet, and the pod has a network of its own in which RoCE has no address";
  if (choice.nics.empty()) {
    becomes_empty(choice, reason::kRoceOwnNetwork, std::move(text));
  } else {
    choice.remarks.push_back({std::string(warn::kRoceOwnNetwork), std::move(text)});
  }
}

/// Device annotations ask and never narrow: what is not due is added where policy allows it.
void add_asked(const Case& of, NicChoice& choice) {
  for (const std::size_t nic : of.asked) {
    if (contains(choice.nics, nic)) continue;
    const std::string& name = of.table.node().nics[nic].name;
    const std::string_view key = of.wishes.devices->key;
    if (of.table.policy().annotations != AnnotationPolicy::allow) {
      refuse_nic(of, key, name, "is not due to this container, and annotations may only narrow",
                 choice);
    } else if (const auto why = obstacle(of, nic)) {
      refuse_nic(of, key, name, "is refused: " + *why, choice);
    } else {
      choice.nics.push_back(nic);
    }
  }
  std::sort(choice.nics.begin(), choice.nics.end());
}

}  // namespace

NicChoice choose_nics(const Case& of) {
  NicChoice choice;
  // A privileged container has every node of the host; nobody chose those for it.
  const PresentRdma present =
      of.surroundings.privileged ? PresentRdma{} : present_rdma(of.request, of.table);
  if (present.any) {
    choice.present = true;
    choice.nics = present.nics;
    narrow(of, choice);
    for (const std::size_t nic : of.asked) {
      if (contains(present.nics, nic)) continue;
      refuse_nic(of, of.wishes.devices->key, of.table.node().nics[nic].name,
                 "is not added to RDMA devices that are there from elsewhere", choice);
    }
    return choice;
  }
  if (of.basis == Basis::resource) {
    choose_allocated(of, choice);
  } else if (of.held.gpus.empty()) {
    choose_as_annotated(of, choice);
  } else {
    choose_for_gpus(of, choice);
    narrow(of, choice);
  }
  obey_network(of, choice);
  add_asked(of, choice);
  note_missing_netdev(of, choice);
  becomes_empty(choice, reason::kNoUsableNic,
                "none of the NICs that annotations name can be given");
  return choice;
}

std::string nic_names(const Node& node, const std::vector<std::size_t>& nics) {
  std::vector<std::string> names;
  for (const std::size_t nic : nics) names.push_back(node.nics[nic].name);
  return join(names, ", ");
}

}  // namespace railhead
