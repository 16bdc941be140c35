// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "unit/node_builder.h"

namespace railhead::test {

/// Two sockets, four GPUs and two NICs on the root bus of each: the 8 GPU, 4 NIC machine.
inline NodeBuilder eight_gpus_four_nics() {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  for (int socket = 0; socket < 2; ++socket) {
    const Slot root = b.host_bridge(static_cast<std::uint8_t>(0x10 + 0x60 * socket), socket);
    for (int half = 0; half < 2; ++half) {
      b.gpu(b.bridge(root));
      b.gpu(b.bridge(root));
      b.nic(b.bridge(root));
    }
  }
  return b;
}

/// NVIDIA DGX H100: one host bridge a GPU, GPU and its NIC below different halves of a two-level
/// switch (PXB), two dual-port storage cards on host bridges of their own (NODE), a management
/// port.
inline NodeBuilder dgx_h100() {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  for (int socket = 0; socket < 2; ++socket) {
    unsigned bus = socket == 0 ? 0x10 : 0x90;
    for (int rail = 0; rail < 4; ++rail, bus += 0x10) {
      const Slot outer =
          b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(bus), socket)));
      const Slot nics = b.pcie_switch(b.bridge(outer));
      const Slot gpus = b.pcie_switch(b.bridge(outer));
      b.nic(b.bridge(nics));
      b.gpu(b.bridge(gpus));
    }
    const Slot storage = b.host_bridge(static_cast<std::uint8_t>(bus), socket);
    b.nic(b.bridge(storage), 2).netdev(socket == 0 ? "ibs0" : "ibs1");
  }
  return b;
}

/// NVIDIA DGX A100: four two-level switches, each with two GPUs and two NICs (PXB to both), NPS4,
/// and one dual-port card elsewhere.
inline NodeBuilder dgx_a100() {
  NodeBuilder b;
  for (int numa = 0; numa < 8; ++numa) b.numa(numa, numa / 4);
  const std::vector<int> near = {3, 1, 7, 5};
  unsigned bus = 0x01;
  for (const int numa : near) {
    const Slot outer = b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(bus), numa)));
    const Slot gpus = b.pcie_switch(b.bridge(outer));
    const Slot nics = b.pcie_switch(b.bridge(outer));
    for (int i = 0; i < 2; ++i) b.gpu(b.bridge(gpus));
    for (int i = 0; i < 2; ++i)
      b.nic(b.bridge(nics)).infiniband(200).ids(0x15b3, 0x101b).pcie(16, 16);
    bus += 0x30;
  }
  b.nic(b.bridge(b.host_bridge(0xe0, 6)), 2).infiniband(200).ids(0x15b3, 0x101b).pcie(16, 16);
  return b;
}

/// One GPU and four NICs below the switch of each of eight host bridges: 8 GPUs, 32 NICs, as
/// AWS p5 shows it.
inline NodeBuilder eight_gpus_32_nics() {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  for (int i = 0; i < 8; ++i) {
    const Slot root = b.host_bridge(static_cast<std::uint8_t>(0x10 + 0x18 * i), i / 4);
    const Slot sw = b.pcie_switch(b.bridge(root));
    for (int n = 0; n < 4; ++n) {
      b.nic(b.bridge(sw)).ethernet(100).ids(0x1d0f, 0xefa1).pcie(16, 8);
    }
    b.gpu(b.bridge(sw));
  }
  return b;
}

}  // namespace railhead::test
