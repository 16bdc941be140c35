// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "host/changes.h"
#include "host/host.h"
#include "node/node.h"

namespace railhead::node {

struct Again;

/// Reads one machine again and again. It keeps every part of its last reading, so that an event
/// costs what it names, and what never changes while a driver holds a function: what NVIDIA's
/// driver says of a GPU (asking wakes the card), PCI capabilities, Intel's packages (asking may
/// wait for minutes). A host is opened anew for each reading, since a directory that was kept open
/// may be of a device that has gone.
class NodeReader {
 public:
  NodeReader();
  ~NodeReader();

  /// As read_node(), except what never changes of functions whose driver is the same as before.
  /// Fails where we lack a descriptor or memory: what was kept is forgotten then.
  Result<Node> read(host::Host& host);

  /// What read() would say where `changes` name all that has changed. Of what they do not name only
  /// lists of names, default routes and the network namespace mode are read; and with any PCI
  /// function all GPUs, without what never changes of them, vDPA devices and function devices.
  /// `everything`, and the first reading, forget what was kept and read the whole machine.
  Result<Node> read_again(host::Host& host, const host::MachineChanges& changes);

  /// read_node().
  static Node read_once(host::Host& host);

 private:
  struct Parts;
  Result<Node> refresh(host::Host& host, const Again& again, const host::MachineChanges& changes);
  std::unique_ptr<Parts> parts_;
};

}  // namespace railhead::node
