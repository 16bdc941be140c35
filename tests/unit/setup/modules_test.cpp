// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Plan plan_of(const NodeTree& tree, const std::string& text, bool is_live = true) {
  return make_plan(tree.machine(is_live), wanted(text), Risk::reboot).value();
}

TEST(ModuleIndex, names_what_is_loaded_first) {
  const NodeTree tree;
  const auto index = ModuleIndex::read(tree.machine()).value();
  EXPECT_EQ(index.release(), "6.1.0-test");
  ASSERT_NE(index.find("rdma_ucm"), nullptr);
  EXPECT_EQ(index.find("ib_umad")->path, "/lib/modules/6.1.0-test/kernel/ib-umad.ko.xz");
  EXPECT_THAT(index.find("rdma_ucm")->needs, ElementsAre("ib_core", "ib_umad"));
  EXPECT_TRUE(index.is_built_in("ib_uverbs"));
  EXPECT_EQ(index.find("mlx5_ib"), nullptr);
}

TEST(ModuleIndex, a_line_that_is_none_is_named) {
  const NodeTree tree;
  tree.write("lib/modules/6.1.0-test/modules.dep", "kernel/a.ko:\nnothing\n");
  EXPECT_EQ(ModuleIndex::read(tree.machine()).error().message,
            "/lib/modules/6.1.0-test/modules.dep: line 2: no colon in \"nothing\"");
}

TEST(ModuleOptions, come_from_files_and_the_command_line) {
  const NodeTree tree;
  tree.write("etc/modprobe.d/ib.conf",
             "# options ib_core a=0\noptions ib_core a=1 \\\n  b=2\noptions ib-umad x=1\n");
  tree.write("usr/lib/modprobe.d/ib.conf", "options ib_core hidden=1\n");
  tree.write("proc/cmdline", "quiet ib_core.netns_mode=0 ib-umad.y=2\n");
  const auto machine = tree.machine();
  EXPECT_EQ(module_options(*machine.host, "ib_core").parameters, "a=1 b=2 netns_mode=0");
  EXPECT_EQ(module_options(*machine.host, "ib_umad").parameters, "x=1 y=2");
  tree.write("etc/modprobe.d/z.conf", "install ib_umad /bin/true\n");
  EXPECT_EQ(module_options(*machine.host, "ib_umad").install, "/etc/modprobe.d/z.conf");
}

TEST(PlanModules, what_is_loaded_or_built_in_is_done) {
  const NodeTree tree;
  fs::create_directory(tree.at("sys/module/rdma_ucm"));
  const auto plan = plan_of(tree, "modules: [ib_umad, rdma_ucm, ib_uverbs]");
  EXPECT_THAT(states(plan),
              ElementsAre("modules.loaded/ib_umad todo", "modules.loaded/rdma_ucm done",
                          "modules.loaded/ib_uverbs done", "modules.at-boot todo"));
  EXPECT_EQ(plan.back().changes.front().value, "ib_umad\nrdma_ucm\n");
}

TEST(PlanModules, what_others_load_at_boot_is_left_to_them) {
  const NodeTree tree;
  tree.write("etc/modules-load.d/ib.conf", "# all\nib-umad\n");
  tree.write("etc/modules", "rdma_ucm\n");
  const auto plan = plan_of(tree, "modules: [ib_umad, rdma_ucm]");
  EXPECT_EQ(plan.back().state, StepState::done);
}

TEST(PlanModules, what_is_loaded_for_some_hardware_only_is_ours) {
  const NodeTree tree;
  tree.write("etc/rdma/modules/infiniband.conf", "ib_umad\n");
  EXPECT_EQ(plan_of(tree, "modules: [ib_umad]").back().state, StepState::todo);
}

TEST(PlanModules, one_that_the_kernel_lacks_is_parked_and_not_at_boot) {
  const NodeTree tree;
  const auto plan = plan_of(tree, "modules: [ib_umad, nvidia_peermem]");
  const auto& peermem = step_of(plan, "modules.loaded/nvidia_peermem");
  EXPECT_EQ(peermem.state, StepState::parked);
  EXPECT_THAT(peermem.reason,
              HasSubstr("kernel 6.1.0-test has no module nvidia_peermem: NVIDIA's"));
  EXPECT_EQ(plan.back().changes.front().value, "ib_umad\n");
}

