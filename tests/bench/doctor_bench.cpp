// SPDX-License-Identifier: Apache-2.0
//
// A whole run of the doctor: what is read, and the checks.
#include <benchmark/benchmark.h>

#include "checks/check.h"
#include "host/directory_host.h"
#include "machines.h"
#include "system/system.h"

namespace railhead::bench {
namespace {

std::size_t examine(host::Host& host) {
  const auto& wanted = checks::all_checks();
  auto node = node::read_node(host);
  auto system = system::read_system(host, node, checks::parts_of(wanted));
  const checks::Machine machine(std::move(node), std::move(system), {});
  return checks::run_checks(machine, wanted).size();
}

void doctor_of_a_snapshot(benchmark::State& state, const char* variable) {
  const auto path = input(state, variable);
  if (!path) return;
  std::size_t findings = 0;
  for (auto _ : state) {
    const auto host = snapshot::SnapshotHost::parse(file_text(*path));
    if (!host) return state.SkipWithError(host.error().message.c_str());
    findings = examine(**host);
  }
  state.counters["findings"] = static_cast<double>(findings);
}

void doctor_of_a_directory(benchmark::State& state) {
  const auto path = input(state, "RAILHEAD_BENCH_TREE");
  if (!path) return;
  std::size_t findings = 0;
  for (auto _ : state) {
    const auto host = host::DirectoryHost::open(*path);
    if (!host) return state.SkipWithError(host.error().message.c_str());
    findings = examine(**host);
  }
  state.counters["findings"] = static_cast<double>(findings);
}

BENCHMARK_CAPTURE(doctor_of_a_snapshot, largest, "RAILHEAD_BENCH_SNAPSHOT")
    ->Name("doctor_snapshot")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(doctor_of_a_snapshot, many, "RAILHEAD_BENCH_MANY")
    ->Name("doctor_snapshot_many")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(doctor_of_a_directory)->Name("doctor_directory")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace railhead::bench
