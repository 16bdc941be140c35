// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/setup/node_tree.h"
#include "usage/nfs_declarations.h"

namespace railhead::setup::test {
namespace {

using testing::HasSubstr;

constexpr const char* kWanted =
    "nfs:\n"
    "  - what: nfs-server.internal.example.com:/exports/ai-data\n"
    "    where: /mnt/ai-data/\n"
    "    options: vers=4.1,nconnect=16\n";
constexpr const char* kUnit = "etc/systemd/system/mnt-ai\\x2ddata.mount";

class NfsTest : public testing::Test {
 protected:
  NfsTest() {
    tree_.write("lib/modules/6.1.0-test/modules.dep", "kernel/rpcrdma.ko:\n");
    tree_.write("sys/module/rpcrdma/initstate", "live\n");
  }

  Plan plan() { return make_plan(tree_.machine(), wanted(kWanted), Risk::restart).value(); }

  NodeTree tree_;
  TreeKernel kernel_{tree_};
};

TEST_F(NfsTest, a_mount_is_made_and_taken_back) {
  const auto before = tree_.everything();
  const auto machine = tree_.machine();
  const auto outcome = apply(machine, kernel_, wanted(kWanted), Risk::restart, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(kernel_.started, std::vector<std::string>{"mnt-ai\\x2ddata.automount"});
  EXPECT_EQ(step_of(plan(), "nfs.started/mnt/ai-data").state, StepState::done);
  ASSERT_TRUE(revert(machine, kernel_, kSilent));
  EXPECT_EQ(kernel_.stopped, kernel_.started);
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(NfsTest, its_unit_is_one_that_railhead_nfs_reads) {
  ASSERT_TRUE(apply(tree_.machine(), kernel_, wanted(kWanted), Risk::restart, kSilent));
  const auto text = tree_.read(kUnit);
  EXPECT_THAT(text, HasSubstr("After=network-online.target rdma-hw.target"));
  const auto unit = usage::parse_mount_unit(kUnit, "mnt-ai\\x2ddata.mount", text);
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->refused, "");
  EXPECT_EQ(unit->mount_point, "/mnt/ai-data");
  EXPECT_EQ(unit->options, "rdma,port=20049,vers=4.1,nconnect=16");
}

TEST_F(NfsTest, without_systemd_it_waits) {
  fs::remove_all(tree_.at("run/systemd"));
  const auto outcome =
      apply(tree_.machine(), kernel_, wanted(kWanted), Risk::restart, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "nfs.units/mnt/ai-data").state, StepState::done);
  EXPECT_EQ(step_of(outcome.steps, "nfs.started/mnt/ai-data").reason, "systemd does not run here");
}

TEST_F(NfsTest, beneath_a_driver_container_it_is_refused) {
  fs::create_directories(tree_.at("run/mellanox/drivers"));
  const auto step = step_of(plan(), "nfs.units/mnt/ai-data");
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_THAT(step.reason, HasSubstr("reloads the RDMA stack"));
  EXPECT_TRUE(step.changes.empty());
}

TEST_F(NfsTest, one_that_fell_back_is_not_as_wanted) {
  tree_.write("proc/1/mountstats",
              "device nas:/x mounted on /mnt/ai-data with fstype nfs4 statvers=1.1\n"
              "\topts:\trw,vers=4.1,proto=rdma,port=20049\n"
              "\txprt:\ttcp 0 0 1 0 0 5 5 0 5 0 2 0 0\n");
  const auto step = step_of(plan(), "nfs.transport/mnt/ai-data");
  EXPECT_EQ(step.state, StepState::parked);
  EXPECT_EQ(step.before, "tcp");
  EXPECT_THAT(step.reason, HasSubstr("railhead doctor"));
}

TEST(NfsWish, what_systemd_would_expand_is_refused) {
  for (const auto* bad :
       {"nfs: [{what: 'a:/b', where: '/mnt/%i'}]", "nfs: [{what: 'a:/b', where: mnt}]",
        "nfs: [{what: ab, where: /mnt}]", "nfs: [{what: 'a:/b', where: /mnt/../etc}]",
        "nfs: [{what: 'a:/b', where: /}]", "nfs: [{what: \"a:/b\\nx\", where: /mnt}]"}) {
    EXPECT_FALSE(parse_wanted("test", bad)) << bad;
  }
}

TEST(AksKubeletConfig, has_the_policy_alone) {
  EXPECT_EQ(aks_kubelet_config(wanted("kubelet: {topologyManagerPolicy: restricted}")),
            "{\"topologyManagerPolicy\": \"restricted\"}\n");
  EXPECT_EQ(aks_kubelet_config(wanted("nri: true")), "");
}

TEST(MachineConfig, keeps_network_manager_off_vfs) {
  const auto text = machine_config(
      wanted("sriov: [{nicSelector: {pfNames: ['ens8f0#0-3']}, numVfs: 4}]"), "worker");
  EXPECT_THAT(text, HasSubstr("- path: /etc/udev/rules.d/10-railhead-vfs-ens8f0.rules"));
}

TEST(MachineConfig, has_units_as_units_and_files_as_files) {
  auto want = wanted(kWanted);
  want.nri = true;
  want.modules.emplace_back("nvidia_peermem");
  want.memlock_services = {"kubelet"};
  const auto text = machine_config(want, "gpu-worker");
  EXPECT_THAT(text, HasSubstr("machineconfiguration.openshift.io/role: gpu-worker"));
  EXPECT_THAT(text, HasSubstr("- path: /etc/modules-load.d/railhead.conf"));
  EXPECT_THAT(text, HasSubstr("source: \"data:,rpcrdma%0a\""));
  EXPECT_THAT(text, HasSubstr("- name: kubelet.service\n          dropins:"));
  const auto mounts = usage::parse_nfs_manifests("test", text).value();
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].mount_point, "/mnt/ai-data");
  EXPECT_EQ(mounts[0].refused, "");
}

TEST_F(NfsTest, what_has_systemd_read_its_files_again_needs_consent) {
  const auto outcome =
      apply(tree_.machine(), kernel_, wanted(kWanted), Risk::live, kSilent).value();
  const auto started = step_of(outcome.steps, "nfs.started/mnt/ai-data");
  EXPECT_EQ(started.risk, Risk::restart);
  EXPECT_EQ(started.state, StepState::refused);
}

TEST(RiskOf, is_that_of_the_commands) {
  EXPECT_EQ(risk_of({Change::Kind::service, "containerd", ""}), Risk::restart);
  EXPECT_EQ(risk_of({Change::Kind::unit, "mnt.automount", ""}), Risk::restart);
  EXPECT_EQ(risk_of({Change::Kind::link, "ens8f0/rings.rx", "8192"}), Risk::restart);
  EXPECT_EQ(risk_of({Change::Kind::link, "ens8f0/coalesce.rx-usecs", "8"}), Risk::live);
  EXPECT_EQ(risk_of({Change::Kind::module, "ib_umad", ""}), Risk::live);
}

}  // namespace
}  // namespace railhead::setup::test
