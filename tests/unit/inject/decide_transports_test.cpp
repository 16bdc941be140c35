// SPDX-License-Identifier: Apache-2.0
// What a container's own variables of NCCL, UCX and NVSHMEM do to a decision: nothing is taken away
// by them, what does not fit is told, and `required` refuses what leaves no RDMA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inject/decide.h"
#include "unit/inject/container_builder.h"
#include "unit/inject/pool_specs.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using test::paths;
using test::seed_node;
using test::table_of;
using test::text_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSlot = "allocation.railhead.io/rdma.io/hca";
constexpr const char* kRequired = "rdma.railhead.io/pod";
constexpr const char* kRdmaCm = "/dev/infiniband/rdma_cm";

std::string uverbs(int number) {
  return "/dev/infiniband/uverbs" + std::to_string(number);
}

pools::PoolSpec pool_of(std::vector<std::string> nics, std::optional<unsigned> slots_per_nic) {
  auto spec = test::shared_pool(pools::default_pool().name, std::move(nics));
  spec.slots_per_nic = slots_per_nic;
  return spec;
}

DecisionTable table_of_pool(pools::PoolSpec pool, node::Node node = seed_node()) {
  InjectionPolicy policy;
  policy.pools = {std::move(pool)};
  return table_of(std::move(node), std::move(policy));
}

std::string warning(const Decision& decision) {
  return text_of(decision.remarks, "environment-contradicts");
}

/// Seed 002's pod: GPUs 4 and 5, whose NIC is mlx5_2.
struct SeedPod : ContainerBuilder {
  explicit SeedPod(const std::string& variable) {
    nvidia(4).nvidia(5);
    env(variable);
  }

  SeedPod& required() {
    pod_annotation(kRequired, "required");
    return *this;
  }
};

TEST(DecideTransports, the_manual_fix_of_seed_002_is_told_of) {
  SeedPod container("NCCL_IB_HCA=mlx5_0");
  const auto decision = test::decide(container, table_of(seed_node()));
  EXPECT_EQ(decision.outcome, Outcome::adjusted);
  EXPECT_THAT(paths(decision.adjustment), ElementsAre(uverbs(2), kRdmaCm));
  EXPECT_EQ(warning(decision),
            "NCCL_IB_HCA=\"mlx5_0\" names no usable port of the container's NICs (mlx5_2:1), and "
            "NCCL takes TCP: leave it out, or name one of these");
  EXPECT_EQ(decision.off_rdma, warning(decision));
}

TEST(DecideTransports, required_refuses_what_leaves_no_rdma) {
  for (const char* variable :
       {"NCCL_IB_HCA=mlx5_0", "NCCL_IB_HCA==mlx5_0:1", "NCCL_IB_HCA=^mlx5_2", "NCCL_IB_DISABLE=1",
        "NCCL_NET=Socket", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=mlx5_0:1", "UCX_NET_DEVICES=eth0",
        "NVSHMEM_HCA_LIST=mlx5_0:1", "NVSHMEM_REMOTE_TRANSPORT=none"}) {
    SeedPod container(variable);
    const auto decision = test::decide(container.required(), table_of(seed_node()));
    const std::string text(variable);
    const auto equals = text.find('=');
    EXPECT_EQ(decision.outcome, Outcome::refused) << variable;
    EXPECT_EQ(decision.reason_code, "environment-contradicts") << variable;
    EXPECT_THAT(decision.message, StartsWith("railhead: "));
    EXPECT_THAT(decision.message,
                HasSubstr(text.substr(0, equals) + "=\"" + text.substr(equals + 1) + "\" "));
    EXPECT_THAT(decision.message, HasSubstr(": leave it out"));
    EXPECT_TRUE(decision.adjustment.empty());
  }
}

TEST(DecideTransports, required_starts_what_keeps_rdma) {
  for (const char* variable : {"NCCL_IB_HCA=mlx5_2", "NCCL_IB_HCA=mlx5_0,mlx5_2",
                               "NCCL_IB_HCA=mlx5", "NCCL_IB_HCA=", "NCCL_IB_DISABLE=0",
                               "NCCL_SOCKET_IFNAME=eth0", "UCX_TLS=all", "NCCL_NET=IB"}) {
    SeedPod container(variable);
    EXPECT_EQ(test::decide(container.required(), table_of(seed_node())).outcome, Outcome::adjusted)
        << variable;
  }
  SeedPod partly("NCCL_IB_HCA=mlx5_0,mlx5_2");
  EXPECT_THAT(warning(test::decide(partly, table_of(seed_node()))),
              HasSubstr("names mlx5_0, which the container is not given"));
  SeedPod fits("NCCL_IB_HCA=mlx5_2:1");
  EXPECT_EQ(warning(test::decide(fits, table_of(seed_node()))), "");
}

