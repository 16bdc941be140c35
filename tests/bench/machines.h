// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "node/node.h"
#include "snapshot/snapshot_host.h"

namespace railhead::bench {

/// A path that run.py hands over in the environment; absent: the benchmark is skipped.
inline std::optional<std::string> input(benchmark::State& state, const char* variable) {
  const char* path = std::getenv(variable);
  if (path != nullptr && *path != '\0') return std::string(path);
  state.SkipWithError((std::string(variable) + " is not set").c_str());
  return std::nullopt;
}

/// Whole file; "" if it cannot be read, which no snapshot is.
inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The node of the snapshot that a variable names; skips the benchmark if there is none.
inline std::optional<node::Node> node_of(benchmark::State& state, const char* variable) {
  const auto path = input(state, variable);
  if (!path) return std::nullopt;
  auto host = snapshot::SnapshotHost::parse(file_text(*path));
  if (!host) {
    state.SkipWithError((*path + ": " + host.error().message).c_str());
    return std::nullopt;
  }
  return node::read_node(**host);
}

}  // namespace railhead::bench
