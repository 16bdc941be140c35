// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "affinity/affinity.h"
#include "inject/decide.h"
#include "inject/device_list.h"
#include "inject/examine.h"
#include "machines.h"
#include "topology/topology.h"

namespace railhead::bench {
namespace {

constexpr const char* kNode = "RAILHEAD_BENCH_NODE";

/// As large as the container of the other benchmarks: 30 variables, 30 mounts.
struct Container {
  explicit Container(const std::string& gpus) {
    texts.emplace_back("PATH=/usr/local/bin:/usr/bin:/bin");
    if (!gpus.empty()) texts.push_back("NVIDIA_VISIBLE_DEVICES=" + gpus);
    while (texts.size() < 30) {
      texts.push_back("WORKER_SERVICE_PORT_" + std::to_string(texts.size()) +
                      "=tcp://10.96.0.1:29500");
    }
    for (int i = 0; i < 30; ++i)
      destinations.push_back("/usr/local/share/volume-" + std::to_string(i));
    request.pod_name = "worker-0";
    request.pod_namespace = "training";
    request.pod_uid = "3f2c9a54-7d1e-4c57-9f43-000000000000";
    request.id = "0123456789abcdef";
    request.name = "main";
    request.pod_namespaces = {"pid", "ipc", "uts", "mount"};
    for (const auto& text : texts) request.env.push_back(text);
    for (const auto& destination : destinations) {
      request.mounts.push_back({destination, "bind", "/var/lib/kubelet/pods/volume", false});
    }
  }

  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  std::vector<std::string> texts;
  std::vector<std::string> destinations;
  container::Request request;
};

void topology_of_node(benchmark::State& state) {
  const auto node = node_of(state, kNode);
  if (!node) return;
  for (auto _ : state) benchmark::DoNotOptimize(topology::make_topology(*node));
}

void topology_and_deal(benchmark::State& state) {
  const auto node = node_of(state, kNode);
  if (!node) return;
  for (auto _ : state) {
    const topology::Topology topology = topology::make_topology(*node);
    benchmark::DoNotOptimize(affinity::deal(*node, topology, {}));
  }
}

/// The node with an RDMA device for every virtual function, as if mlx5_core drove them.
node::Node with_rdma_on_vfs(node::Node node) {
  for (const auto& device : node.pci) {
    if (!device.physfn) continue;
    const auto at = std::ranges::find_if(
        node.nics, [&](const node::Nic& nic) { return nic.pci == device.physfn; });
    if (at == node.nics.end()) continue;
    node::Nic nic = *at;
    nic.name = "vf" + std::to_string(node.nics.size());
    nic.pci = device.address;
    node.nics.push_back(std::move(nic));
  }
  std::ranges::sort(node.nics,
                    [](const node::Nic& a, const node::Nic& b) { return a.pci < b.pci; });
  return node;
}

void topology_and_deal_of_many(benchmark::State& state) {
  auto read = node_of(state, "RAILHEAD_BENCH_MANY");
  if (!read) return;
  const node::Node node = with_rdma_on_vfs(*std::move(read));
  for (auto _ : state) {
    const topology::Topology topology = topology::make_topology(node);
    benchmark::DoNotOptimize(affinity::deal(node, topology, {}));
  }
  state.counters["gpus"] = static_cast<double>(node.gpus.size());
  state.counters["nics"] = static_cast<double>(node.nics.size());
}

void prepare_table(benchmark::State& state) {
  const auto node = node_of(state, kNode);
  if (!node) return;
  for (auto _ : state) {
    const inject::DecisionTable table(*node, {}, inject::InjectionPolicy{});
    benchmark::DoNotOptimize(&table);
  }
}

void decide_container(benchmark::State& state, bool with_gpus) {
  auto node = node_of(state, kNode);
  if (!node) return;
  std::string gpus;
  if (with_gpus) {
    if (node->gpus.size() < 2 || !node->gpus[0].uuid || !node->gpus[1].uuid) {
      return state.SkipWithError("the node has no two GPUs with UUIDs");
    }
    gpus = *node->gpus[0].uuid + "," + *node->gpus[1].uuid;
  }
  const Container container(gpus);
  const inject::DecisionTable table(*std::move(node), {}, inject::InjectionPolicy{});
  inject::RuntimeAbility runtime;
  runtime.name = "containerd";
  runtime.version = "v2.4.2";
  runtime.memlock_ceiling = container::kUnlimited;
  std::size_t devices = 0;
  for (auto _ : state) {
    const auto facts = inject::examine(container.request, table);
    const inject::Decision decision = inject::decide(container.request, facts, table, runtime);
    devices = decision.adjustment.devices.size();
    benchmark::DoNotOptimize(devices);
  }
  if ((devices > 0) != with_gpus) state.SkipWithError("not the decision that was to be timed");
  state.counters["devices"] = static_cast<double>(devices);
}

/// 1 MiB of annotations that a pod author wrote, in keys of this prefix; CRI-O shows them on the
/// container, too.
void decide_annotated(benchmark::State& state, const std::string& prefix) {
  auto node = node_of(state, kNode);
  if (!node) return;
  const inject::DecisionTable table(*std::move(node), {}, inject::InjectionPolicy{});
  std::vector<std::string> keys;
  for (std::size_t bytes = 0; bytes < (std::size_t{1} << 20U); bytes += keys.back().size() + 1) {
    keys.push_back(prefix + std::to_string(keys.size()));
  }
  Container container("");
  auto& request = container.request;
  for (const auto& key : keys) request.pod_annotations.emplace_back(key, "x");
  request.annotations = request.pod_annotations;
  const inject::RuntimeAbility runtime;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        inject::decide(request, inject::examine(request, table), table, runtime));
  }
  state.counters["annotations"] = static_cast<double>(keys.size());
}

/// The two lists in YAML that a pod author may write, as large as they may be and laborious to
/// read.
void decide_with_yaml(benchmark::State& state) {
  auto node = node_of(state, kNode);
  if (!node) return;
  const inject::DecisionTable table(*std::move(node), {}, inject::InjectionPolicy{});
  std::string list = "- [";
  while (list.size() < inject::kAnnotationLimits.bytes - 3) list += "a ";
  list += "]";
  Container container("");
  auto& request = container.request;
  for (const std::string_view key :
       {"devices.noderesource.dev/pod", "ulimits.noderesource.dev/pod"}) {
    request.pod_annotations.emplace_back(key, list);
  }
  const inject::RuntimeAbility runtime;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        inject::decide(request, inject::examine(request, table), table, runtime));
  }
}

BENCHMARK(topology_of_node)->Name("make_topology")->Unit(benchmark::kMicrosecond);
BENCHMARK(topology_and_deal)->Name("make_topology_and_deal")->Unit(benchmark::kMicrosecond);
BENCHMARK(topology_and_deal_of_many)
    ->Name("make_topology_and_deal_many")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(prepare_table)->Name("decision_table")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_container, gpus, true)
    ->Name("decide_gpu_container")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_container, plain, false)
    ->Name("decide_plain_container")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_annotated, foreign, "example.com/note-")
    ->Name("decide_1MiB_of_foreign_annotations")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_annotated, ours, "rdma.railhead.io/")
    ->Name("decide_1MiB_of_bogus_annotations")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_annotated, cdi, "cdi.k8s.io/")
    ->Name("decide_1MiB_of_copied_annotations")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(decide_with_yaml)->Name("decide_with_yaml")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace railhead::bench
