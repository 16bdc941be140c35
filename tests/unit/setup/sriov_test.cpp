// SPDX-License-Identifier: Apache-2.0
// Virtual functions, by a SriovNetworkNodePolicy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/boot_id.h"
#include "setup/functions.h"
#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// As the full-stack guide for OpenShift prints it, with its indentation.
constexpr const char* kPolicy = R"(apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata:
  name: gpu-rdma-vfs
  namespace: openshift-sriov-network-operator
spec:
  nodeSelector:
    node-role.kubernetes.io/gpu-worker: ""
  resourceName: sriov_rdma_vf
  numVfs: 8
  nicSelector:
    vendor: "15b3"
    deviceID: "101d"
    pfNames: ["ens8f0"]
  deviceType: netdevice
  isRdma: true
  linkType: ETH
  mtu: 9000
)";

constexpr const char* kCount = "sriov.vfs/0000:3b:00.0";

class SriovTest : public testing::Test {
 protected:
  SriovTest() { tree_.physical_function(); }

  Step count_step(const std::string& text, Risk allowed = Risk::reboot) {
    return step_of(make_plan(tree_.machine(), wanted(text), allowed).value(), kCount);
  }

  NodeTree tree_;
  TreeKernel kernel_{tree_};
};

std::string policy(const std::string& more) {
  return "sriov: [{resourceName: vf, nicSelector: {vendor: 15B3}, " + more + "}]";
}

TEST_F(SriovTest, a_published_policy_is_done_and_taken_back) {
  const auto before = tree_.everything();
  const auto outcome =
      apply(tree_.machine(), kernel_, wanted(kPolicy), Risk::restart, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(outcome.steps.size(), 2U + 8 * 2);
  for (const auto& step : outcome.steps) EXPECT_EQ(step.state, StepState::done) << step.id;
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0/mtu"), "9000\n");
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0v7/mtu"), "9000\n");
  const auto again = make_plan(tree_.machine(), wanted(kPolicy), Risk::live);
  for (const auto& step : again.value()) EXPECT_EQ(step.state, StepState::done) << step.id;
  EXPECT_FALSE(revert(tree_.machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(SriovTest, more_than_the_card_has_is_refused) {
  EXPECT_EQ(count_step(policy("numVfs: 9")).state, StepState::refused);
  EXPECT_THAT(count_step(policy("numVfs: 9")).reason, HasSubstr("0000:3b:00.0 can have 8"));
  tree_.write(NodeTree::path_of("0000:3b:00.0") + "sriov_totalvfs", "0\n");
  EXPECT_THAT(count_step(policy("numVfs: 1")).reason, HasSubstr("has no SR-IOV"));
}

TEST_F(SriovTest, another_number_goes_by_way_of_none_and_needs_consent) {
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 2));
  EXPECT_EQ(count_step(policy("numVfs: 4"), Risk::live).state, StepState::refused);
  EXPECT_EQ(count_step(policy("numVfs: 4"), Risk::live).reason,
            "needs --allow R2: all of them go first");
  EXPECT_EQ(count_step(policy("numVfs: 4")).state, StepState::todo);
  EXPECT_EQ(count_step(policy("numVfs: 2")).state, StepState::done);
}

TEST_F(SriovTest, functions_in_use_stay) {
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 2));
  fs::remove_all(tree_.at(NodeTree::path_of("0000:3b:01.1") + "net"));
  const auto step = count_step(policy("numVfs: 4"));
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_EQ(step.reason, "all would go, and 0000:3b:01.1 has no netdev here: a pod may have it");
}

TEST_F(SriovTest, taken_back_functions_in_use_stay) {
  const auto want = wanted(policy("numVfs: 2"));
  ASSERT_FALSE(apply(tree_.machine(), kernel_, want, Risk::live, kSilent).value().has_failed);
  fs::remove_all(tree_.at(NodeTree::path_of("0000:3b:01.0") + "net"));
  const auto outcome = revert(tree_.machine(), kernel_, kSilent).value();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "revert.functions/0000:3b:00.0").state, StepState::refused);
  EXPECT_EQ(tree_.read(NodeTree::path_of("0000:3b:00.0") + "sriov_numvfs"), "2\n");
}