TEST(PlanModules, peermem_that_can_be_built_says_of_what) {
  const NodeTree tree;
  const auto reason = [&] {
    return step_of(plan_of(tree, "modules: [nvidia_peermem]"), "modules.loaded/nvidia_peermem")
        .reason;
  };
  tree.write("usr/src/nvidia-570.86.15/nvidia-peermem/nvidia-peermem.c", "");
  EXPECT_THAT(reason(), HasSubstr("its source is in /usr/src/nvidia-570.86.15/nvidia-peermem, and "
                                  "the headers of this kernel are missing"));
  tree.write("lib/modules/6.1.0-test/build/Makefile", "");
  EXPECT_THAT(reason(), HasSubstr("it can be built of /usr/src/nvidia-570.86.15/nvidia-peermem"));
}

/// "ib_core" of each module that is loaded, and "nfs?" of one that may fail.
std::vector<std::string> loads(const Step& step) {
  std::vector<std::string> names;
  for (const auto& change : step.changes)
    names.push_back(change.subject + (change.is_optional ? "?" : ""));
  return names;
}

TEST(PlanModules, soft_dependencies_are_loaded_as_modprobe_does) {
  const NodeTree tree;
  tree.write("lib/modules/6.1.0-test/modules.dep",
             "a.ko: need.ko\nneed.ko:\nbefore.ko: below.ko\nbelow.ko:\nafter.ko:\nours.ko:\n");
  tree.write("lib/modules/6.1.0-test/modules.softdep",
             "# Soft dependencies extracted from modules themselves.\n"
             "softdep a pre: before none post: after\n");
  tree.write("etc/modprobe.d/x.conf", "softdep a post: ours a\n");
  EXPECT_THAT(loads(step_of(plan_of(tree, "modules: [a]"), "modules.loaded/a")),
              ElementsAre("below?", "before?", "need", "a", "after?", "ours?"));
}

TEST(PlanModules, what_is_needed_may_not_fail_for_a_soft_dependency) {
  const NodeTree tree;
  tree.write("lib/modules/6.1.0-test/modules.dep", "a.ko: b.ko\nb.ko:\nc.ko: b.ko\n");
  tree.write("lib/modules/6.1.0-test/modules.softdep", "softdep a pre: c\nsoftdep b pre: a\n");
  EXPECT_THAT(loads(step_of(plan_of(tree, "modules: [a]"), "modules.loaded/a")),
              ElementsAre("b", "c?", "a"));
}

