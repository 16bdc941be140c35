// SPDX-License-Identifier: Apache-2.0
#include "inject/roce.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "inject/codes.h"
#include "inject/pod_networks.h"

namespace railhead::inject {
namespace {

std::vector<std::size_t> ethernet_among(const Case& given, const std::vector<std::size_t>& nics) {
  std::vector<std::size_t> out;
  std::copy_if(nics.begin(), nics.end(), std::back_inserter(out),
               [&](std::size_t nic) { return is_ethernet(given.table.node().nics[nic]); });
  return out;
}

/// A netdev of the NIC that is in the node's network namespace. Absent: there is none, or it is in
/// that of a pod.
const node::Netdev* netdev_on_node(const Case& given, std::size_t nic) {
  const node::Node& node = given.table.node();
  for (const std::string& name : node.nics[nic].netdevs) {
    const node::Netdev* netdev = node.find_netdev(name);
    if (netdev != nullptr && !netdev->elsewhere) return netdev;
  }
  return nullptr;
}

/// What a macvlan or ipvlan would be on: "ens1f0", its bond, or "its netdev".
std::string what_to_attach(const Case& given, std::size_t nic) {
  const node::Netdev* netdev = netdev_on_node(given, nic);
  if (netdev == nullptr) return "its netdev";
  return netdev->master.value_or(netdev->name);
}

/// The pools that these were allocated from: "nvidia.com/hostdev", "a/b or c/d"
std::string exclusive_resources(const Case& given, const std::vector<std::size_t>& nics) {
  const pools::PoolTable& table = given.table.pools();
  std::vector<std::string> names;
  for (const std::size_t nic : nics) {
    const auto function = table.function_of(nic);
    const auto pool = function ? table.exclusive[*function] : std::nullopt;
    if (pool && !contains(names, table.pools[*pool].spec.name))
      names.push_back(table.pools[*pool].spec.name);
  }
  return join(names, " or ");
}

/// `state` says why they have no netdev in the pod, `network` which one would bring it.
void note(const Case& given, const std::vector<std::size_t>& nics, std::string_view state,
          const std::string& network, NicChoice& choice) {
  if (nics.empty()) return;
  choice.remarks.add(warn::kRoceNeedsNetdev,
                     nic_names(given.table.node(), nics) + (nics.size() == 1 ? " is" : " are") +
                         " Ethernet, the pod has a network of its own, and " + std::string(state) +
                         ". RoCE has no address without one there: annotate the pod with " +
                         std::string(kNetworksAnnotation) + " and a network " + network +
                         ", or set hostNetwork");
}

void note_shared(const Case& given, const std::vector<std::size_t>& nics, NicChoice& choice) {
  const bool one = nics.size() == 1;
  note(given, nics,
       one ? "no annotation asks for a netdev of it" : "no annotation asks for netdevs of them",
       "on " + (one ? what_to_attach(given, nics.front()) : "the netdev of each") +
           " (macvlan, ipvlan)",
       choice);
}

void note_exclusive(const Case& given, const std::vector<std::size_t>& nics, NicChoice& choice) {
  note(given, nics,
       nics.size() == 1 ? "its netdev is on the node" : "their netdevs are on the node",
       "whose k8s.v1.cni.cncf.io/resourceName is " +
           in_quotes(exclusive_resources(given, nics), 128) + " (host-device, SR-IOV)",
       choice);
}

/// Each network is one netdev.
void note_too_few(const Case& given, const std::vector<std::size_t>& nics,
                  const PodNetworks& networks, NicChoice& choice) {
  if (networks.unreadable || networks.asked.empty() || networks.asked.size() >= nics.size()) return;
  choice.remarks.add(warn::kRoceNeedsNetdev,
                     "the pod asks for " + counted(networks.asked.size(), "network") + ", " +
                         in_quotes(join(networks.asked, ", "), 128) + ", and has " +
                         counted(nics.size(), "Ethernet NIC") + " (" +
                         nic_names(given.table.node(), nics) +
                         "): RoCE has an address only on a NIC with a netdev in the pod, so name "
                         "a network of each in " +
                         std::string(kNetworksAnnotation));
}

/// In the exclusive mode only the namespace that a device is in can open it.
void note_not_moved(const Case& given, NicChoice& choice) {
  if (given.table.node().rdma_netns != node::RdmaNetns::exclusive) return;
  std::vector<std::size_t> left;
  std::copy_if(choice.nics.begin(), choice.nics.end(), std::back_inserter(left),
               [&](std::size_t nic) {
                 const node::Nic& device = given.table.node().nics[nic];
                 return contains(given.facts.allocated.exclusive, nic) && !device.elsewhere;
               });
  if (left.empty()) return;
  const bool one = left.size() == 1;
  choice.remarks.add(
      warn::kRdmaNotMoved,
      "RDMA namespaces are exclusive, and " + nic_names(given.table.node(), left) +
          (one ? " is" : " are") + " in the node's, so the pod cannot open " +
          (one ? "it" : "them") +
          ": add the CNI plugin rdma to the network that moves the netdev, or set hostNetwork");
}

/// `ethernet` are NICs of a pod with a network of its own.
std::vector<std::size_t> left_without(const PodNetworks& networks, const Case& given,
                                      std::vector<std::size_t> ethernet) {
  if (networks.unreadable || !networks.asked.empty()) return {};
  std::erase_if(ethernet, [&](std::size_t nic) {
    return contains(given.facts.allocated.exclusive, nic) && netdev_on_node(given, nic) == nullptr;
  });
  return ethernet;
}

}  // namespace

bool is_ethernet(const node::Nic& nic) {
  const auto has_port = [&](node::LinkLayer layer) {
    return std::any_of(nic.ports.begin(), nic.ports.end(),
                       [&](const node::Port& port) { return port.link_layer == layer; });
  };
  return has_port(node::LinkLayer::ethernet) && !has_port(node::LinkLayer::infiniband);
}

std::vector<std::size_t> without_address(const Case& given, const std::vector<std::size_t>& nics) {
  if (given.facts.surroundings.host_network) return {};
  std::vector<std::size_t> ethernet = ethernet_among(given, nics);
  if (ethernet.empty()) return {};
  return left_without(pod_networks(given.request), given, std::move(ethernet));
}

void note_missing_netdev(const Case& given, NicChoice& choice) {
  if (given.facts.surroundings.host_network || choice.nics.empty()) return;
  note_not_moved(given, choice);
  const std::vector<std::size_t> ethernet = ethernet_among(given, choice.nics);
  if (ethernet.empty()) return;
  const PodNetworks networks = pod_networks(given.request);
  choice.remarks.append(networks.remarks);
  std::vector<std::size_t> shared, alone;
  for (const std::size_t nic : left_without(networks, given, ethernet))
    (contains(given.facts.allocated.exclusive, nic) ? alone : shared).push_back(nic);
  note_shared(given, shared, choice);
  note_exclusive(given, alone, choice);
  note_too_few(given, ethernet, networks, choice);
}

}  // namespace railhead::inject
