// SPDX-License-Identifier: Apache-2.0
#include "inject/transports_of.h"

#include <algorithm>

#include "base/contains.h"

namespace railhead::inject {
namespace {

/// A port that is not ACTIVE is usable where the NIC has no trouble by it: an idle function of an
/// exclusive pool comes up in its pod. GIDs are the pod's own unless it is on the host network.
std::vector<transports::KnownPort> ports_of(const node::Nic& nic, bool has_trouble,
                                            bool host_network) {
  const bool any_active = std::any_of(nic.ports.begin(), nic.ports.end(), [](const auto& port) {
    return port.state == node::PortState::active;
  });
  std::vector<transports::KnownPort> out;
  for (const node::Port& port : nic.ports) {
    transports::KnownPort known;
    known.number = port.number;
    known.usable =
        !has_trouble && (!any_active || !port.state || port.state == node::PortState::active);
    known.link = link_kind_of(nic, port);
    if (host_network && !port.gids.empty()) {
      known.gids.emplace();
      for (const node::Gid& gid : port.gids) known.gids->push_back(gid.index);
    }
    out.push_back(std::move(known));
  }
  if (out.empty()) out.push_back({.usable = !has_trouble});  // a NIC that is in a pod, say
  return out;
}

}  // namespace

transports::LinkKind link_kind_of(const node::Nic& nic, const node::Port& port) {
  if (nic.driver == "efa") return transports::LinkKind::efa;
  switch (port.link_layer) {
    case node::LinkLayer::infiniband: return transports::LinkKind::infiniband;
    case node::LinkLayer::ethernet: return transports::LinkKind::ethernet;
    case node::LinkLayer::unknown: break;
  }
  return transports::LinkKind::unknown;
}

transports::Reading transports_of(const container::Request& request,
                                  const container::Surroundings& surroundings,
                                  const DecisionTable& table,
                                  const std::vector<std::size_t>& nics) {
  if (std::none_of(request.env.begin(), request.env.end(), transports::is_transport_variable)) {
    return {};
  }
  std::vector<transports::KnownNic> known;
  for (std::size_t i = 0; i < table.node().nics.size(); ++i) {
    const node::Nic& nic = table.node().nics[i];
    const bool has = contains(nics, i);
    known.push_back({nic.name, has || surroundings.privileged,
                     ports_of(nic, !table.trouble_of(i).empty(), surroundings.host_network)});
  }
  return transports::read_environment(request.env, &known);
}

}  // namespace railhead::inject
