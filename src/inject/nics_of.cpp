// SPDX-License-Identifier: Apache-2.0
#include "inject/nics_of.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/contains.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "inject/annotations.h"
#include "inject/codes.h"
#include "inject/gpus_of.h"
#include "inject/roce.h"
#include "inject/transports_of.h"

namespace railhead::inject {
namespace {

/// What is slower than the operator expects.
void note_slow(const Case& given, NicChoice& choice) {
  for (const std::size_t nic : choice.to_name) {
    const std::string& slow = given.table.usable()[nic].slow;
    if (slow.empty()) continue;
    const std::string text = given.table.node().nics[nic].name + ": " + slow;
    choice.remarks.add(warn::kNicSlow, text);
    if (!choice.slow) choice.slow = text;
  }
}

/// Who asked for one of our resources knows that the pod needs a netdev of its own.
bool ethernet_is_left_out(const Case& given) {
  return given.basis != Basis::resource && !given.facts.surroundings.host_network &&
         !given.table.policy().roce_without_host_network;
}

/// What is allocated to one pod alone can be moved into its namespace; what is dealt cannot.
bool dealing_is_exclusive(const Case& given) {
  return given.table.node().rdma_netns == node::RdmaNetns::exclusive &&
         !given.facts.surroundings.host_network;
}

/// Why a NIC that policy may give on request is not given; absent: it may be.
std::optional<std::string> obstacle(const Case& given, std::size_t nic) {
  const affinity::Usability& usable = given.table.usable()[nic];
  if (!usable.usable) return usable.reason;
  const affinity::Role role = given.table.deal().roles[nic].role;
  if (role == affinity::Role::virtual_function || role == affinity::Role::nvlink_management) {
    return "its role is " + std::string(to_string(role));
  }
  if (dealing_is_exclusive(given)) {
    return "RDMA namespaces are exclusive and the pod has a network of its own";
  }
  if (ethernet_is_left_out(given) && is_ethernet(given.table.node().nics[nic])) {
    return "it is Ethernet and the pod has a network of its own";
  }
  return std::nullopt;
}

/// Notes the first reason for which no NIC is left, where none is. `why` makes the text.
template <typename Why>
void note_if_empty(NicChoice& choice, std::string_view reason, Why why) {
  if (!choice.nics.empty() || !choice.empty_reason.empty()) return;
  choice.empty_reason = reason;
  choice.empty_why = why();
}

std::vector<std::size_t> usable_compute(const DecisionTable& table) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < table.node().nics.size(); ++i) {
    if (table.usable()[i].usable && table.deal().roles[i].role == affinity::Role::compute)
      out.push_back(i);
  }
  return out;
}

/// What is wrong with the compute NICs of the node, for a person who got none.
std::string why_none_usable(const DecisionTable& table) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < table.node().nics.size(); ++i) {
    if (table.deal().roles[i].role != affinity::Role::compute || table.usable()[i].usable) continue;
    if (parts.size() == 8) {
      parts.emplace_back("…");
      break;
    }
    parts.push_back(table.node().nics[i].name + " " + table.usable()[i].reason);
  }
  return parts.empty() ? "this node has no compute NIC for it"
                       : "no compute NIC is usable: " + join(parts, "; ");
}

void note_stand_in(const Case& given, const affinity::GpuChoice& gpu,
                   const affinity::Choice& chosen, NicChoice& choice) {
  const std::string text = given.table.node().nics[chosen.nic].name + " stands in for the NIC of " +
                           gpu_name(given.table.node(), gpu.gpu) +
                           (chosen.why.empty() ? "" : ": " + chosen.why);
  choice.remarks.add(warn::kStandIn, text);
  if (!choice.stand_in) choice.stand_in = text;
}

void note_unusable_of_deal(const Case& given, const affinity::GpuChoice& gpu, NicChoice& choice) {
  const node::Node& node = given.table.node();
  for (const std::size_t nic : gpu.lost) {
    choice.remarks.add(warn::kNicNotUsable,
                       node.nics[nic].name + " of " + gpu_name(node, gpu.gpu) +
                           " is not usable: " + given.table.usable()[nic].reason);
  }
}