TEST(DecideTransports, who_gets_no_rdma_hears_nothing) {
  ContainerBuilder plain;
  plain.env("NCCL_IB_DISABLE=1");
  EXPECT_EQ(warning(test::decide(plain, table_of(seed_node()))), "");
  SeedPod opted_out("NCCL_IB_DISABLE=1");
  opted_out.pod_annotation(kRequired, "none");
  EXPECT_EQ(warning(test::decide(opted_out, table_of(seed_node()))), "");
}

TEST(DecideTransports, a_slot_of_the_whole_pool_gives_what_is_named) {
  const auto table = table_of_pool(pool_of({"mlx5_*"}, std::nullopt));
  for (const char* variable :
       {"NCCL_IB_HCA=mlx5_0", "UCX_NET_DEVICES=mlx5_0:1", "NVSHMEM_HCA_LIST=mlx5_0"}) {
    SeedPod container(variable);
    container.annotation(kSlot, "");
    const auto decision = test::decide(container.required(), table);
    EXPECT_EQ(decision.outcome, Outcome::adjusted) << variable;
    EXPECT_THAT(paths(decision.adjustment), ElementsAre(uverbs(0), uverbs(2), kRdmaCm)) << variable;
    EXPECT_THAT(warning(decision),
                HasSubstr(" names mlx5_0: added, because a slot admits to all NICs of the pool; "
                          "nearer to the container's GPUs: mlx5_2"));
    EXPECT_EQ(decision.off_rdma, "");
    EXPECT_THAT(test::missing(container, table), Contains(uverbs(0)));
  }
}

TEST(DecideTransports, a_beginning_of_all_names_adds_nothing) {
  SeedPod container("NCCL_IB_HCA=mlx5");
  container.annotation(kSlot, "");
  const auto decision = test::decide(container, table_of_pool(pool_of({"mlx5_*"}, std::nullopt)));
  EXPECT_THAT(paths(decision.adjustment), ElementsAre(uverbs(2), kRdmaCm));
  EXPECT_EQ(warning(decision), "");
}

TEST(DecideTransports, nothing_outside_of_what_was_allocated_is_added) {
  const auto refuses = [](SeedPod& container, const DecisionTable& table) {
    const auto decision = test::decide(container, table);
    EXPECT_THAT(paths(decision.adjustment), Not(Contains(uverbs(0))));
    EXPECT_THAT(warning(decision), HasSubstr("names no usable port"));
  };
  SeedPod other_pool("NCCL_IB_HCA=mlx5_0");
  refuses(other_pool.required(), table_of(seed_node()));
  SeedPod outside("NCCL_IB_HCA=mlx5_0");
  outside.annotation(kSlot, "");
  refuses(outside, table_of_pool(pool_of({"mlx5_1", "mlx5_2"}, std::nullopt)));
  SeedPod one_slot("NCCL_IB_HCA=mlx5_0");
  const auto per_nic = table_of_pool(pool_of({"mlx5_*"}, 10));
  one_slot.annotation(kSlot, per_nic.node().nics[2].pci->str());
  refuses(one_slot, per_nic);
  SeedPod narrowed("NCCL_IB_HCA=mlx5_0");
  narrowed.annotation(kSlot, "").pod_annotation("nics.railhead.io/pod", "mlx5_2");
  refuses(narrowed, table_of_pool(pool_of({"mlx5_*"}, std::nullopt)));
  SeedPod down("NCCL_IB_HCA=mlx5_0");
  down.annotation(kSlot, "");
  node::Node node = seed_node();
  test::set_down(node, 0);
  refuses(down, table_of_pool(pool_of({"mlx5_*"}, std::nullopt), node));
}

/// A slot of three NICs, GPUs of one of them, an annotation and a variable that each want another.
TEST(DecideTransports, slot_annotation_and_variable_at_odds_are_each_named) {
  const auto table = table_of_pool(pool_of({"mlx5_1", "mlx5_2", "mlx5_3"}, std::nullopt));
  const auto pod = [&](const char* nics, bool required) {
    SeedPod container("NCCL_IB_HCA=mlx5_3");
    container.annotation(kSlot, "").pod_annotation("nics.railhead.io/pod", nics);
    if (required) container.required();
    return test::decide(container, table);
  };
  const std::string by_variable =
      "NCCL_IB_HCA=\"mlx5_3\" names no usable port of the container's NICs (mlx5_2:1), and NCCL "
      "takes TCP: leave it out, or name one of these";
  const auto started = pod("mlx5_0,mlx5_2", false);
  EXPECT_THAT(paths(started.adjustment), ElementsAre(uverbs(2), kRdmaCm)) << "what is right stays";
  EXPECT_EQ(started.remarks.size(), 2U);
  EXPECT_EQ(
      text_of(started.remarks, "annotation-refused"),
      "\"nics.railhead.io/pod\": \"mlx5_0\" is not due to this container; it may only narrow");
  EXPECT_EQ(warning(started), by_variable);

  EXPECT_EQ(pod("mlx5_0,mlx5_2", true).message,
            "railhead: container \"main\" is not started, because \"rdma.railhead.io/pod\" is "
            "required and not met: " +
                by_variable);
  EXPECT_EQ(pod("mlx5_0", false).message,
            "railhead: container \"main\" is not started, because it holds rdma.io/hca and would "
            "not get all of that: \"nics.railhead.io/pod\" names no NIC that is due");
}

