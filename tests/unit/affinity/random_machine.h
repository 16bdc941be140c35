// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>

#include "unit/node_builder.h"

namespace railhead::test {

/// A machine that could be built: sockets, switches of one or two levels, GPUs and NICs below them
/// or on root ports, storage and front-end cards. `even` machines have the same below every switch.
class RandomMachine {
 public:
  explicit RandomMachine(unsigned seed)
      : random_(seed) {}

  node::Node any() {
    NodeBuilder b;
    const int sockets = add_sockets(b);
    const int bridges = between(1, 8);
    for (int i = 0; i < bridges; ++i) {
      add_branch(b, i, pick_numa(sockets), between(0, 4), between(0, 4), between(0, 2));
    }
    add_other_cards(b);
    return b.build();
  }

  node::Node even() {
    NodeBuilder b;
    const int sockets = add_sockets(b);
    const int gpus = between(1, 4);
    const int nics = between(1, 8);
    const int style = between(0, 2);
    const int bridges = between(1, 8);
    for (int i = 0; i < bridges; ++i) add_branch(b, i, i * sockets / bridges, gpus, nics, style);
    return b.build();
  }

  /// Switches below switches, few GPUs and many NICs anywhere: nearest sets that contain each
  /// other.
  node::Node nested() {
    NodeBuilder b;
    add_sockets(b);
    const int roots = between(1, 3);
    for (int i = 0; i < roots; ++i) {
      grow(b, b.host_bridge(static_cast<std::uint8_t>(0x40 * i), between(0, 1)), 3);
    }
    b.gpu(b.bridge(b.host_bridge(0xf0, between(0, 1))));
    return b.build();
  }

  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  /// Of one of `count` things.
  std::size_t index(std::size_t count) {
    return static_cast<std::size_t>(between(0, static_cast<int>(count) - 1));
  }

  std::mt19937& engine() { return random_; }

 private:
  int add_sockets(NodeBuilder& b) {
    const int sockets = between(1, 2);
    for (int i = 0; i < 2 * sockets; ++i) b.numa(i, i / 2);
    return 2 * sockets;
  }

  std::optional<int> pick_numa(int nodes) {
    if (between(0, 9) == 0) return std::nullopt;
    return between(0, nodes - 1);
  }

  void add_branch(NodeBuilder& b, int number, std::optional<int> numa, int gpus, int nics,
                  int style) {
    const Slot root = b.host_bridge(static_cast<std::uint8_t>(0x18 * number), numa);
    const auto hub = [&](const Slot& at) { return b.pcie_switch(b.bridge(at)); };
    const Slot top = style == 0 ? root : hub(root);
    const Slot gpu_side = style == 2 ? hub(top) : top;
    const Slot nic_side = style == 2 ? hub(top) : top;
    for (int i = 0; i < gpus; ++i) b.gpu(b.bridge(gpu_side));
    for (int i = 0; i < nics; ++i) b.nic(b.bridge(nic_side));
  }

  void add_other_cards(NodeBuilder& b) {
    const Slot far = b.host_bridge(0xe0, 0);
    for (int i = between(0, 2); i > 0; --i) b.nic(b.bridge(far), 2);
    if (between(0, 1) == 1) {
      b.nic(b.bridge(far))
          .ethernet(25)
          .ids(0x15b3, 0x1015)
          .pcie(8, 8)
          .netdev("eth0")
          .default_route();
    }
    if (between(0, 4) == 0) b.soft_nic("rxe0", "eth0");
  }

  void grow(NodeBuilder& b, const Slot& at, int levels) {
    for (int i = between(0, 2); i > 0; --i) b.gpu(b.bridge(at));
    for (int i = between(0, 5); i > 0; --i) b.nic(b.bridge(at));
    for (int i = between(0, 2); levels > 0 && i > 0; --i) {
      grow(b, b.pcie_switch(b.bridge(at)), levels - 1);
    }
  }

  std::mt19937 random_;
};

}  // namespace railhead::test
