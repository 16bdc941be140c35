// SPDX-License-Identifier: Apache-2.0
//
// Secondary networks and their address ranges.

#include "base/text.h"
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
};

}  // namespace

std::span<const Rule> network_rules() {
  return kNetworkRules;
}

}  // namespace railhead::lint
