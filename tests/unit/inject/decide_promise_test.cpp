// SPDX-License-Identifier: Apache-2.0
//
// What a container is promised and what it gets, over all combinations of what brings it something
// and what stands against it.
#include <gmock/gmock.h>

#include <functional>

#include "unit/inject/container_builder.h"
#include "unit/inject/pool_specs.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using ::testing::StartsWith;

constexpr const char* kHcaSlot = "allocation.railhead.io/rdma.io/hca";
constexpr const char* kRailSlot = "allocation.railhead.io/rdma.io/rail";
constexpr const char* kFunction = "allocation.railhead.io/example.com/alone";

InjectionPolicy three_pools() {
  InjectionPolicy policy;
  policy.pools = {test::shared_pool("rdma.io/hca", {"mlx5_*"}),
                  test::shared_pool("rdma.io/rail", {"mlx5_*"}),
                  test::shared_pool("example.com/alone", {"mlx5_3"})};
  policy.pools[1].slots_per_nic = 10;
  policy.pools[2].mode = pools::PoolMode::exclusive;
  return policy;
}

template <typename On>
struct Part {
  const char* name;
  std::function<void(On&)> apply;
};

using Parts = std::vector<Part<ContainerBuilder>>;

std::string address_of(std::size_t nic) {
  return test::seed_node().nics[nic].pci->str();
}

const std::vector<Part<node::Node>>& states_of_the_node() {
  static const std::vector<Part<node::Node>> all = {
      {"well", [](node::Node&) {}},
      {"all down",
       [](node::Node& node) {
         for (std::size_t n = 0; n < 4; ++n) test::set_down(node, n);
       }},
      {"no uverbs",
       [](node::Node& node) {
         for (auto& nic : node.nics) nic.uverbs.clear();
       }},
      {"RoCE", [](node::Node& node) { node = test::as_roce(node); }},
      {"exclusive namespaces",
       [](node::Node& node) { node.rdma_netns = node::RdmaNetns::exclusive; }},
      {"no NIC", [](node::Node& node) { node.nics.clear(); }},
  };
  return all;
}

const Parts& kinds_of_slot() {
  static const Parts all = {
      {"a shared slot", [](ContainerBuilder& one) { one.annotation(kHcaSlot, ""); }},
      {"a slot of a NIC", [](ContainerBuilder& one) { one.annotation(kRailSlot, address_of(1)); }},
      {"a function", [](ContainerBuilder& one) { one.annotation(kFunction, address_of(3)); }},
      {"a function that is gone",
       [](ContainerBuilder& one) { one.annotation(kFunction, "0000:ff:1f.7"); }},
      {"both",
       [](ContainerBuilder& one) {
         one.annotation(kHcaSlot, "").annotation(kFunction, address_of(3));
       }},
      {"one that the pod has, too",
       [](ContainerBuilder& one) { one.annotation(kHcaSlot, "").pod_annotation(kHcaSlot, ""); }},
  };
  return all;
}

const Parts& what_else_it_is() {
  static const Parts all = {
      {"nothing", [](ContainerBuilder&) {}},
      {"GPUs", [](ContainerBuilder& one) { one.nvidia(0).nvidia(4); }},
      {"a network", [](ContainerBuilder& one) { one.own_network(); }},
      {"GPUs and a network", [](ContainerBuilder& one) { one.nvidia(4).own_network(); }},
      {"a kernel", [](ContainerBuilder& one) { one.handler("kata-qemu"); }},
      {"GPUs of the environment",
       [](ContainerBuilder& one) { one.env("NVIDIA_VISIBLE_DEVICES=0,9,x"); }},
  };
  return all;
}

const Parts& what_it_says() {
  static const Parts all = {
      {"nothing", [](ContainerBuilder&) {}},
      {"NCCL off RDMA",
       [](ContainerBuilder& one) { one.env("NCCL_IB_DISABLE=1").env("UCX_TLS=tcp"); }},
      {"a far NIC", [](ContainerBuilder& one) { one.env("NCCL_IB_HCA=mlx5_0,mlx5_77"); }},
      {"a NIC that is not there",
       [](ContainerBuilder& one) { one.pod_annotation("nics.railhead.io/pod", "mlx5_77"); }},
      {"garbage",
       [](ContainerBuilder& one) {
         one.pod_annotation("nics.railhead.io/pod", std::string(5000, ','))
             .pod_annotation("devices.nri.io/pod",
                             "[{path: /dev/sda, type: b, major: 8, minor: 0}]")
             .pod_annotation("memlock.railhead.io/pod", "-1")
             .env("NCCL_IB_HCA=^=" + std::string(5000, ':'));
       }},
      {"required",
       [](ContainerBuilder& one) { one.pod_annotation("rdma.railhead.io/pod", "required"); }},
  };
  return all;
}

/// How many of its slots a container has no node of.
std::size_t empty_slots(const container::Facts& facts, const DecisionTable& table,
                        const Decision& decision) {
  const auto paths = test::paths(decision.adjustment);
  const auto has_node = [&](std::size_t nic) {
    const auto& uverbs = table.node().nics[nic].uverbs;
    return std::any_of(uverbs.begin(), uverbs.end(), [&](const auto& device) {
      return std::find(paths.begin(), paths.end(), device.path) != paths.end();
    });
  };
  const auto& held = facts.allocated;
  const auto empty = std::count_if(held.shared.begin(), held.shared.end(), [&](const auto& slot) {
    return std::none_of(slot.pool.begin(), slot.pool.end(), has_node);
  });
  const auto lost = std::count_if(held.exclusive.begin(), held.exclusive.end(),
                                  [&](std::size_t nic) { return !has_node(nic); });
  return static_cast<std::size_t>(empty + lost) + held.gone.size() + (held.copied.empty() ? 0 : 1);
}

TEST(Promise, no_container_has_a_slot_and_no_nodes) {
  std::size_t started = 0;
  for (const auto& machine : states_of_the_node()) {
    node::Node node = test::seed_node();
    machine.apply(node);
    const auto table = test::table_of(std::move(node), three_pools());
    for (const auto& slot : kinds_of_slot()) {
      for (const auto& other : what_else_it_is()) {
        for (const auto& word : what_it_says()) {
          ContainerBuilder container;
          slot.apply(container);
          other.apply(container);
          word.apply(container);
          const auto facts = test::facts(container, table);
          const auto decision = decide(container.request(), facts, table, test::able());
          SCOPED_TRACE(std::string(machine.name) + "; " + slot.name + "; " + other.name + "; " +
                       word.name + ": " + decision.message);
          if (decision.outcome == Outcome::refused) {
            EXPECT_THAT(decision.message,
                        StartsWith("railhead: container \"main\" is not started"));
            EXPECT_TRUE(decision.adjustment.empty());
            continue;
          }
          ++started;
          EXPECT_EQ(empty_slots(facts, table, decision), 0U);
        }
      }
    }
  }
  EXPECT_GT(started, 100U);
}

}  // namespace
}  // namespace railhead::inject