void choose_closest(const Case& given, NicChoice& choice) {
  const DecisionTable& table = given.table;
  affinity::Selection selection = affinity::select(table.node(), table.topology(), table.deal(),
                                                   table.usable(), given.facts.gpus.indices);
  for (const affinity::GpuChoice& gpu : selection.gpus) {
    note_unusable_of_deal(given, gpu, choice);
    for (const affinity::Choice& chosen : gpu.nics) {
      if (chosen.stand_in) note_stand_in(given, gpu, chosen, choice);
    }
  }
  choice.nics = std::move(selection.nics);
  choice.per_gpu = std::move(selection.gpus);
}

void choose_by_numa(const Case& given, NicChoice& choice) {
  const node::Node& node = given.table.node();
  for (const std::size_t nic : usable_compute(given.table)) {
    const auto& home = node.nics[nic].numa_node;
    const bool near =
        home && std::any_of(given.facts.gpus.indices.begin(), given.facts.gpus.indices.end(),
                            [&](auto gpu) { return node.gpus[gpu].numa_node == home; });
    if (near) choice.nics.push_back(nic);
  }
}

void choose_for_gpus(const Case& given, NicChoice& choice) {
  switch (given.table.policy().gpus) {
    case config::GpuPolicy::closest:
    case config::GpuPolicy::none:  // an annotation has asked: it gets its deal
      choose_closest(given, choice);
      break;
    case config::GpuPolicy::numa: choose_by_numa(given, choice); break;
    case config::GpuPolicy::all: choice.nics = usable_compute(given.table); break;
  }
  note_if_empty(choice, reason::kNoUsableNic, [&] { return why_none_usable(given.table); });
}

void refuse_nic(std::string_view key, std::string_view name, std::string_view why,
                NicChoice& choice) {
  constexpr std::size_t kMaxRefusals = 16;
  if (choice.refusals >= kMaxRefusals) return choice.remarks.skip();
  ++choice.refusals;
  choice.remarks.add(warn::kAnnotationRefused,
                     in_quotes(key, 128) + ": " + in_quotes(name) + " " + std::string(why));
}

std::optional<std::size_t> nic_named(const node::Node& node, std::string_view name) {
  const node::Nic* nic = node.find_nic(name);
  if (nic == nullptr) return std::nullopt;
  return static_cast<std::size_t>(nic - node.nics.data());
}

/// A container without GPUs that an annotation makes an RDMA container: what it names, else all.
void choose_as_annotated(const Case& given, NicChoice& choice) {
  const auto& nics = given.facts.wishes.nics;
  if (!nics && given.facts.asked.empty()) {
    choice.nics = usable_compute(given.table);
    note_if_empty(choice, reason::kNoUsableNic, [&] { return why_none_usable(given.table); });
    return;
  }
  if (!nics) return;
  for (const std::string& name : nics->value) {
    const auto nic = nic_named(given.table.node(), name);
    if (!nic) {
      refuse_nic(nics->key, name, "is no RDMA device of this node", choice);
    } else if (const auto why = obstacle(given, *nic)) {
      refuse_nic(nics->key, name, "is refused: " + *why, choice);
    } else {
      choice.nics.push_back(*nic);
    }
  }
  sort_unique(choice.nics);
}

void narrow(const Case& given, NicChoice& choice) {
  const auto& nics = given.facts.wishes.nics;
  if (!nics) return;
  const bool had_some = !choice.nics.empty();
  std::vector<std::size_t> kept;
  for (const std::string& name : nics->value) {
    const auto nic = nic_named(given.table.node(), name);
    if (!nic) {
      refuse_nic(nics->key, name, "is no RDMA device of this node", choice);
    } else if (!contains(choice.nics, *nic)) {
      refuse_nic(nics->key, name, "is not due to this container; it may only narrow", choice);
    } else {
      kept.push_back(*nic);
    }
  }
  sort_unique(kept);
  choice.nics = std::move(kept);
  if (had_some) {
    note_if_empty(choice, reason::kNarrowedAway,
                  [&] { return in_quotes(nics->key, 128) + " names no NIC that is due"; });
  }
}

