// SPDX-License-Identifier: Apache-2.0
//
// Cold reads: a new Host each time, so nothing is kept from the read before.
#include <benchmark/benchmark.h>

#include "host/directory_host.h"
#include "machines.h"
#include "node/node.h"
#include "node/node_reader.h"
#include "node/port_states.h"
#include "snapshot/snapshot_host.h"

namespace railhead::bench {
namespace {

void read_a_snapshot(benchmark::State& state, const char* variable) {
  const auto path = input(state, variable);
  if (!path) return;
  std::size_t nics = 0;
  for (auto _ : state) {
    const auto host = snapshot::SnapshotHost::parse(file_text(*path));
    if (!host) return state.SkipWithError(host.error().message.c_str());
    const node::Node node = node::read_node(**host);
    nics = node.nics.size();
    benchmark::DoNotOptimize(nics);
  }
  state.counters["nics"] = static_cast<double>(nics);
}

void read_a_directory(benchmark::State& state) {
  const auto path = input(state, "RAILHEAD_BENCH_TREE");
  if (!path) return;
  std::size_t nics = 0;
  std::size_t functions = 0;
  for (auto _ : state) {
    const auto host = host::DirectoryHost::open(*path);
    if (!host) return state.SkipWithError(host.error().message.c_str());
    const node::Node node = node::read_node(**host);
    nics = node.nics.size();
    functions = node.pci.size();
    benchmark::DoNotOptimize(nics);
  }
  state.counters["nics"] = static_cast<double>(nics);
  state.counters["pci"] = static_cast<double>(functions);
}

/// An event of one port: the rest of the machine is as it was.
void read_one_port_again(benchmark::State& state) {
  const auto path = input(state, "RAILHEAD_BENCH_TREE");
  if (!path) return;
  node::NodeReader reader;
  host::MachineChanges changes;
  {
    const auto host = host::DirectoryHost::open(*path);
    if (!host) return state.SkipWithError(host.error().message.c_str());
    const node::Node node = reader.read(**host).value();
    if (!node.nics.empty()) changes.add_rdma(node.nics.front().name);
  }
  for (auto _ : state) {
    const auto host = host::DirectoryHost::open(*path);
    if (!host) return state.SkipWithError(host.error().message.c_str());
    const node::Node node = reader.read_again(**host, changes).value();
    benchmark::DoNotOptimize(node.nics.size());
  }
}

/// What the agent does each second: the states of all ports, the same as before.
void look_at_ports(benchmark::State& state) {
  const auto path = input(state, "RAILHEAD_BENCH_TREE");
  if (!path) return;
  const auto host = host::DirectoryHost::open(*path);
  if (!host) return state.SkipWithError(host.error().message.c_str());
  node::PortStates ports(node::read_node(**host));
  for (auto _ : state) {
    if (ports.changed(**host)) return state.SkipWithError("a port has changed");
  }
  state.counters["ports"] = static_cast<double>(ports.size());
}

BENCHMARK_CAPTURE(read_a_snapshot, largest, "RAILHEAD_BENCH_SNAPSHOT")
    ->Name("read_snapshot")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_a_snapshot, many, "RAILHEAD_BENCH_MANY")
    ->Name("read_snapshot_many")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(read_a_directory)->Name("read_directory")->Unit(benchmark::kMillisecond);
BENCHMARK(read_one_port_again)->Name("read_again")->Unit(benchmark::kMillisecond);
BENCHMARK(look_at_ports)->Name("look_at_ports")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace railhead::bench