TEST(PlanModules, a_soft_dependency_that_fails_stops_nothing) {
  const NodeTree tree;
  tree.write("lib/modules/6.1.0-test/modules.dep", "a.ko:\nb.ko:\n");
  tree.write("lib/modules/6.1.0-test/modules.softdep", "softdep a pre: b\n");
  const auto before = tree.everything();
  TreeKernel kernel(tree);
  kernel.broken = "b";
  const auto machine = tree.machine();
  const auto outcome = apply(machine, kernel, wanted("modules: [a]"), Risk::live, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_TRUE(fs::exists(tree.at("sys/module/a")));
  EXPECT_FALSE(revert(machine, kernel, kSilent).value().has_failed);
  EXPECT_EQ(tree.everything(), before);
}

TEST(PlanModules, an_alias_means_its_module) {
  const NodeTree tree;
  tree.write("lib/modules/6.1.0-test/modules.dep", "rpcrdma.ko:\n");
  tree.write("lib/modules/6.1.0-test/modules.alias",
             "# Aliases extracted from modules themselves.\nalias pci:v000015B3d* mlx5_core\n"
             "alias svcrdma rpcrdma\nalias xprtrdma rpcrdma\n");
  const auto plan = plan_of(tree, "modules: [xprtrdma, rpcrdma, svcrdma]");
  EXPECT_THAT(states(plan), ElementsAre("modules.loaded/rpcrdma todo", "modules.at-boot todo"));
  EXPECT_EQ(plan.front().title, "module rpcrdma (xprtrdma) is loaded");
  EXPECT_EQ(plan.back().changes.front().value, "rpcrdma\n");
}

TEST(PlanModules, a_compressed_one_is_not_tried_where_nobody_unpacks_it) {
  const NodeTree tree;
  fs::remove(tree.at("sys/module/compression"));
  const auto step = [&] {
    return step_of(plan_of(tree, "modules: [ib_umad]"), "modules.loaded/ib_umad");
  };
  EXPECT_EQ(step().state, StepState::parked);
  EXPECT_EQ(
      step().reason,
      "/lib/modules/6.1.0-test/kernel/ib-umad.ko.xz is compressed, and this kernel unpacks no "
      "modules itself, and there is no modprobe here: run modprobe ib_umad on the machine");
  tree.write("sys/module/compression", "zstd\n");
  EXPECT_THAT(step().reason, HasSubstr("unpacks zstd only"));
  tree.write("usr/sbin/modprobe", "");
  EXPECT_EQ(step().state, StepState::todo);
  const auto machine = tree.machine();
  EXPECT_THAT(LiveKernel(machine).load_module("ib_umad").error().message,
              HasSubstr("unpacks zstd only: modprobe ib_umad: "));
}

TEST(PlanModules, one_that_a_command_loads_is_left_to_it) {
  const NodeTree tree;
  tree.write("etc/modprobe.d/x.conf", "install ib-umad /bin/true\n");
  const auto plan = plan_of(tree, "modules: [ib_umad]");
  EXPECT_EQ(plan.front().state, StepState::parked);
  EXPECT_EQ(plan.front().reason,
            "/etc/modprobe.d/x.conf has a command for it in place of the kernel: run modprobe "
            "ib_umad");
}

TEST(PlanModules, one_that_is_blacklisted_is_not_loaded_at_boot) {
  const NodeTree tree;
  tree.write("etc/modprobe.d/x.conf", "blacklist ib_umad\n");
  const auto plan = plan_of(tree, "modules: [ib_umad, rdma_ucm]");
  EXPECT_THAT(states(plan),
              ElementsAre("modules.loaded/ib_umad todo", "modules.loaded/rdma_ucm todo",
                          "modules.blacklist/ib_umad parked", "modules.at-boot todo"));
  EXPECT_THAT(plan.at(2).reason, HasSubstr("/etc/modprobe.d/x.conf blacklists it"));
  EXPECT_EQ(plan.back().changes.front().value, "rdma_ucm\n");
}

TEST(PlanModules, of_what_is_not_there_nothing_is_said_for_the_boot) {
  const NodeTree tree;
  EXPECT_THAT(states(plan_of(tree, "modules: [nvidia_peermem]")),
              ElementsAre("modules.loaded/nvidia_peermem parked"));
  tree.write("etc/modules", "ib_umad\n");
  const auto plan = plan_of(tree, "modules: [ib_umad, ib_uverbs, nvidia_peermem]");
  EXPECT_EQ(plan.back().state, StepState::done);
  EXPECT_EQ(plan.back().reason, "without us: ib_umad, ib_uverbs");
}

TEST(PlanModules, in_a_tree_of_files_the_next_boot_loads) {
  const NodeTree tree;
  const auto plan = plan_of(tree, "modules: [ib_umad]", false);
  EXPECT_THAT(states(plan), ElementsAre("modules.loaded/ib_umad parked", "modules.at-boot todo"));
}

TEST(PlanNamespaces, wait_for_a_reboot) {
  const NodeTree tree;
  tree.write("sys/module/ib_core/parameters/netns_mode", "Y\n");
  const auto machine = tree.machine();
  const auto want = wanted("rdmaNamespaces: exclusive");
  const auto live = make_plan(machine, want, Risk::live).value();
  EXPECT_EQ(live.front().state, StepState::refused);
  EXPECT_EQ(live.front().reason, "needs --allow R4");
  const auto plan = make_plan(machine, want, Risk::reboot).value();
  EXPECT_EQ(plan.front().changes.front().value, "options ib_core netns_mode=0\n");
  tree.write("etc/modprobe.d/railhead-ib-core.conf", "options ib_core netns_mode=0\n");
  const auto after = make_plan(machine, want, Risk::live).value();
  EXPECT_EQ(after.front().state, StepState::parked);
  EXPECT_THAT(after.front().reason, HasSubstr("active after a reboot"));
  tree.write("sys/module/ib_core/parameters/netns_mode", "N\n");
  EXPECT_EQ(make_plan(machine, want, Risk::live).value().front().state, StepState::done);
}

TEST(PlanNamespaces, shared_is_the_kernels_default) {
  const NodeTree tree;
  EXPECT_EQ(plan_of(tree, "rdmaNamespaces: shared").front().state, StepState::done);
  tree.write("proc/cmdline", "ib_core.netns_mode=0\n");
  EXPECT_EQ(plan_of(tree, "rdmaNamespaces: shared").front().state, StepState::todo);
}

TEST(PlanSysctl, sets_what_differs_and_keeps_it_for_the_boot) {
  const NodeTree tree;
  tree.write("proc/sys/net/ipv4/conf/all/arp_ignore", "0\n");
  tree.write("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
  const auto plan = plan_of(tree,
                            "sysctl: {net.ipv4.conf.all.arp_ignore: 1, "
                            "net.ipv4.tcp_rmem: 4096 131072 6291456, net.none: 1}");
  EXPECT_EQ(step_of(plan, "sysctl/net.ipv4.conf.all.arp_ignore").state, StepState::todo);
  EXPECT_EQ(step_of(plan, "sysctl/net.ipv4.tcp_rmem").state, StepState::done);
  EXPECT_EQ(step_of(plan, "sysctl/net.none").reason, "the kernel has no /proc/sys/net/none");
  EXPECT_THAT(step_of(plan, "sysctl.at-boot").changes.front().value,
              HasSubstr("net.ipv4.conf.all.arp_ignore = 1\n"));
}

TEST(PlanSysctl, a_name_may_be_written_with_slashes) {
  const NodeTree tree;
  tree.write("proc/sys/net/ipv4/conf/eth0.1/arp_ignore", "0\n");
  for (const auto* name : {"net/ipv4/conf/eth0.1/arp_ignore", "net.ipv4.conf.eth0/1.arp_ignore"}) {
    const auto plan = plan_of(tree, "sysctl: {" + std::string(name) + ": 1}");
    EXPECT_EQ(plan.front().id, "sysctl/net.ipv4.conf.eth0/1.arp_ignore");
    EXPECT_EQ(plan.front().changes.front().subject, "/proc/sys/net/ipv4/conf/eth0.1/arp_ignore");
    EXPECT_EQ(plan.back().changes.front().value, "net.ipv4.conf.eth0/1.arp_ignore = 1\n");
  }
}

TEST(PlanSysctl, what_a_later_file_says_otherwise_is_named) {
  const NodeTree tree;
  tree.write("proc/sys/net/a", "1\n");
  tree.write("etc/sysctl.d/10-early.conf", "net.a = 0\n");
  tree.write("usr/lib/sysctl.d/99-same.conf", "# net.a = 7\n-net/a=  1\n");
  const auto states_now = [&] { return states(plan_of(tree, "sysctl: {net.a: 1}")); };
  EXPECT_THAT(states_now(), ElementsAre("sysctl/net.a done", "sysctl.at-boot todo"));
  tree.write("etc/sysctl.d/99-sysctl.conf", "net/a = 0\n");
  EXPECT_THAT(states_now(), ElementsAre("sysctl/net.a done", "sysctl.at-boot todo",
                                        "sysctl.kept-at-boot/net.a parked"));
  EXPECT_EQ(plan_of(tree, "sysctl: {net.a: 1}").back().reason,
            "/etc/sysctl.d/99-sysctl.conf says 0 after /etc/sysctl.d/90-railhead.conf: change it "
            "there");
}

}  // namespace
}  // namespace railhead::setup::test