/// What its own environment names and the deal leaves out, of pools whose slots admit to the whole
/// pool: who replaced such a pool's plugin had all of its NICs.
void add_named_in_pools(const Case& given, NicChoice& choice) {
  if (given.facts.gpus.indices.empty() || given.facts.wishes.nics || choice.nics.empty()) return;
  const auto reading =
      transports_of(given.request, given.facts.surroundings, given.table, choice.nics);
  std::vector<std::size_t> added;
  std::string by;
  for (const transports::Wanted& one : reading.wanted) {
    const auto admits = [&](const container::SharedAllocation& held) {
      return held.slots == held.pool && contains(held.pool, one.nic);
    };
    const auto& shared = given.facts.allocated.shared;
    if (!given.table.usable()[one.nic].usable ||
        std::none_of(shared.begin(), shared.end(), admits)) {
      continue;
    }
    if (added.empty()) by = one.variable;
    added.push_back(one.nic);
  }
  if (added.empty()) return;
  sort_unique(added);
  const node::Node& node = given.table.node();
  choice.remarks.add(warn::kEnvironment,
                     by + " names " + nic_names(node, added) +
                         ": added, because a slot admits to all NICs of the pool; nearer to the "
                         "container's GPUs: " +
                         nic_names(node, choice.nics));
  choice.nics.insert(choice.nics.end(), added.begin(), added.end());
  sort_unique(choice.nics);
}

/// Of each shared pool what is dealt to its GPUs, or what its slots say where nothing is or the
/// pool does not narrow; and what was allocated to it alone.
void choose_allocated(const Case& given, NicChoice& choice) {
  const container::Allocations& allocated = given.facts.allocated;
  const bool narrows = std::any_of(allocated.shared.begin(), allocated.shared.end(),
                                   [](const auto& held) { return held.narrow; });
  NicChoice deal;
  if (narrows && !given.facts.gpus.indices.empty()) choose_closest(given, deal);
  for (const container::SharedAllocation& held : allocated.shared) {
    const auto before = choice.nics.size();
    if (held.narrow) {
      std::set_intersection(deal.nics.begin(), deal.nics.end(), held.pool.begin(), held.pool.end(),
                            std::back_inserter(choice.nics));
    }
    if (choice.nics.size() != before) continue;
    choice.nics.insert(choice.nics.end(), held.slots.begin(), held.slots.end());
  }
  sort_unique(choice.nics);
  // What a deal says of NICs that no pool has is not about this container.
  const auto is_given = [&](std::size_t nic) { return contains(choice.nics, nic); };
  if (deal.nics.empty() || std::any_of(deal.nics.begin(), deal.nics.end(), is_given)) {
    choice.remarks.append(deal.remarks);
    choice.stand_in = std::move(deal.stand_in);
    choice.per_gpu = std::move(deal.per_gpu);
  }
  narrow(given, choice);
  add_named_in_pools(given, choice);
  choice.nics.insert(choice.nics.end(), allocated.exclusive.begin(), allocated.exclusive.end());
  sort_unique(choice.nics);
  for (const auto& id : allocated.gone) {
    choice.remarks.add(warn::kAllocationGone, gone_text(id));
  }
  if (!allocated.gone.empty()) {
    note_if_empty(choice, reason::kAllocationGone,
                  [&] { return gone_text(allocated.gone.front()); });
  }
  note_if_empty(choice, reason::kNoUsableNic,
                [] { return "the pools that it holds slots of have no NIC"; });
}

/// A library would spread its traffic over all that is named. So a slot of a pool with the rails
/// and a management NIC names the rails alone, and a NIC without an address only where all are so.
std::vector<std::size_t> nics_to_name(const Case& given, const std::vector<std::size_t>& nics) {
  std::vector<std::size_t> named = nics;
  if (named.size() < 2) return named;
  const auto prefer = [&](const auto& is_good) {
    std::vector<std::size_t> good;
    std::copy_if(named.begin(), named.end(), std::back_inserter(good), is_good);
    if (!good.empty()) named = std::move(good);
  };
  prefer([&](std::size_t nic) {
    const affinity::Role role = given.table.deal().roles[nic].role;
    return role == affinity::Role::compute || role == affinity::Role::virtual_function;
  });
  const auto mute = without_address(given, named);
  prefer([&](std::size_t nic) { return !contains(mute, nic); });
  return named;
}

