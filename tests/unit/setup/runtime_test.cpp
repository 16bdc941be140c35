// SPDX-License-Identifier: Apache-2.0
// What concerns the container runtime: NRI, memory lock, restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/setup/node_tree.h"

namespace railhead::setup {
namespace {

namespace fs = std::filesystem;
using test::NodeTree;
using test::step_of;
using test::wanted;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Step nri(const NodeTree& tree) {
  return step_of(make_plan(tree.machine(), wanted("nri: true"), Risk::reboot).value(),
                 "nri.enabled");
}

/// "PATH:\nTEXT" of each file that would be written.
std::vector<std::string> written(const Step& step) {
  std::vector<std::string> files;
  for (const auto& change : step.changes) files.push_back(change.subject + ":\n" + change.value);
  return files;
}

constexpr const char* kTable = "[plugins.\"io.containerd.nri.v1.nri\"]\n  disable = false\n";

TEST(PlanNri, a_file_that_says_no_says_yes) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml",
             "version = 3 # ours\n[plugins.'io.containerd.nri.v1.nri']\n  disable = true\n"
             "  disable_connections = true\n");
  EXPECT_THAT(written(nri(tree)),
              ElementsAre("/etc/containerd/config.toml:\nversion = 3 # ours\n"
                          "[plugins.'io.containerd.nri.v1.nri']\n  disable = false\n"
                          "  disable_connections = false\n"));
}

TEST(PlanNri, a_file_that_says_nothing_gets_the_table) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "version = 2\n");
  EXPECT_THAT(written(nri(tree)),
              ElementsAre("/etc/containerd/config.toml:\nversion = 2\n\n" + std::string(kTable)));
}

TEST(PlanNri, a_name_of_another_version_says_nothing) {
  const NodeTree tree;
  const std::string text = "version = 2\n[plugins.nri]\n  disable = false\n";
  tree.write("etc/containerd/config.toml", text);
  EXPECT_THAT(written(nri(tree)),
              ElementsAre("/etc/containerd/config.toml:\n" + text + "\n" + std::string(kTable)));
}

TEST(PlanNri, a_file_of_version_one_names_plugins_without_type) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "oom_score = -999\n");
  EXPECT_THAT(written(nri(tree)), ElementsAre("/etc/containerd/config.toml:\noom_score = -999\n\n"
                                              "[plugins.nri]\n  disable = false\n"));
}

TEST(PlanNri, a_file_that_says_nothing_at_all_becomes_one_of_version_two) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "# mine\n");
  EXPECT_THAT(
      written(nri(tree)),
      ElementsAre("/etc/containerd/config.toml:\n# mine\nversion = 2\n\n" + std::string(kTable)));
}

TEST(PlanNri, a_folder_of_drop_ins_gets_one) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml",
             "version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n");
  EXPECT_THAT(written(nri(tree)), ElementsAre("/etc/containerd/conf.d/50-railhead-nri.toml:\n"
                                              "version = 3\n\n" +
                                              std::string(kTable)));
}

TEST(PlanNri, each_file_that_says_no_is_changed) {
  const NodeTree tree;
  const std::string off = "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\n  disable = true\n";
  tree.write("etc/containerd/config.toml", "imports = ['conf.d/*.toml', 'more.toml']\n" + off);
  tree.write("etc/containerd/conf.d/a.toml", off);
  tree.write("etc/containerd/more.toml", "imports = ['config.toml']\n" + off);
  EXPECT_EQ(nri(tree).changes.size(), 3U);
}

TEST(PlanNri, without_a_file_the_socket_says_it) {
  const NodeTree tree;
  tree.service("containerd");
  EXPECT_THAT(written(nri(tree)),
              ElementsAre("/etc/containerd/config.toml:\nversion = 2\n\n" + std::string(kTable)));
  tree.write("run/nri/nri.sock", "");
  EXPECT_EQ(nri(tree).state, StepState::done);
}

TEST(PlanNri, a_file_that_is_no_toml_is_left_alone) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "version = 2\n[plugins\n");
  EXPECT_EQ(nri(tree).state, StepState::parked);
  EXPECT_THAT(nri(tree).reason, HasSubstr("/etc/containerd/config.toml: malformed: line 2"));
}

TEST(PlanNri, what_cannot_be_edited_is_refused) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "version = 2\nplugins = {}\n");
  EXPECT_EQ(nri(tree).state, StepState::refused);
  EXPECT_THAT(nri(tree).changes, IsEmpty());
}

TEST(PlanNri, the_file_of_the_running_containerd_counts) {
  const NodeTree tree;
  tree.write("proc/7/comm", "containerd\n");
  tree.write("proc/7/cmdline", std::string("containerd\0-c\0/var/lib/rancher/k3s/agent/etc/"
                                           "containerd/config.toml\0",
                                           67));
  tree.write("var/lib/rancher/k3s/agent/etc/containerd/config.toml", "version = 2\n");
  EXPECT_EQ(nri(tree).state, StepState::refused);
  EXPECT_THAT(nri(tree).reason, HasSubstr("into the template beside it"));
}

TEST(PlanNri, crio_has_it_unless_a_file_says_no) {
  const NodeTree tree;
  tree.write("etc/crio/crio.conf", "[crio.nri]\nenable_nri = false\n");
  EXPECT_THAT(written(nri(tree)), ElementsAre("/etc/crio/crio.conf.d/99-railhead-nri.conf:\n"
                                              "[crio.nri]\n  enable_nri = true\n"));
  tree.write("etc/crio/crio.conf.d/10.conf", "[crio.nri]\nenable_nri = true\n");
  EXPECT_EQ(nri(tree).state, StepState::done);
}

