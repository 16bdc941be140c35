// SPDX-License-Identifier: Apache-2.0
//
// From a machine that was read to the kubelet's lists: eight ports with 128 virtual functions each,
// every one an RDMA device and a device of one of eight exclusive pools, beside eight GPUs.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "agent/device_ledger.h"
#include "allocation/grant.h"
#include "inject/decide.h"
#include "pools/prefer.h"
#include "unit/node_builder.h"

namespace railhead::bench {
namespace {

constexpr unsigned kPorts = 8;
constexpr unsigned kFunctionsOfAPort = 128;

std::string netdev_of_port(unsigned port) {
  return "enp" + std::to_string(0x11 + 0x10 * port) + "s0";
}

node::Node thousand_functions() {
  test::NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  for (unsigned port = 0; port < kPorts; ++port) {
    const auto bus = static_cast<std::uint8_t>(0x10 + 0x10 * port);
    const auto root = b.host_bridge(bus, static_cast<int>(port / 4));
    b.nic(b.bridge(root))
        .ethernet(400)
        .netdev(netdev_of_port(port))
        .virtual_functions(kFunctionsOfAPort);
    b.gpu(b.bridge(root));
  }
  b.plain_netdev("eno1", true);
  auto node = b.build();
  for (auto& nic : node.nics) {
    if (!nic.netdevs.empty()) continue;
    node::Netdev netdev;
    netdev.name = nic.name + "v";
    netdev.pci = nic.pci;
    nic.netdevs = {netdev.name};
    node.netdevs.push_back(netdev);
  }
  return node;
}

/// As a file of the SR-IOV plugin names them: by the ports, or by their PCI addresses.
std::vector<pools::PoolSpec> pool_of_each_port(pools::Fact fact) {
  std::vector<pools::PoolSpec> specs;
  for (unsigned port = 0; port < kPorts; ++port) {
    node::PciAddress address;
    address.bus = static_cast<std::uint8_t>(0x11 + 0x10 * port);
    const auto parent = fact == pools::Fact::pf_name ? netdev_of_port(port) : address.str();
    pools::PoolSpec spec;
    spec.name = "example.com/vfs_" + std::to_string(port);
    spec.mode = pools::PoolMode::exclusive;
    spec.kinds = {pools::FunctionKind::physical, pools::FunctionKind::virtual_};
    spec.origin.flavour = pools::PoolFlavour::sriov_plugin;
    spec.include = {
        {{{fact, "selectors", {parent}, pools::Match::any_case, {{parent, {}}}}}, true, false}};
    specs.push_back(std::move(spec));
  }
  return specs;
}

inject::DecisionTable table_of_many(pools::Fact fact = pools::Fact::pf_name) {
  inject::InjectionPolicy policy;
  policy.pools = pool_of_each_port(fact);
  return inject::DecisionTable(thousand_functions(), {}, std::move(policy));
}

/// False, and the benchmark ends, where the pools are not those that were to be timed.
bool is_right(benchmark::State& state, const inject::DecisionTable& table) {
  std::size_t members = 0;
  for (const auto& pool : table.pools().pools) members += pool.members.size();
  if (members == std::size_t{kPorts} * kFunctionsOfAPort) return true;
  state.SkipWithError("not the pools that were to be timed");
  return false;
}

void make_table(benchmark::State& state, pools::Fact fact) {
  const auto node = thousand_functions();
  inject::InjectionPolicy policy;
  policy.pools = pool_of_each_port(fact);
  for (auto _ : state) {
    const inject::DecisionTable table(node, {}, policy);
    if (!is_right(state, table)) return;
  }
}

std::vector<std::size_t> update_all(std::vector<agent::DeviceLedger>& ledgers,
                                    const inject::DecisionTable& table,
                                    agent::DeviceLedger::TimePoint now) {
  std::vector<std::size_t> sizes;
  for (std::size_t pool = 0; pool < ledgers.size(); ++pool) {
    const auto& pools = table.pools();
    sizes.push_back(ledgers[pool].update(pools.pools[pool], pools.functions, now).size());
  }
  return sizes;
}

void update_ledgers(benchmark::State& state) {
  const auto table = table_of_many();
  if (!is_right(state, table)) return;
  std::vector<agent::DeviceLedger> ledgers(kPorts);
  for (auto _ : state) benchmark::DoNotOptimize(update_all(ledgers, table, {}));
}

/// What a change of the machine costs between the reading and the lists.
void change(benchmark::State& state, bool all_down) {
  auto node = thousand_functions();
  for (auto& nic : node.nics) {
    if (all_down) nic.ports.front().state = node::PortState::down;
  }
  for (auto& netdev : node.netdevs) {
    netdev.up = true;
    netdev.carrier = !all_down;
  }
  inject::InjectionPolicy policy;
  policy.pools = pool_of_each_port(pools::Fact::pf_name);
  std::vector<agent::DeviceLedger> ledgers(kPorts);
  for (auto _ : state) {
    const inject::DecisionTable table(node, {}, policy);
    benchmark::DoNotOptimize(update_all(ledgers, table, {}));
  }
}

void say_why_not(benchmark::State& state) {
  const auto table = table_of_many();
  if (!is_right(state, table)) return;
  for (auto _ : state) benchmark::DoNotOptimize(table.why_not_in(0));
}

void list_devices(benchmark::State& state) {
  const auto table = table_of_many();
  if (!is_right(state, table)) return;
  for (auto _ : state) {
    benchmark::DoNotOptimize(pools::devices_of(table.pools().pools[0], table.pools().functions));
  }
}

void grant_one(benchmark::State& state) {
  const auto table = table_of_many();
  if (!is_right(state, table)) return;
  const auto& pool = table.pools().pools[0];
  const auto id = table.pools().functions[pool.members.back().function].id;
  for (auto _ : state)
    benchmark::DoNotOptimize(allocation::grant_of(table, 0, {id}, config::HandOut::nri));
}

void prefer_functions(benchmark::State& state) {
  inject::InjectionPolicy policy;
  policy.pools = pool_of_each_port(pools::Fact::pf_name);
  auto& all = policy.pools.front();
  all.include.front().conditions.clear();
  policy.pools.resize(1);
  const inject::DecisionTable table(thousand_functions(), {}, std::move(policy));
  if (!is_right(state, table)) return;
  const auto& pools = table.pools();
  const auto devices = pools::devices_of(pools.pools[0], pools.functions);
  pools::Wish wish;
  for (const auto& device : devices) wish.available.push_back(device.id);
  wish.size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(pools::prefer(devices, pools.functions, wish));
}

/// Slots that are all alike.
void prefer_slots(benchmark::State& state) {
  pools::Pool pool;
  pool.spec.slots = static_cast<unsigned>(state.range(0));
  pool.members = {{}};
  pools::Wish wish;
  for (const auto& device : pools::devices_of(pool, {})) wish.available.push_back(device.id);
  wish.size = 1;
  for (auto _ : state) benchmark::DoNotOptimize(pools::prefer(pool, {}, wish));
}

/// Slots of eight NICs.
void prefer_slots_of_nics(benchmark::State& state) {
  const auto slots = static_cast<unsigned>(state.range(0)) / kPorts;
  pools::Pool pool;
  pool.spec.slots_per_nic = slots;
  std::vector<pools::NetFunction> functions;
  for (unsigned port = 0; port < kPorts; ++port) {
    pool.members.push_back({port, 0, pools::MemberState::ready, ""});
    pools::NetFunction function;
    function.pci = node::PciAddress{0, static_cast<std::uint8_t>(port), 0, 0};
    function.id = function.pci->str();
    functions.push_back(function);
  }
  const auto devices = pools::devices_of(pool, functions);
  pools::Wish wish;
  for (const auto& device : devices) wish.available.push_back(device.id);
  wish.size = kPorts;
  for (auto _ : state) benchmark::DoNotOptimize(pools::prefer(devices, functions, wish));
}

BENCHMARK_CAPTURE(make_table, pf_names, pools::Fact::pf_name)
    ->Name("many_decision_table_by_pf_names")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(make_table, root_devices, pools::Fact::root_device)
    ->Name("many_decision_table_by_root_devices")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(update_ledgers)->Name("many_ledger_updates")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(change, well, false)->Name("many_table_and_lists")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(change, all_down, true)
    ->Name("many_table_and_lists_all_down")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(say_why_not)->Name("many_why_not_in")->Unit(benchmark::kMicrosecond);
BENCHMARK(list_devices)->Name("many_devices_of")->Unit(benchmark::kMicrosecond);
BENCHMARK(grant_one)->Name("many_grant_of")->Unit(benchmark::kMicrosecond);
BENCHMARK(prefer_functions)->Name("many_prefer")->Arg(1)->Arg(8)->Unit(benchmark::kMicrosecond);
BENCHMARK(prefer_slots)
    ->Name("prefer_identical_slots")
    ->Arg(1 << 10)
    ->Arg(1 << 16)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(prefer_slots_of_nics)
    ->Name("prefer_slots_of_nics")
    ->Arg(1 << 10)
    ->Arg(1 << 16)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace railhead::bench