void obey_network(const Case& given, NicChoice& choice) {
  if (choice.nics.empty()) return;
  if (dealing_is_exclusive(given)) {
    if (choice.nics == given.facts.allocated.exclusive) return;
    choice.nics = given.facts.allocated.exclusive;
    choice.empty_reason = reason::kRdmaNetnsExclusive;
    choice.empty_why =
        "RDMA namespaces are exclusive on this node, and the pod has a network of its own: only "
        "host-network pods are dealt to";
    return;
  }
  if (!ethernet_is_left_out(given)) return;
  std::vector<std::size_t> left_out;
  std::erase_if(choice.nics, [&](std::size_t nic) {
    const bool out = is_ethernet(given.table.node().nics[nic]);
    if (out) left_out.push_back(nic);
    return out;
  });
  if (left_out.empty()) return;
  std::string text =
      nic_names(given.table.node(), left_out) + (left_out.size() == 1 ? " is" : " are") +
      " Ethernet, and the pod has a network of its own in which RoCE has no address: set "
      "hostNetwork, or ask for a resource of this node and a network of the NIC";
  if (choice.nics.empty()) {
    note_if_empty(choice, reason::kRoceOwnNetwork, [&] { return std::move(text); });
  } else {
    choice.remarks.add(warn::kRoceOwnNetwork, std::move(text));
  }
}

/// Device annotations ask and never narrow: what is not due is added where policy allows it.
void add_asked(const Case& given, NicChoice& choice) {
  for (const std::size_t nic : given.facts.asked) {
    if (contains(choice.nics, nic)) continue;
    const std::string& name = given.table.node().nics[nic].name;
    const std::string_view key = given.facts.wishes.devices->key;
    if (given.table.policy().annotations != config::AnnotationPolicy::allow) {
      refuse_nic(key, name, "is not due to this container, and annotations may only narrow",
                 choice);
    } else if (const auto why = obstacle(given, nic)) {
      refuse_nic(key, name, "is refused: " + *why, choice);
    } else {
      choice.nics.push_back(nic);
    }
  }
  std::sort(choice.nics.begin(), choice.nics.end());
}

/// A container to which somebody else gave RDMA devices keeps these: no NIC is added, whether it
/// would be dealt or an annotation asks for it.
void choose_present(const Case& given, NicChoice& choice) {
  const container::PresentRdma& present = given.facts.present;
  choice.present = true;
  choice.nics = present.nics;
  narrow(given, choice);
  for (const std::size_t nic : given.facts.asked) {
    if (contains(present.nics, nic)) continue;
    refuse_nic(given.facts.wishes.devices->key, given.table.node().nics[nic].name,
               "is not added to RDMA devices that are there from elsewhere", choice);
  }
}

void choose_due(const Case& given, NicChoice& choice) {
  if (given.basis == Basis::resource) {
    choose_allocated(given, choice);
  } else if (given.facts.gpus.indices.empty()) {
    choose_as_annotated(given, choice);
  } else {
    choose_for_gpus(given, choice);
    narrow(given, choice);
  }
  obey_network(given, choice);
}

/// What was allocated comes, whatever else is there: the pod was counted for it.
void add_present(const Case& given, NicChoice& choice) {
  NicChoice elsewhere;
  choose_present(given, elsewhere);
  choice.present = true;
  choice.nics.insert(choice.nics.end(), elsewhere.nics.begin(), elsewhere.nics.end());
  sort_unique(choice.nics);
}

}  // namespace

NicChoice choose_nics(const Case& given) {
  NicChoice choice;
  const bool present = given.facts.present.any;
  if (present && given.basis != Basis::resource) {
    choose_present(given, choice);
    choice.to_name = choice.nics;
    return choice;
  }
  choose_due(given, choice);
  if (!present) add_asked(given, choice);
  note_missing_netdev(given, choice);
  note_if_empty(choice, reason::kNoUsableNic,
                [] { return "none of the NICs that annotations name can be given"; });
  choice.to_add = choice.nics;
  if (present) add_present(given, choice);
  choice.to_name = nics_to_name(given, choice.nics);
  note_slow(given, choice);
  return choice;
}

std::string gone_text(std::string_view device) {
  return in_quotes(device) + " was allocated and is not on this node any more";
}

std::string nic_names(const node::Node& node, const std::vector<std::size_t>& nics) {
  std::vector<std::string> names;
  for (const std::size_t nic : nics) names.push_back(node.nics[nic].name);
  return join(names, ", ");
}

}  // namespace railhead::inject