TEST(PlanNri, without_a_runtime_it_waits) {
  EXPECT_EQ(nri(NodeTree()).state, StepState::parked);
}

TEST(PlanNri, on_openshift_etc_belongs_to_its_operator) {
  const NodeTree tree;
  fs::create_directories(tree.at("etc/machine-config-daemon"));
  tree.write("etc/crio/crio.conf", "[crio.nri]\nenable_nri = false\n");
  EXPECT_EQ(nri(tree).state, StepState::refused);
  EXPECT_THAT(nri(tree).reason, HasSubstr("OpenShift's machine-config operator"));
}

TEST(PlanMemlock, the_last_drop_in_counts) {
  const NodeTree tree;
  tree.service("containerd");
  const auto state = [&] {
    const auto want = wanted("memlock: {services: [containerd]}");
    return step_of(make_plan(tree.machine(), want, Risk::live).value(),
                   "memlock.service/containerd");
  };
  EXPECT_EQ(state().before, "systemd's default");
  tree.write("etc/systemd/system/containerd.service.d/memlock.conf",
             "[Service]\nLimitMEMLOCK=infinity\n");
  EXPECT_EQ(state().state, StepState::done);
  tree.write("usr/lib/systemd/system/containerd.service.d/zz.conf",
             "[Service]\n LimitMEMLOCK = 65536\n");
  EXPECT_EQ(state().state, StepState::todo);
  EXPECT_EQ(state().before, "LimitMEMLOCK=65536");
}

TEST(PlanMemlock, a_service_that_is_not_here_waits) {
  const NodeTree tree;
  const auto plan =
      make_plan(tree.machine(), wanted("memlock: {services: [kubelet]}"), Risk::live).value();
  EXPECT_EQ(plan.front().state, StepState::parked);
  EXPECT_EQ(plan.front().reason, "systemd has no kubelet.service here");
}

/// A containerd with 64 KiB.
void run_containerd(const NodeTree& tree) {
  tree.service("containerd");
  tree.write("proc/7/comm", "containerd\n");
  tree.write("proc/7/cmdline", "containerd");
  tree.write("proc/7/status", "Name:\tcontainerd\nCapEff:\t000001ffffffffff\n");
  tree.write("proc/7/limits",
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max locked memory         65536                65536                bytes     \n");
}

TEST(PlanRestarts, come_after_the_files_and_need_consent) {
  const NodeTree tree;
  run_containerd(tree);
  const auto want = wanted("memlock: {services: [containerd]}");
  const std::string id = "service.restarted/containerd";
  EXPECT_THAT(test::states(make_plan(tree.machine(), want, Risk::reboot).value()),
              ElementsAre("memlock.service/containerd todo"));
  tree.write("etc/systemd/system/containerd.service.d/x.conf",
             "[Service]\nLimitMEMLOCK=infinity\n");
  EXPECT_EQ(step_of(make_plan(tree.machine(), want, Risk::live).value(), id).state,
            StepState::refused);
  const auto step = step_of(make_plan(tree.machine(), want, Risk::restart).value(), id);
  EXPECT_EQ(step.state, StepState::todo);
  EXPECT_EQ(step.before, "containerd (process 7) may lock 65536 bytes");
}

TEST(PlanMemlock, who_is_really_limited_is_shown) {
  const NodeTree tree;
  run_containerd(tree);
  const auto want = wanted("memlock: {services: [containerd]}");
  EXPECT_EQ(make_plan(tree.machine(), want, Risk::live).value().front().before,
            "systemd's default: containerd (process 7) may lock 65536 bytes");
}

TEST(PlanRestarts, without_systemd_it_is_for_a_person) {
  const NodeTree tree;
  run_containerd(tree);
  fs::remove_all(tree.at("run/systemd"));
  tree.write("etc/systemd/system/containerd.service.d/x.conf",
             "[Service]\nLimitMEMLOCK=infinity\n");
  const auto want = wanted("memlock: {services: [containerd]}");
  const auto plan = make_plan(tree.machine(), want, Risk::reboot).value();
  EXPECT_EQ(plan.back().state, StepState::parked);
  EXPECT_EQ(plan.back().reason, "systemd does not run here: restart it by hand");
}

TEST(PlanRestarts, a_runtime_without_a_socket_is_restarted_after_its_files) {
  const NodeTree tree;
  run_containerd(tree);
  tree.write("etc/containerd/config.toml", "version = 2\n");
  const auto want = wanted("nri: true");
  EXPECT_THAT(test::states(make_plan(tree.machine(), want, Risk::restart).value()),
              ElementsAre("nri.enabled todo", "service.restarted/containerd parked"));
  tree.write("etc/containerd/config.toml", "version = 2\n" + std::string(kTable));
  EXPECT_THAT(test::states(make_plan(tree.machine(), want, Risk::restart).value()),
              ElementsAre("nri.enabled done", "service.restarted/containerd todo"));
  tree.write("run/nri/nri.sock", "");
  EXPECT_THAT(test::states(make_plan(tree.machine(), want, Risk::restart).value()),
              ElementsAre("nri.enabled done"));
}

}  // namespace
}  // namespace railhead::setup
