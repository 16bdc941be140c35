// SPDX-License-Identifier: Apache-2.0
//
// SR-IOV policies, secondary networks and their address ranges.

#include "base/text.h"
#include "lint/device_ids.h"
#include "lint/networks.h"
#include "lint/rule.h"
#include "pools/address_prefix.h"

namespace railhead::lint {
namespace {

void not_json(const Given& given, Found& found) {
  for (const auto& text : network_texts(given)) {
    if (!text.problem.empty()) found.add(*text.object, text.place, text.problem);
  }
}

/// The IPAM sections of a text.
std::vector<const data::Value*> ipams_in(const NetworkText& text) {
  if (!text.problem.empty()) return {};
  if (!text.is_whole) return {&text.value};
  std::vector<const data::Value*> all;
  if (const auto* own = below(text.value, {"ipam"})) all.push_back(own);
  for (const auto& plugin : items_below(text.value, {"plugins"})) {
    if (const auto* its = below(plugin, {"ipam"})) all.push_back(its);
  }
  return all;
}

void host_local(const Given& given, Found& found) {
  for (const auto& text : network_texts(given)) {
    for (const auto* ipam : ipams_in(text)) {
      if (text_below(*ipam, {"type"}) != "host-local") continue;
      found.add(*text.object, text.place, "addresses are given out by host-local");
    }
  }
}

bool is_range(std::string_view range) {
  // whereabouts also takes 192.168.2.225-192.168.2.230/28.
  const auto dash = range.find('-');
  const auto slash = range.find('/');
  if (dash != std::string_view::npos) {
    return pools::AddressPrefix::parse(range.substr(0, dash)).has_value() &&
           pools::AddressPrefix::parse(range.substr(dash + 1)).has_value();
  }
  return slash != std::string_view::npos && pools::AddressPrefix::parse(range).has_value();
}

void range(const Given& given, Found& found) {
  for (const auto& text : network_texts(given)) {
    for (const auto* ipam : ipams_in(text)) {
      std::vector<std::string_view> ranges;
      for (const char* key : {"range", "subnet"}) {
        const auto one = text_below(*ipam, {key});
        if (!one.empty()) ranges.push_back(one);
      }
      for (const auto& one : items_below(*ipam, {"exclude"})) ranges.push_back(one.scalar);
      for (const auto one : ranges) {
        if (!is_range(one)) found.add(*text.object, text.place, in_quotes(one) + " is not a range");
      }
    }
  }
  for (const auto* pool : given.of_kind("IPPool")) {
    for (const char* key : {"range", "subnet"}) {
      const auto* one = below(pool->root, {"spec", key});
      if (one != nullptr && !is_range(one->scalar)) {
        found.add(*pool, one, in_quotes(one->scalar) + " is not a range");
      }
    }
  }
}

void rdma_without_plugin(const Given& given, Found& found) {
  for (const char* kind : {"SriovNetwork", "SriovIBNetwork"}) {
    for (const auto* network : given.of_kind(kind)) {
      const auto* text = below(network->root, {"spec", "capabilities"});
      if (text == nullptr) continue;
      const auto capabilities = data::parse_json(text->scalar);
      if (!capabilities || !is_true(*capabilities, {"rdma"})) continue;
      const auto plugins = text_below(network->root, {"spec", "metaPlugins"});
      if (plugins.find("\"rdma\"") != std::string_view::npos) continue;
      found.add(*network, text,
                "capabilities has rdma, and metaPlugins has no plugin of that type");
    }
  }
}

template <typename Use>
void for_each_policy(const Given& given, Use use) {
  for (const auto* policy : given.of_kind("SriovNetworkNodePolicy")) {
    if (const auto* spec = below(policy->root, {"spec"})) use(*policy, *spec);
  }
}

void vf_as_pf(const Given& given, Found& found) {
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    const auto* id = below(spec, {"nicSelector", "deviceID"});
    if (id == nullptr || !is_virtual_id(id->scalar)) return;
    found.add(policy, id, "deviceID " + in_quotes(id->scalar) + " is that of virtual functions");
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
  for_each_policy(given, [&](const Object& policy, const data::Value& spec) {
    const auto mtu = parse_unsigned(text_below(spec, {"mtu"}));
    if (!mtu || *mtu >= kMtuFor4096 || !is_true(spec, {"isRdma"})) return;
    if (to_lower(text_below(spec, {"linkType"})) == "ib") return;
    found.add(policy, below(spec, {"mtu"}), "mtu " + std::to_string(*mtu));
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

constexpr Rule kNetworkRules[] = {
    {"network.json", "The configuration of a network is not JSON.", Severity::fail,
     "The CNI plugin refuses it, and pods stay in ContainerCreating.", "Put it right.", "",
     not_json},
    {"network.host-local", "A network of several nodes gives addresses out by host-local.",
     Severity::warn,
     "host-local keeps its list on each node, so pods of two nodes get the same address, and RoCE "
     "GIDs with it.",
     "Use an IPAM that knows the cluster: nv-ipam, or whereabouts.", "E20", host_local},
    {"network.range", "An address range is malformed.", Severity::fail,
     "The IPAM plugin refuses it, and pods stay in ContainerCreating.", "Write ADDRESS/LENGTH.",
     "C13", range},
    {"network.rdma-capability", "capabilities: rdma without the rdma plugin.", Severity::warn,
     "A capability is only handed to a plugin of the chain that asks for it, and none does: the "
     "RDMA device stays in the host's network namespace.",
     "Write metaPlugins: '{\"type\": \"rdma\"}', with RDMA namespaces in exclusive mode.",
     "E22 F21", rdma_without_plugin},
    {"sriov.device-id", "A policy selects physical functions by the id of virtual ones.",
     Severity::fail,
     "101e is every mlx5 virtual function, and no ConnectX-7: the policy matches no port, and "
     "makes no VF.",
     "Write the port's own id: 101d ConnectX-6 Dx, 1021 ConnectX-7, 1023 ConnectX-8, a2dc "
     "BlueField-3.",
     "E15", vf_as_pf},
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

std::span<const Rule> network_rules() {
  return kNetworkRules;
}

}  // namespace railhead::lint