TEST_F(SriovTest, externally_managed_ones_keep_their_number) {
  EXPECT_THAT(count_step(policy("numVfs: 2, externallyManaged: true")).reason,
              HasSubstr("externallyManaged"));
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 4));
  EXPECT_EQ(count_step(policy("numVfs: 2, externallyManaged: true")).state, StepState::done);
}

TEST_F(SriovTest, a_part_of_the_functions_gets_the_mtu) {
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 3));
  const auto plan =
      make_plan(tree_.machine(),
                wanted("sriov: [{resourceName: vf, nicSelector: {pfNames: ['ens8f0#1-2']}, "
                       "numVfs: 3, mtu: 4200}]"),
                Risk::reboot)
          .value();
  EXPECT_THAT(states(plan),
              ElementsAre("sriov.vfs/0000:3b:00.0 done", "sriov.mtu/0000:3b:00.0 todo",
                          "sriov.mtu/0000:3b:01.1 parked", "sriov.mtu/0000:3b:01.2 parked"));
  EXPECT_EQ(plan.back().reason, "after that of its PF: ens8f0 has 1500");
  tree_.write("sys/class/net/ens8f0/mtu", "9000\n");
  const auto after = make_plan(tree_.machine(),
                               wanted("sriov: [{nicSelector: {pfNames: ['ens8f0#1-2']}, "
                                      "numVfs: 3, mtu: 4200}]"),
                               Risk::live);
  EXPECT_EQ(after.value().back().state, StepState::todo);
}

TEST_F(SriovTest, an_mtu_is_never_lowered) {
  tree_.write("sys/class/net/ens8f0/mtu", "9000\n");
  const auto plan =
      make_plan(tree_.machine(), wanted(policy("numVfs: 0, mtu: 1500")), Risk::reboot).value();
  EXPECT_EQ(step_of(plan, "sriov.mtu/0000:3b:00.0").state, StepState::done);
}

TEST_F(SriovTest, a_function_whose_driver_gives_no_rdma_waits) {
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 1));
  fs::remove_all(tree_.at(NodeTree::path_of("0000:3b:01.0") + "infiniband"));
  const auto plan =
      make_plan(tree_.machine(), wanted(policy("numVfs: 1, isRdma: true")), Risk::reboot).value();
  const auto& step = step_of(plan, "sriov.identity/0000:3b:01.0");
  EXPECT_EQ(step.state, StepState::parked);
  EXPECT_THAT(step.reason, HasSubstr("mlx5_core gives it no RDMA device here"));
}

class VfioTest : public SriovTest {
 protected:
  VfioTest() {
    tree_.write("lib/modules/6.1.0-test/modules.dep", "kernel/vfio-pci.ko:\n");
    fs::create_directories(tree_.at("sys/kernel/iommu_groups/7"));
    give_iommu("0000:3b:00.0");
  }

  void give_iommu(const std::string& address) {
    fs::create_directory_symlink("../../../../kernel/iommu_groups/7",
                                 tree_.at(NodeTree::path_of(address) + "iommu_group"));
  }

  /// Made by hand, so that each has its group.
  void make_functions(unsigned count) {
    ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", count));
    for (unsigned i = 0; i < count; ++i) give_iommu(TreeKernel::virtual_function(i));
  }

  std::string driver_of(unsigned number) {
    return fs::read_symlink(
               tree_.at(NodeTree::path_of(TreeKernel::virtual_function(number)) + "driver"))
        .filename();
  }

  Step driver_step(Risk allowed = Risk::restart) {
    return step_of(make_plan(tree_.machine(), wanted(text_), allowed).value(),
                   "sriov.driver/0000:3b:01.0");
  }

  const std::string text_ = policy("numVfs: 2, deviceType: vfio-pci");
};

