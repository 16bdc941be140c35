// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

using testing::HasSubstr;

TEST(PlanOthers, daemon_sets_of_the_guides_are_named_for_deletion) {
  const NodeTree tree;
  for (const auto* pod :
       {"kube-system_ib-node-config-x7k2p_1-2", "gpu-resources_nvidia-peermem-reloader-aaaaa_3-4",
        "kube-system_nri-plugin-ulimit-adjuster-bbbbb_5-6", "default_job-0_7"}) {
    fs::create_directories(tree.at(std::string("var/log/pods/") + pod));
  }
  const auto plan =
      make_plan(tree.machine(), find_profile("aks-llm-d").value(), Risk::live).value();
  const auto step = step_of(plan, "others/kube-system/ib-node-config");
  EXPECT_EQ(step.state, StepState::parked);
  EXPECT_THAT(step.reason,
              HasSubstr("kubectl get daemonset -n kube-system ib-node-config -o yaml "
                        ">ib-node-config.yaml && kubectl delete -f ib-node-config.yaml"));
  EXPECT_THAT(step_of(plan, "others/gpu-resources/nvidia-peermem-reloader").reason,
              HasSubstr("-n gpu-resources"));
  EXPECT_THAT(step_of(plan, "others/kube-system/nri-plugin-ulimit-adjuster").reason,
              HasSubstr("annotation"));
}

TEST(PlanOthers, each_is_named_once_in_its_namespace_and_no_deployment_is) {
  const NodeTree tree;
  for (const auto* pod :
       {"a_ib-node-config-x7k2p_1", "a_ib-node-config-aaaaa_2", "b_ib-node-config-bbbbb_3",
        "a_ib-node-config-7d9f86b5c4-x7k2p_4", "a_ib-node-config-exporter-ccccc_5"}) {
    fs::create_directories(tree.at(std::string("var/log/pods/") + pod));
  }
  const auto plan = make_plan(tree.machine(), wanted("modules: [ib_umad]"), Risk::live).value();
  EXPECT_THAT(
      states(plan),
      testing::ElementsAre("modules.loaded/ib_umad todo", "modules.at-boot todo",
                           "others/a/ib-node-config parked", "others/b/ib-node-config parked"));
}

TEST(PlanOthers, what_is_not_replaced_is_nobodys_business) {
  const NodeTree tree;
  fs::create_directories(tree.at("var/log/pods/kube-system_ib-node-config-x7k2p_1-2"));
  EXPECT_THAT(make_plan(tree.machine(), wanted("modules: [rdma_ucm]"), Risk::live).value(),
              testing::SizeIs(2));
}

TEST(PlanKubelet, its_policy_is_looked_at_and_never_edited) {
  const NodeTree tree;
  const auto step = [&] {
    const auto want = wanted("kubelet: {topologyManagerPolicy: restricted}");
    return make_plan(tree.machine(), want, Risk::reboot).value().at(0);
  };
  EXPECT_EQ(step().state, StepState::parked);
  tree.write("var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\n");
  EXPECT_EQ(step().state, StepState::refused);
  EXPECT_EQ(step().before, "none");
  EXPECT_TRUE(step().changes.empty());
  tree.write("var/lib/kubelet/config.yaml", "topologyManagerPolicy: restricted\n");
  EXPECT_EQ(step().state, StepState::done);
  tree.write("proc/70/comm", "kubelet\n");
  tree.write("proc/70/cmdline",
             std::string("kubelet\0--topology-manager-policy=best-effort\0", 46));
  EXPECT_EQ(step().before, "best-effort") << "a flag counts more than the file";
  tree.write("proc/70/cmdline",
             std::string("kubelet\0--topology-manager-policy\0restricted\0--v\0", 49));
  EXPECT_EQ(step().before, "restricted") << "its value may be a word of its own";
}

TEST(PlanNri, a_schema_that_nobody_knows_is_left_alone) {
  const NodeTree tree;
  for (const std::string version : {"5", "-1", "\"2\"", "4294967298", "[2]"}) {
    tree.write("etc/containerd/config.toml", "version = " + version + "\n");
    const auto step = make_plan(tree.machine(), wanted("nri: true"), Risk::live).value().at(0);
    EXPECT_EQ(step.state, version == "-1" ? StepState::parked : StepState::refused) << version;
    EXPECT_TRUE(step.changes.empty()) << version;
    EXPECT_THAT(step.reason, HasSubstr("/etc/containerd/config.toml:1")) << version;
  }
}

}  // namespace
}  // namespace railhead::setup::test
