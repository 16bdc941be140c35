// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/config_space.h"
#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

using railhead::test::config_space;
using testing::HasSubstr;

constexpr const char* kReads = "gpudirect.max-read-request/0000:3b:00.0";
constexpr const char* kOrder = "gpudirect.relaxed-ordering/0000:3b:00.0";

class GpudirectTest : public testing::Test {
 protected:
  GpudirectTest() {
    tree_.physical_function();
    tree_.write("proc/sys/kernel/osrelease", "6.8.0-1017-azure\n");
    const std::string gpu = NodeTree::path_of("0000:3c:00.0");
    tree_.write(gpu + "vendor", "0x10de\n");
    tree_.write(gpu + "device", "0x2330\n");
    tree_.write(gpu + "class", "0x030200\n");
    tree_.write("proc/driver/nvidia/gpus/0000:3c:00.0/information", "Model: \t NVIDIA H100\n");
    driver("NVIDIA UNIX Open Kernel Module for x86_64  570.86.15");
  }

  void driver(const std::string& name) const {
    tree_.write("proc/driver/nvidia/version", "NVRM version: " + name + "\n");
  }

  void control(std::uint16_t value) const { tree_.write(kConfig, config_space(value)); }

  [[nodiscard]] Step step(const std::string& id) const {
    const auto plan =
        make_plan(tree_.machine(), wanted("gpudirect: {route: true, pcie: true}"), Risk::live);
    return step_of(plan.value(), id);
  }

  const std::string kConfig = NodeTree::path_of("0000:3b:00.0") + "config";
  NodeTree tree_;
  TreeKernel kernel_{tree_};
};

TEST_F(GpudirectTest, the_open_module_exports_dma_buf) {
  const auto route = step("gpudirect.route");
  EXPECT_EQ(route.state, StepState::done);
  EXPECT_EQ(route.before, "DMA-BUF");
}

TEST_F(GpudirectTest, the_proprietary_one_needs_peermem) {
  driver("NVIDIA UNIX x86_64 Kernel Module  550.54");
  EXPECT_EQ(step("gpudirect.route").state, StepState::parked);
  EXPECT_THAT(step("gpudirect.route").reason, HasSubstr("proprietary"));
  tree_.write("sys/module/nvidia_peermem/initstate", "live\n");
  EXPECT_EQ(step("gpudirect.route").before, "nvidia_peermem");
}

TEST_F(GpudirectTest, an_old_kernel_has_no_dma_buf_of_nics) {
  tree_.write("proc/sys/kernel/osrelease", "5.4.0-150-generic\n");
  EXPECT_THAT(step("gpudirect.route").reason, HasSubstr("older than 5.12"));
}

TEST_F(GpudirectTest, fields_of_device_control_are_set_and_taken_back) {
  control(0xa90f);  // bit 15 would reset the function; 512 bytes; relaxed ordering is off
  const auto before = tree_.read(kConfig);
  EXPECT_EQ(step(kReads).before, "512");
  const auto want = wanted("gpudirect: {pcie: true}");
  ASSERT_FALSE(apply(tree_.machine(), kernel_, want, Risk::live, kSilent).value().has_failed);
  EXPECT_EQ(step(kReads).before, "4096");
  EXPECT_EQ(step(kOrder).before, "1");
  EXPECT_EQ(tree_.read(kConfig), config_space(0x591f));  // and nothing else has changed
  ASSERT_TRUE(revert(tree_.machine(), kernel_, kSilent));
  EXPECT_EQ(tree_.read(kConfig), config_space(0x290f));
  EXPECT_NE(tree_.read(kConfig), before) << "bit 15 is never written";
}

TEST_F(GpudirectTest, a_function_whose_vf_a_pod_has_is_left_alone) {
  control(0x290f);
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 1));
  EXPECT_EQ(step(kReads).state, StepState::todo);
  fs::remove_all(tree_.at(NodeTree::path_of("0000:3b:01.0") + "net"));
  for (const auto* id : {kReads, kOrder}) {
    EXPECT_EQ(step(id).state, StepState::refused);
    EXPECT_THAT(step(id).reason, HasSubstr("0000:3b:01.0 has no netdev here: a pod may have it"));
    EXPECT_TRUE(step(id).changes.empty());
  }
}

TEST_F(GpudirectTest, fields_of_a_function_in_use_are_not_taken_back) {
  control(0x290f);
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 1));
  const auto want = wanted("gpudirect: {pcie: true}");
  ASSERT_FALSE(apply(tree_.machine(), kernel_, want, Risk::live, kSilent).value().has_failed);
  fs::remove_all(tree_.at(NodeTree::path_of("0000:3b:01.0") + "net"));
  EXPECT_TRUE(revert(tree_.machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(step(kReads).before, "4096");
}

TEST_F(GpudirectTest, without_the_capability_it_waits) {
  tree_.write(kConfig, config_space(0).substr(0, 64));
  EXPECT_EQ(step(kReads).state, StepState::parked);
  EXPECT_THAT(step(kReads).reason, HasSubstr("CAP_SYS_ADMIN"));
}

TEST(PciField, takes_only_values_that_there_are) {
  const NodeTree tree;
  tree.physical_function();
  tree.write(NodeTree::path_of("0000:3b:00.0") + "config", config_space(0));
  const auto machine = tree.machine();
  for (const auto* value : {"64", "8192", "1000", "-1", ""})
    EXPECT_FALSE(pci_write(*machine.host, "0000:3b:00.0/max-read-request", value)) << value;
  EXPECT_FALSE(pci_write(*machine.host, "0000:3b:00.0/relaxed-ordering", "2"));
  const auto write = pci_write(*machine.host, "0000:3b:00.0/relaxed-ordering", "1").value();
  EXPECT_EQ(write.offset, 0x68);  // Device Control; 0x70 would be Link Control
  EXPECT_EQ(write.value, 0x10);
}

TEST(PlanModules, peermem_of_the_gpu_operator_is_left_alone) {
  const NodeTree tree;
  tree.write("lib/modules/6.1.0-test/modules.dep", "kernel/nvidia-peermem.ko:\n");
  const auto state = [&] {
    const auto plan = make_plan(tree.machine(), wanted("modules: [nvidia_peermem]"), Risk::live);
    return states(plan.value());
  };
  EXPECT_THAT(state(),
              testing::ElementsAre("modules.loaded/nvidia_peermem todo", "modules.at-boot todo"));
  tree.write("run/nvidia/validations/.driver-ctr-ready", "");
  EXPECT_THAT(state(), testing::ElementsAre("modules.loaded/nvidia_peermem parked"));
  fs::create_directories(tree.at("sys/module/nvidia_peermem"));
  const auto plan = make_plan(tree.machine(), wanted("modules: [nvidia_peermem]"), Risk::live);
  EXPECT_EQ(plan.value().front().reason,
            "/sys/module/nvidia_peermem, by the GPU operator's driver container");
}

}  // namespace
}  // namespace railhead::setup::test