TEST_F(VfioTest, functions_for_virtual_machines_are_bound_and_given_back) {
  make_functions(2);
  const auto before = tree_.everything();
  const auto outcome = apply(tree_.machine(), kernel_, wanted(text_), Risk::live, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "sriov.driver/0000:3b:01.1").before, "mlx5_core");
  EXPECT_EQ(driver_of(1), "vfio-pci");
  EXPECT_FALSE(revert(tree_.machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(driver_of(1), "mlx5_core");
  fs::remove(tree_.at("sys/bus/pci/drivers/vfio-pci"));
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(VfioTest, made_and_bound_they_go_again) {
  ASSERT_TRUE(apply(tree_.machine(), kernel_, wanted(policy("numVfs: 2")), Risk::live, kSilent));
  for (unsigned i = 0; i < 2; ++i) give_iommu(TreeKernel::virtual_function(i));
  ASSERT_FALSE(
      apply(tree_.machine(), kernel_, wanted(text_), Risk::live, kSilent).value().has_failed);
  const auto plan = plan_revert(tree_.machine()).value();
  for (const auto& step : plan)
    EXPECT_NE(step.state, StepState::refused) << step.id << ": " << step.reason;
  const auto outcome = revert(tree_.machine(), kernel_, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(tree_.read(NodeTree::path_of("0000:3b:00.0") + "sriov_numvfs"), "0\n");
}

TEST_F(VfioTest, one_that_a_virtual_machine_has_open_stays) {
  make_functions(2);
  ASSERT_TRUE(apply(tree_.machine(), kernel_, wanted(text_), Risk::live, kSilent));
  tree_.write(NodeTree::path_of("0000:3b:01.0") + "enable", "1\n");
  const auto outcome = revert(tree_.machine(), kernel_, kSilent).value();
  EXPECT_EQ(step_of(outcome.steps, "revert.driver/0000:3b:01.0").reason,
            "a virtual machine uses it");
  EXPECT_EQ(driver_of(0), "vfio-pci");
  EXPECT_EQ(driver_of(1), "mlx5_core");
}

TEST_F(VfioTest, without_an_iommu_none_is_made) {
  fs::remove(tree_.at(NodeTree::path_of("0000:3b:00.0") + "iommu_group"));
  EXPECT_EQ(count_step(text_).state, StepState::refused);
  EXPECT_THAT(count_step(text_).reason, HasSubstr("0000:3b:00.0 has no IOMMU"));
}

TEST_F(VfioTest, one_that_shares_its_group_with_a_driver_is_refused) {
  make_functions(2);
  fs::create_directories(tree_.at("sys/module/vfio_pci"));
  const auto group = tree_.at(NodeTree::path_of("0000:3b:01.0") + "iommu_group/devices");
  for (const auto* address : {"0000:3b:01.0", "0000:3b:01.1", "0000:3a:00.0"})
    fs::create_directories(group / address);
  fs::create_directories(tree_.at("sys/bus/pci/devices/0000:3a:00.0"));
  fs::create_directory_symlink("../../drivers/pcieport",
                               tree_.at("sys/bus/pci/devices/0000:3a:00.0/driver"));
  EXPECT_EQ(driver_step().state, StepState::todo) << "a port and the function's sibling";
  fs::create_directories(group / "0000:3b:00.0");
  EXPECT_EQ(driver_step().state, StepState::refused);
  EXPECT_THAT(driver_step().reason,
              HasSubstr("shares its IOMMU group with 0000:3b:00.0 (mlx5_core)"));
}

TEST_F(VfioTest, one_whose_netdev_is_up_needs_consent) {
  make_functions(2);
  fs::create_directories(tree_.at("sys/module/vfio_pci"));
  EXPECT_EQ(driver_step(Risk::live).state, StepState::todo);
  tree_.write(NodeTree::path_of("0000:3b:01.0") + "net/ens8f0v0/flags", "0x1003\n");
  EXPECT_EQ(driver_step(Risk::live).reason, "needs --allow R2");
  EXPECT_EQ(driver_step(Risk::restart).state, StepState::todo);
}

TEST_F(VfioTest, one_that_a_pod_has_stays) {
  make_functions(2);
  fs::create_directories(tree_.at("sys/module/vfio_pci"));
  fs::remove_all(tree_.at(NodeTree::path_of("0000:3b:01.0") + "net"));
  EXPECT_EQ(driver_step().state, StepState::refused);
  EXPECT_THAT(driver_step().reason, HasSubstr("a pod may have it"));
}

/// The program is ended at a state between; what is on the disk is all that the next run has.
struct Death {};

class EndedTest : public VfioTest {
 protected:
  void die_at(const std::string& state) {
    kernel_.on_pass = [state](const std::string& now) {
      if (now == state) throw Death();
    };
  }

  void live() { kernel_.on_pass = nullptr; }

  void do_apply(const std::string& text) {
    const auto outcome = apply(tree_.machine(), kernel_, wanted(text), Risk::restart, kSilent);
    EXPECT_FALSE(outcome.value().has_failed);
  }

  void do_revert() {
    const auto outcome = revert(tree_.machine(), kernel_, kSilent).value();
    EXPECT_FALSE(outcome.has_failed);
    for (const auto& step : outcome.steps)
      EXPECT_EQ(step.state, StepState::done) << step.id << ": " << step.reason;
  }

  /// Ended at this state, in apply or in revert: the next revert leads back, and so does one after
  /// another apply.
  void expect_way_back(const std::string& text, const std::string& state) {
    fs::create_directories(tree_.at("sys/bus/pci/drivers/vfio-pci"));
    fs::create_directories(tree_.at("sys/module/vfio_pci"));
    const auto before = tree_.everything();
    for (const bool applies_again : {false, true}) {
      for (const bool in_revert : {false, true}) {
        SCOPED_TRACE(state + (in_revert ? " of revert" : " of apply") +
                     (applies_again ? ", applied again" : ""));
        if (in_revert) do_apply(text);
        die_at(state);
        if (in_revert) {
          EXPECT_THROW((void)revert(tree_.machine(), kernel_, kSilent), Death);
        } else {
          EXPECT_THROW((void)apply(tree_.machine(), kernel_, wanted(text), Risk::restart, kSilent),
                       Death);
        }
        live();
        if (applies_again) do_apply(text);
        do_revert();
        EXPECT_EQ(tree_.everything(), before);
      }
    }
  }
};

TEST_F(EndedTest, between_none_and_another_number) {
  make_functions(4);
  fs::remove_all(tree_.at("sys/kernel"));  // groups of functions that go and come
  for (unsigned i = 0; i < 4; ++i)
    fs::remove(tree_.at(NodeTree::path_of(TreeKernel::virtual_function(i)) + "iommu_group"));
  expect_way_back(policy("numVfs: 2"), "none");
}

TEST_F(EndedTest, between_two_drivers) {
  make_functions(2);
  expect_way_back(text_, "override");
  expect_way_back(text_, "unbound");
}

TEST_F(EndedTest, while_a_function_of_somebody_else_is_bound_anew) {
  make_functions(1);
  const auto before = tree_.everything();
  die_at("unbound");
  const auto want = wanted(policy("numVfs: 1, isRdma: true"));
  EXPECT_THROW((void)apply(tree_.machine(), kernel_, want, Risk::live, kSilent), Death);
  live();
  EXPECT_FALSE(fs::exists(tree_.at(NodeTree::path_of("0000:3b:01.0") + "driver")));
  do_revert();
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(SriovTest, of_a_boot_before_there_is_nothing_to_take_back) {
  const std::string boot_id = host::kBootId + 1;
  const std::string numvfs = NodeTree::path_of("0000:3b:00.0") + "sriov_numvfs";
  const auto want = wanted(policy("numVfs: 2, mtu: 9000"));
  tree_.write(boot_id, "one\n");
  ASSERT_FALSE(apply(tree_.machine(), kernel_, want, Risk::restart, kSilent).value().has_failed);
  // They are somebody else's by now, as is the journal where a disk was copied.
  tree_.write(boot_id, "two\n");
  const auto plan = plan_revert(tree_.machine()).value();
  for (const auto& step : plan) {
    if (step.id.find(".f") == std::string::npos) {
      EXPECT_EQ(step.state, StepState::done) << step.id;
      EXPECT_THAT(step.reason, HasSubstr("booted since")) << step.id;
    }
  }
  // Made again after the boot, they are ours, and what the boot had comes back.
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 1));
  tree_.write("sys/class/net/ens8f0/mtu", "4200\n");
  ASSERT_FALSE(apply(tree_.machine(), kernel_, want, Risk::restart, kSilent).value().has_failed);
  EXPECT_EQ(tree_.read(numvfs), "2\n");
  EXPECT_FALSE(revert(tree_.machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(tree_.read(numvfs), "1\n");
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0/mtu"), "4200\n");
}

std::string two_parts(const std::string& first, const std::string& second) {
  const auto part = [](const std::string& name, const std::string& text) {
    return "  - {resourceName: " + name + ", nicSelector: {pfNames: ['ens8f0" + text + "}\n";
  };
  return "sriov:\n" + part("a", first) + part("b", second);
}

TEST_F(SriovTest, policies_that_share_a_function_are_refused_at_first) {
  const auto plan =
      make_plan(tree_.machine(), wanted(two_parts("#0-3']}, numVfs: 8", "#3-7']}, numVfs: 8")),
                Risk::reboot)
          .value();
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan.front().state, StepState::refused);
  EXPECT_THAT(plan.front().reason, HasSubstr("VF 3 is of \"a\" and of \"b\""));
}

TEST_F(SriovTest, what_policies_say_of_a_physical_function_counts_together) {
  const auto want = wanted(two_parts("#0-1']}, numVfs: 2", "#2-3']}, numVfs: 4, mtu: 9000"));
  const auto outcome = apply(tree_.machine(), kernel_, want, Risk::restart, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(tree_.read(NodeTree::path_of("0000:3b:00.0") + "sriov_numvfs"), "4\n");
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0/mtu"), "9000\n");
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0v1/mtu"), "1500\n");
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0v3/mtu"), "9000\n");
}

TEST_F(VfioTest, one_bound_for_a_virtual_machine_is_no_netdevice) {
  make_functions(2);
  ASSERT_TRUE(kernel_.set_driver("0000:3b:01.1", "vfio-pci"));
  fs::remove_all(tree_.at(NodeTree::path_of("0000:3b:01.1") + "net"));
  const auto plan =
      make_plan(tree_.machine(), wanted(policy("numVfs: 2, isRdma: true")), Risk::reboot).value();
  const auto& step = step_of(plan, "sriov.driver/0000:3b:01.1");
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_EQ(step.reason, "0000:3b:01.1 is held by vfio-pci");
}

TEST_F(SriovTest, a_policy_that_selects_nothing_here_is_parked) {
  const auto plan = make_plan(tree_.machine(),
                              wanted("sriov: [{resourceName: vf, nicSelector: {vendor: 8086}, "
                                     "numVfs: 2}]"),
                              Risk::reboot)
                        .value();
  EXPECT_EQ(plan.front().state, StepState::parked);
  EXPECT_EQ(plan.front().title, "a network function is 8086:*, for vf");
}

TEST_F(SriovTest, a_policy_without_a_name_says_what_it_selects) {
  const auto want = wanted(
      "sriov: [{numVfs: 2, nicSelector: {vendor: 8086}}, "
      "{numVfs: 2, nicSelector: {deviceID: \"10C9\", pfNames: [ens9]}}]");
  const auto plan = make_plan(tree_.machine(), want, Risk::reboot).value();
  EXPECT_EQ(plan.front().title, "a network function is 8086:*");
  EXPECT_THAT(states(plan),
              ElementsAre("sriov.vfs/8086:* parked", "sriov.vfs/*:10c9, ens9 parked"));
}

TEST_F(SriovTest, network_manager_is_kept_off_before_there_are_functions) {
  tree_.service("NetworkManager");
  const auto before = tree_.everything();
  const auto want = wanted(policy("numVfs: 2"));
  const auto outcome = apply(tree_.machine(), kernel_, want, Risk::live, kSilent).value();
  EXPECT_THAT(states(outcome.steps),
              ElementsAre("sriov.unmanaged/0000:3b:00.0 done", "sriov.vfs/0000:3b:00.0 done"));
  EXPECT_EQ(tree_.read("etc/udev/rules.d/10-railhead-vfs-ens8f0.rules"),
            "SUBSYSTEM==\"net\", ACTION!=\"remove\", TEST==\"device/physfn/net/ens8f0\", "
            "ENV{NM_UNMANAGED}=\"1\"\n");
  ASSERT_FALSE(revert(tree_.machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(SriovTest, sr_iov_that_is_off_in_the_firmware_is_said) {
  tree_.write(NodeTree::path_of("0000:3b:00.0") + "sriov_totalvfs", "0\n");
  EXPECT_EQ(count_step(policy("numVfs: 2")).state, StepState::refused);
  EXPECT_THAT(count_step(policy("numVfs: 2")).reason, HasSubstr("off in its firmware"));
}

TEST_F(SriovTest, in_a_tree_of_files_there_is_no_kernel_to_ask) {
  const auto plan =
      make_plan(tree_.machine(false), wanted(policy("numVfs: 2")), Risk::reboot).value();
  EXPECT_EQ(plan.front().state, StepState::parked);
}

TEST_F(SriovTest, an_mtu_of_ones_own_needs_consent_and_goes_back) {
  const auto want = wanted("mtu: {ens8f0: 9000, ens9: 9000}");
  const std::string path = "sys/class/net/ens8f0/mtu";
  EXPECT_EQ(step_of(make_plan(tree_.machine(), want, Risk::live).value(), "link.mtu/ens8f0").state,
            StepState::refused);
  const auto outcome = apply(tree_.machine(), kernel_, want, Risk::restart, kSilent).value();
  EXPECT_EQ(step_of(outcome.steps, "link.mtu/ens9").state, StepState::parked);
  EXPECT_EQ(tree_.read(path), "9000\n");
  ASSERT_TRUE(revert(tree_.machine(), kernel_, kSilent));
  EXPECT_EQ(tree_.read(path), "1500\n");
  EXPECT_FALSE(parse_wanted("test", "mtu: {ens8f0: 10000}"));
  EXPECT_FALSE(parse_wanted("test", "mtu: {../x: 9000}"));
}

TEST(VfPolicy, what_setup_does_not_do_is_refused_where_it_stands) {
  const auto error_of = [](const std::string& text) {
    const auto wanted = parse_wanted("policy.yaml", text);
    return wanted ? "" : wanted.error().message;
  };
  EXPECT_THAT(error_of(policy("deviceType: vdpa")), HasSubstr("neither netdevice nor vfio-pci"));
  EXPECT_THAT(error_of(policy("deviceType: vfio-pci, isRdma: true")),
              HasSubstr("exclude each other"));
  EXPECT_THAT(error_of(policy("eSwitchMode: switchdev")), HasSubstr("but legacy"));
  EXPECT_THAT(error_of(policy("numVfs: 70000")), HasSubstr("more than 65535"));
  EXPECT_THAT(error_of(policy("mtu: 9000")), HasSubstr("no numVfs"));
  for (const auto* part : {"#", "#a-b", "#7-3", "#0x1-0x3", "#1-99999999"}) {
    EXPECT_THAT(error_of("sriov: [{nicSelector: {pfNames: ['ens8f0" + std::string(part) +
                         "']}, numVfs: 8}]"),
                HasSubstr("names no functions"))
        << part;
  }
  EXPECT_THAT(error_of("sriov: [{nicSelector: {pfNames: ['ens8f0#0-8']}, numVfs: 8}]"),
              HasSubstr("names VF 8, and numVfs is 8"));
  EXPECT_THAT(error_of(policy("numVf: 1")), HasSubstr("there is no key \"numVf\""));
  EXPECT_THAT(error_of("sriov: [{numVfs: 1}]"), HasSubstr("nicSelector selects nothing"));
  EXPECT_THAT(error_of("sriov: {}"), HasSubstr("no list"));
  EXPECT_THAT(error_of("kind: SriovNetworkNodePolicy\n"), HasSubstr("no spec"));
}

TEST(VfGuid, is_one_of_its_own_for_each_function) {
  EXPECT_EQ(vf_guid("0c42:a103:0012:3456", 0), 0x0e42a18000123456U);
  EXPECT_EQ(vf_guid("0c42:a103:0012:3456", 7), 0x0e42a18007123456U);
  EXPECT_FALSE(vf_guid("0000:0000:0000:0000", 0));
  EXPECT_FALSE(vf_guid("", 0));
}

}  // namespace
}  // namespace railhead::setup::test
