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
  const auto step = step_of(plan, "others/ib-node-config");
  EXPECT_EQ(step.state, StepState::parked);
  EXPECT_THAT(step.reason, HasSubstr("kubectl delete daemonset -n kube-system ib-node-config"));
  EXPECT_THAT(step_of(plan, "others/nvidia-peermem-reloader").reason, HasSubstr("gpu-resources"));
  EXPECT_THAT(step_of(plan, "others/nri-plugin-ulimit-adjuster").reason, HasSubstr("annotation"));
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
}

TEST(PlanNri, a_schema_that_nobody_knows_is_left_alone) {
  const NodeTree tree;
  for (const std::string version : {"4", "-1", "\"2\"", "4294967298", "[2]"}) {
    tree.write("etc/containerd/config.toml", "version = " + version + "\n");
    const auto plan = make_plan(tree.machine(), wanted("nri: true"), Risk::live).value();
    EXPECT_EQ(plan.at(0).state, StepState::parked) << version;
    EXPECT_THAT(plan.at(0).reason, HasSubstr("is none that setup knows")) << version;
  }
}

}  // namespace
}  // namespace railhead::setup::test
