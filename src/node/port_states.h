// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "host/changes.h"
#include "host/host.h"
#include "node/node.h"

namespace railhead::node {

/// Ports looked at in one go. Where there are more (one for each of many virtual functions), the
/// next look goes on with the next ones. A look at an InfiniBand port may be a command to the
/// firmware, so that is what bounds a look in time.
inline constexpr std::size_t kPortsPerLook = 128;

/// The states of a machine's ports as it was read. The kernel sends no event that all drivers have
/// in common when a link goes down or comes up, so they are looked at again between two readings:
/// one small file each.
class PortStates {
 public:
  explicit PortStates(const Node& node);

  /// The RDMA devices of ports that are looked at now and have another state than the machine was
  /// read with, or have gone: what NodeReader::read_again() is to read.
  host::MachineChanges changed(host::Host& host);

  [[nodiscard]] std::size_t size() const { return ports_.size(); }

 private:
  struct Known {
    std::string device;
    std::string path;
    std::optional<PortState> state;
  };

  std::vector<Known> ports_;
  std::size_t next_ = 0;
};

}  // namespace railhead::node
