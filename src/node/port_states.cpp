// SPDX-License-Identifier: Apache-2.0
#include "node/port_states.h"

#include <algorithm>

#include "host/keep.h"
#include "node/port_reader.h"

namespace railhead::node {
namespace {

/// What cannot be read or understood was not known before either, so that it is no change.
std::optional<PortState> state_now(host::Host& host, const std::string& path) {
  const auto text = host.read_keeping(path, host::keep_line);
  if (!text || !*text) return std::nullopt;
  return parse_port_state(**text);
}

}  // namespace

PortStates::PortStates(const Node& node) {
  for (const auto& nic : node.nics) {
    for (const auto& port : nic.ports) {
      ports_.push_back({nic.name, port_folder(nic, port) + "/state", port.state});
    }
  }
}

host::MachineChanges PortStates::changed(host::Host& host) {
  host::MachineChanges changes;
  const std::size_t count = std::min(ports_.size(), kPortsPerLook);
  for (std::size_t looked = 0; looked < count; ++looked) {
    const Known& port = ports_[next_];
    next_ = (next_ + 1) % ports_.size();
    if (state_now(host, port.path) != port.state) changes.add_rdma(port.device);
  }
  return changes;
}

}  // namespace railhead::node
