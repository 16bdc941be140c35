// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "node/node.h"
#include "snapshot/snapshot_host.h"
#include "topology/arrange.h"
#include "unit/affinity/random_machine.h"
#include "unit/source_dir.h"

namespace railhead::test {

struct NamedMachine {
  std::string name;
  node::Node node;
};

/// The machines in the box, tests/nodes/*.node, by name, with the PCI tree that is believed.
inline std::vector<NamedMachine> read_committed_machines() {
  std::vector<NamedMachine> machines;
  const std::filesystem::path folder = std::filesystem::path(source_dir()) / "tests/nodes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".node") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const auto host = snapshot::SnapshotHost::parse(text.str());
    EXPECT_TRUE(host.has_value()) << entry.path();
    if (host)
      machines.push_back(
          {entry.path().stem().string(), topology::arrange(node::read_node(**host)).node});
  }
  std::ranges::sort(machines,
                    [](const NamedMachine& a, const NamedMachine& b) { return a.name < b.name; });
  return machines;
}

inline const std::vector<NamedMachine>& committed_machines() {
  static const auto machines = read_committed_machines();
  return machines;
}

/// Calls check(node, random) for random machines of a kind, with the seed in the trace.
template <typename Check>
void for_random_machines(node::Node (RandomMachine::*make)(), Check check) {
  constexpr unsigned kMachines = 150;
  for (unsigned seed = 1; seed <= kMachines; ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, "random machine " + std::to_string(seed));
    RandomMachine random(seed);
    check((random.*make)(), random);
    if (testing::Test::HasFailure()) return;  // one machine is enough to look at
  }
}

/// Calls check(node, random) for every committed machine, with its name in the trace.
template <typename Check>
void for_committed_machines(Check check) {
  unsigned seed = 1;
  for (const auto& machine : committed_machines()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, machine.name);
    RandomMachine random(seed++);
    check(machine.node, random);
  }
  EXPECT_GT(seed, 1U) << "no committed machine found";
}

template <typename Check>
void for_all_machines(Check check) {
  for_committed_machines(check);
  for_random_machines(&RandomMachine::any, check);
  for_random_machines(&RandomMachine::nested, check);
}

}  // namespace railhead::test
