// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"
#include "topology/topology.h"

namespace railhead::affinity {

/// What a NIC is for. Only compute NICs are dealt to GPUs.
enum class Role : std::uint8_t {
  compute,
  storage,
  management,
  front_end,
  nvlink_management,
  virtual_function,
  unused,  ///< on purpose (the operator says so): in no deal and no pool
  unknown,
};
std::string_view to_string(Role role);                  ///< "compute", "front-end", …
std::optional<Role> parse_role(std::string_view text);  ///< absent: no such role

/// NICs as the operator selects them. All selectors have to match; one that is empty or absent
/// matches everything.
struct NicSelector {
  std::string name_globs{};  ///< RDMA device names: shell patterns with commas between
  std::optional<node::PciAddress> pci{};
  std::optional<std::uint16_t> vendor{};  ///< of the PCI function
  std::optional<std::uint16_t> device{};
  std::optional<node::LinkLayer> link_layer{};  ///< the ports', else that of the PCI class
  std::string netdev_glob{};                    ///< of any netdev of the device, shell pattern
};

/// `function` is the NIC's in the PCI tree; null where it has none.
bool matches(const NicSelector& selector, const node::Nic& nic, const node::PciDevice* function);

/// The operator's word on a role: the first that matches wins.
struct RoleOverride : NicSelector {
  Role role = Role::compute;
};

/// The operator's word on what is right for NICs, and would else look like a fault.
struct Expectation : NicSelector {
  enum class Kind : std::uint8_t {
    unused,  ///< these ports are not cabled
    one_up,  ///< of these NICs at least one has a cable; together they are one NIC to the deal
    rate,    ///< an ACTIVE port runs at this rate at least
  };

  Kind kind = Kind::unused;
  std::optional<unsigned> port{};  ///< of Kind::unused; absent: every port
  double gbps = 0;                 ///< of Kind::rate
  std::string where{};             ///< "config.yaml:4:5"
};

/// All that the operator says of NICs.
struct OperatorRules {
  std::vector<RoleOverride> roles{};
  std::vector<Expectation> expect{};
};

struct RoleDecision {
  Role role = Role::unknown;
  std::string reason;   ///< evidence in a short phrase: "InfiniBand 400 Gb/s, the majority's class"
  std::string doubt{};  ///< what speaks for another role; "" where nothing does
  bool by_operator = false;  ///< the configuration says so
};

/// Role of every NIC, in the node's order; by evidence, never by device name.
std::vector<RoleDecision> decide_roles(const node::Node& node, const topology::Topology& topology,
                                       const OperatorRules& rules);

/// Whether a NIC can carry traffic for a container now, and if not, why. Not part of the deal: a
/// NIC that is down keeps its place.
struct Usability {
  bool usable = true;
  std::string reason;     ///< "port 1 is DOWN", "is in the exclusive pool nvidia.com/hostdev"
  bool by_ports = false;  ///< the states of its ports are the whole reason
  std::string slow{};     ///< usable, and slower than the operator expects: why; else ""
};

/// Usability from the node and what is expected of it: registered, a uverbs node, an ACTIVE port.
/// Pools add to it.
std::vector<Usability> usability_of(const node::Node& node,
                                    const std::vector<Expectation>& expect = {});

/// What the deal gives to one GPU. Indices are into Node::nics and Node::gpus.
struct GpuDeal {
  std::vector<std::size_t> nearest;  ///< the set S: all candidates at the least nearness
  topology::Nearness nearness;       ///< of that set
  std::vector<std::size_t> nics;     ///< dealt, sorted; all devices of a card come together
  std::string why;                   ///< which step decided, for people
};

/// GPUs that share NICs further away than those that most other GPUs have for themselves: theirs
/// may have fallen off the bus.
struct MissingNic {
  std::vector<std::size_t> gpus;
  std::vector<std::size_t> nics;                          ///< that they share, sorted
  topology::Relation relation = topology::Relation::sys;  ///< of these GPUs and NICs
  topology::Relation own = topology::Relation::sys;       ///< of other GPUs and NICs of their own

  friend bool operator==(const MissingNic&, const MissingNic&) = default;
};

/// The deal of the affinity rule (docs/affinity.md): stateless, a function of the machine's shape.
struct Deal {
  std::vector<RoleDecision> roles;  ///< per NIC
  std::vector<GpuDeal> gpus;        ///< per GPU
  /// What is dealt: the devices of each compute card, by PCI address. A NIC of the rule is a card.
  std::vector<std::vector<std::size_t>> cards;
  std::vector<std::size_t> spare;  ///< compute NICs dealt to nobody
  std::vector<MissingNic> missing;
  std::size_t per_gpu = 1;  ///< K of the rule
  /// Low where addresses alone decide, because NUMA nodes are not known; else high.
  topology::Confidence confidence = topology::Confidence::high;
  std::vector<std::string> warnings;
};

Deal deal(const node::Node& node, const topology::Topology& topology, const OperatorRules& rules);

/// "GPU 5 (0000:c3:00.0) shares mlx5_6 (NODE), where other GPUs have NICs of their own (PXB): is a
/// NIC missing?", which is among the warnings of the deal.
std::string missing_nic_text(const node::Node& node, const MissingNic& missing);

/// One NIC chosen for one GPU.
struct Choice {
  std::size_t nic = 0;
  topology::Nearness nearness;
  bool stand_in = false;  ///< nearest usable NIC in place of dealt ones that are not usable
  std::string why;
};

struct GpuChoice {
  std::size_t gpu = 0;
  std::vector<Choice> nics;
  std::vector<std::size_t> lost{};  ///< what was dealt, of cards without any usable device
};

/// What a container with these GPUs gets.
struct Selection {
  std::vector<GpuChoice> gpus;    ///< in the order asked
  std::vector<std::size_t> nics;  ///< union, in the node's order
  /// Stand-ins, GPUs without any usable NIC; of a node without RDMA devices once. (That no NIC is
  /// a compute NIC is the deal's warning.)
  std::vector<std::string> warnings;
};

/// `usable` has one entry per NIC. GPUs are indices into Node::gpus; duplicates count once.
Selection select(const node::Node& node, const topology::Topology& topology, const Deal& deal,
                 const std::vector<Usability>& usable, const std::vector<std::size_t>& gpus);

/// One NIC as a GPU sees it, with the whole reason for or against it.
struct ExplainedNic {
  std::size_t nic = 0;
  topology::Nearness nearness;
  bool candidate = false;  ///< of role compute
  bool nearest = false;    ///< in the set S
  bool dealt = false;
  bool chosen = false;  ///< given to a container with this GPU: dealt and usable, or a stand-in
  std::string reason;  ///< "dealt: …", "excluded: storage, …", "further away: NODE on NUMA node 0"
};

struct ExplainedGpu {
  std::size_t gpu = 0;
  std::vector<ExplainedNic> nics;  ///< every NIC: nearest first, then by PCI address
  std::string step;                ///< which step of the rule decided: GpuDeal::why
};

/// The affinity rule at work on the GPUs of a selection, for `affinity --explain`. The other
/// arguments are those that select() made it of.
std::vector<ExplainedGpu> explain(const node::Node& node, const topology::Topology& topology,
                                  const Deal& deal, const std::vector<Usability>& usable,
                                  const Selection& selection);

}  // namespace railhead::affinity