TEST(DecideTransports, a_privileged_container_can_open_what_it_names) {
  const auto table = table_of_pool(pool_of({"mlx5_2"}, std::nullopt));
  ContainerBuilder container;
  container.env("NCCL_IB_HCA=mlx5_0").annotation(kSlot, "");
  EXPECT_THAT(warning(test::decide(container, table)), HasSubstr("names no usable port"));
  EXPECT_EQ(warning(test::decide(container.privileged(), table)), "");
}

TEST(DecideTransports, devices_from_elsewhere_count_as_given) {
  SeedPod fits("NCCL_IB_HCA=mlx5_0");
  fits.device(uverbs(0), 231, 192);
  EXPECT_EQ(warning(test::decide(fits, table_of(seed_node()))), "");
  SeedPod unknown("NCCL_IB_HCA=mlx5_0");
  unknown.device(uverbs(0), 231, 250);
  EXPECT_EQ(warning(test::decide(unknown, table_of(seed_node()))), "");
}

TEST(DecideTransports, gids_are_known_on_the_host_network_only) {
  node::Node node = test::as_roce(seed_node());
  for (node::Nic& nic : node.nics) nic.ports[0].gids = {{0, "fe80::1", {}, {}}, {1, "::1", {}, {}}};
  const auto table = table_of_pool(pool_of({"mlx5_*"}, std::nullopt), node);
  SeedPod host("NCCL_IB_GID_INDEX=3");
  host.annotation(kSlot, "");
  EXPECT_THAT(warning(test::decide(host, table)),
              HasSubstr("is a GID that mlx5_2:1 does not have"));
  SeedPod present("NCCL_IB_GID_INDEX=1");
  present.annotation(kSlot, "");
  EXPECT_EQ(warning(test::decide(present, table)), "");
  SeedPod own("NCCL_IB_GID_INDEX=3");
  own.annotation(kSlot, "").own_network();
  EXPECT_EQ(warning(test::decide(own, table)), "");
}

TEST(DecideTransports, an_idle_function_of_an_exclusive_pool_is_usable) {
  node::Node node = test::as_roce(seed_node());
  test::set_down(node, 0);
  auto spec = pool_of({"mlx5_0"}, std::nullopt);
  spec.mode = pools::PoolMode::exclusive;
  const auto table = table_of_pool(spec, node);
  ContainerBuilder container;
  container.annotation(kSlot, table.node().nics[0].pci->str()).env("NCCL_IB_HCA=mlx5_1");
  EXPECT_THAT(warning(test::decide(container, table)), HasSubstr("NICs (mlx5_0:1)"));
}

TEST(DecideTransports, efa_is_no_affair_of_nccls_own_transport) {
  node::Node node = seed_node();
  for (node::Nic& nic : node.nics) {
    nic.driver = "efa";
    nic.ports[0].link_layer = node::LinkLayer::unknown;
  }
  SeedPod container("NCCL_IB_DISABLE=1");
  EXPECT_EQ(warning(test::decide(container, table_of(node))), "");
}

TEST(DecideTransports, facts_tell_of_an_environment_with_what_is_there) {
  const auto table = table_of(seed_node());
  SeedPod before("NCCL_IB_HCA=mlx5_0");
  EXPECT_EQ(test::facts(before, table).off_rdma, "");
  SeedPod after("NCCL_IB_HCA=mlx5_0");
  after.device(uverbs(2), 231, 194);
  EXPECT_THAT(test::facts(after, table).off_rdma, StartsWith("NCCL_IB_HCA=\"mlx5_0\" names no"));
  SeedPod off("NCCL_IB_DISABLE=1");
  EXPECT_THAT(test::facts(off, table).off_rdma, StartsWith("NCCL_IB_DISABLE=\"1\" turns"));
}

}  // namespace
}  // namespace railhead::inject
