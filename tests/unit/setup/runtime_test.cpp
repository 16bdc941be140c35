// SPDX-License-Identifier: Apache-2.0
// What concerns the container runtime: NRI, memory lock, restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

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
  tree.write("etc/containerd/config.toml", "version = 2\n[plugins.nri]\n  disable = false\n");
  EXPECT_EQ(nri(tree).state, StepState::parked) << "containerd 1.7 does not start with it";
  EXPECT_THAT(nri(tree).reason, HasSubstr("/etc/containerd/config.toml:2"));
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
             "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n");
  EXPECT_THAT(written(nri(tree)), ElementsAre("/etc/containerd/conf.d/50-railhead-nri.toml:\n"
                                              "version = 2\n\n" +
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

TEST(PlanNri, a_plugin_that_is_switched_off_altogether_is_refused) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml",
             "version = 2\nimports = ['more.toml']\n[plugins.\"io.containerd.nri.v1.nri\"]\n"
             "  disable = false\n");
  tree.write("etc/containerd/more.toml", "version = 2\n");
  EXPECT_EQ(nri(tree).state, StepState::done);
  tree.write("etc/containerd/more.toml",
             "version = 2\ndisabled_plugins = [\"io.containerd.nri.v1.nri\"]\n");
  EXPECT_EQ(nri(tree).state, StepState::refused);
  EXPECT_THAT(nri(tree).reason, HasSubstr("/etc/containerd/more.toml:2"));
  fs::remove(tree.at("etc/containerd/more.toml"));
  tree.write("etc/containerd/config.toml", "disabled_plugins = [\"nri\"]\n");
  EXPECT_EQ(nri(tree).state, StepState::refused) << "as files of version 1 name it";
}

TEST(PlanNri, the_last_section_is_the_one_that_counts) {
  const NodeTree tree;
  const std::string section = "[plugins.\"io.containerd.nri.v1.nri\"]\n";
  tree.write("etc/containerd/config.toml",
             "version = 2\nimports = ['conf.d/*.toml']\n" + section + "  disable = false\n");
  const std::string theirs = "version = 2\n" + section + "  plugin_path = \"/opt/nri\"\n";
  tree.write("etc/containerd/conf.d/theirs.toml", theirs);
  EXPECT_THAT(written(nri(tree)),
              ElementsAre("/etc/containerd/conf.d/theirs.toml:\nversion = 2\n" + section +
                          "  disable = false\n  plugin_path = \"/opt/nri\"\n"))
      << "containerd 1.7 takes it whole, and a section of ours would take theirs away";
}

TEST(PlanNri, imports_are_followed_as_go_does) {
  for (const auto* pattern : {"conf.d/*/*.toml", "conf.d/[a-z]*.toml", "c?nf.*/x.toml"}) {
    const NodeTree tree;
    tree.write("etc/containerd/config.toml",
               "version = 2\nimports = ['" + std::string(pattern) + "']\n");
    EXPECT_EQ(nri(tree).changes.front().subject, "/etc/containerd/config.toml") << pattern;
  }
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "version = 2\nimports = ['../x/*.toml']\n");
  EXPECT_EQ(nri(tree).changes.front().subject, "/etc/x/50-railhead-nri.toml");
}

TEST(PlanNri, a_drop_in_keeps_the_version_by_which_all_is_read) {
  const NodeTree tree;
  const auto written_with = [&](const std::string& main, const std::string& theirs) {
    tree.write("etc/containerd/config.toml", main + "imports = ['conf.d/*.toml']\n");
    tree.write("etc/containerd/conf.d/10-theirs.toml", theirs + "oom_score = 1\n");
    return written(nri(tree));
  };
  const std::string off = "[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = true\n";
  EXPECT_THAT(written_with("version = 2\n", "version = 2\n"),
              ElementsAre("/etc/containerd/conf.d/50-railhead-nri.toml:\nversion = 2\n\n" +
                          std::string(kTable)));
  EXPECT_THAT(written_with("", "version = 2\n"),
              ElementsAre("/etc/containerd/conf.d/50-railhead-nri.toml:\n" + std::string(kTable)))
      << "the last version counts in 1.7, and a short name would end it";
  tree.write("etc/containerd/k3s.toml", "");
  EXPECT_THAT(written_with("# Managed by somebody\nversion = 3\n", "version = 2\n" + off),
              ElementsAre("/etc/containerd/conf.d/10-theirs.toml:\nversion = 2\n"
                          "[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\noom_score = "
                          "1\n"));
}

TEST(PlanNri, nothing_is_edited_where_containerd_does_not_start) {
  const std::string imports = "version = 2\nimports = ['more.toml']\n";
  for (const auto& [main, more] :
       {std::pair<std::string, std::string>{imports, "version = 4\n"},
        {imports, "version = 3\n"},
        {imports, "version = 'x'\n"},
        {"version = 2.0\n", ""},
        {"version = 2\nimports = ['gone.toml']\n", ""},
        {"version = 2\nrequired_plugins = ['cri']\n", ""},
        {"version = 2\nrequired_plugins = ['io.containerd.x.v1.y']\n", ""}}) {
    const NodeTree tree;
    tree.write("etc/containerd/config.toml", main);
    tree.write("etc/containerd/more.toml", more);
    EXPECT_NE(nri(tree).state, StepState::todo) << main << more;
    EXPECT_THAT(nri(tree).changes, IsEmpty()) << main << more;
  }
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
  EXPECT_EQ(nri(tree).state, StepState::refused);
  EXPECT_THAT(nri(tree).reason, HasSubstr("/etc/containerd/config.toml"));
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
  EXPECT_THAT(nri(tree).reason, HasSubstr("/var/lib/rancher/k3s/agent/etc/containerd/config.toml"));
}

TEST(PlanNri, crio_has_it_unless_a_file_says_no) {
  const NodeTree tree;
  tree.write("etc/crio/crio.conf", "[crio.nri]\nenable_nri = false\n");
  EXPECT_THAT(written(nri(tree)), ElementsAre("/etc/crio/crio.conf.d/99-railhead-nri.conf:\n"
                                              "[crio.nri]\n  enable_nri = true\n"));
  tree.write("etc/crio/crio.conf.d/10.conf", "[crio.nri]\nenable_nri = true\n");
  EXPECT_EQ(nri(tree).state, StepState::done);
}

TEST(PlanNri, crio_without_a_key_has_it_by_its_release) {
  const NodeTree tree;
  tree.write("etc/crio/crio.conf.d/10-nri.conf", "[crio.nri]\nenabled_nri = true\n");
  EXPECT_EQ(nri(tree).state, StepState::todo);
  EXPECT_THAT(nri(tree).reason, HasSubstr("/etc/crio/crio.conf.d/10-nri.conf:2"));
  tree.write("run/nri/nri.sock", "");
  EXPECT_EQ(nri(tree).state, StepState::done);
}

TEST(PlanNri, crio_without_connections_is_opened) {
  const NodeTree tree;
  tree.write("etc/crio/crio.conf",
             "[crio.nri]\nenable_nri = true\nnri_disable_connections = true\n");
  EXPECT_THAT(written(nri(tree)),
              ElementsAre("/etc/crio/crio.conf.d/99-railhead-nri.conf:\n[crio.nri]\n"
                          "  enable_nri = true\n  nri_disable_connections = false\n"));
}

TEST(PlanNri, crio_does_not_start_with_a_value_of_another_type) {
  const auto state_with = [](const std::string& text) {
    const NodeTree tree;
    tree.write("etc/crio/crio.conf.d/10.conf", text);
    return nri(tree).state;
  };
  for (const std::string text :
       {"[crio]\nroot = 1\n", "[crio.runtime]\npids_limit = 'many'\n",
        "[crio.runtime]\nselinux = 'yes'\n", "[crio.runtime]\ndefault_ulimits = 'memlock=-1:-1'\n",
        "[crio.runtime]\nhooks_dir = [1]\n", "[crio.api]\nstream_port = 10010\n",
        "[crio.metrics]\nmetrics_port = '9537'\n", "[crio.metrics]\nmetrics_port = 9537.0\n",
        "[crio]\nimage = 3\n", "[crio.runtime]\nselinux = true\nSELinux = 'x'\n",
        "[crio.Image]\nPause_Image = true\n"}) {
    EXPECT_EQ(state_with(text), StepState::refused) << text;
  }
  for (const std::string text :
       {"[crio.runtime]\npids_limit = 4096\nselinux = true\ndefault_ulimits = ['memlock=-1:-1']\n",
        "[crio.runtime]\nno_such_key = 'x'\n", "[crio.runtime.runtimes.runc]\nruntime_path = ''\n",
        "[crio.api]\nstream_port = '0'\n", "[crio.nothing]\nselinux = 'yes'\n"}) {
    EXPECT_EQ(state_with(text), StepState::todo) << text;
  }
  for (const std::string text :
       {"[crio.nri]\nenable_nri = true\nEnable_NRI = false\n", "[crio.nri]\n[crio.NRI]\n"}) {
    EXPECT_EQ(state_with(text), StepState::parked) << text << ", and either may count";
  }
}

TEST(PlanNri, crio_s_later_folders_count_more) {
  const NodeTree tree;
  tree.write("etc/crio/crio.conf.d/99-z/x.conf", "[crio.nri]\nenable_nri = false\n");
  EXPECT_EQ(nri(tree).state, StepState::refused);
  EXPECT_THAT(nri(tree).reason, HasSubstr("/etc/crio/crio.conf.d/99-z/x.conf:2"));
}

TEST(PlanNri, without_a_runtime_it_waits) {
  const NodeTree tree;
  EXPECT_EQ(nri(tree).state, StepState::done) << "no pods either";
  EXPECT_EQ(nri(tree).before, "no runtime here");
  tree.service("kubelet");
  EXPECT_EQ(nri(tree).state, StepState::parked);
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

/// What is planned for a tree that has the file of ours already.
Step with_file_of_ours(const NodeTree& tree, const std::string& text) {
  const auto plan = make_plan(tree.machine(), wanted(text), Risk::reboot).value();
  for (const auto& change : plan.front().changes)
    tree.write(change.subject.substr(1), change.value);
  return make_plan(tree.machine(), wanted(text), Risk::reboot).value().front();
}

TEST(FilesStep, a_file_that_another_one_overrules_is_not_enough) {
  const NodeTree tree;
  tree.service("containerd");
  const std::string drop_in = "etc/systemd/system/containerd.service.d/99-theirs.conf";
  tree.write(drop_in, "[Service]\nLimitMEMLOCK=65536\n");
  const auto memlock = with_file_of_ours(tree, "memlock: {services: [containerd]}");
  EXPECT_EQ(memlock.state, StepState::refused);
  EXPECT_EQ(memlock.before, "LimitMEMLOCK=65536");
  EXPECT_THAT(memlock.reason, HasSubstr("/" + drop_in + " says otherwise, and counts more than"));

  fs::remove(tree.at("usr/lib/systemd/system/containerd.service"));
  tree.service("crio");
  tree.write("etc/crio/crio.conf.d/zz.conf", "[crio.nri]\nenable_nri = false\n");
  const auto crio = with_file_of_ours(tree, "nri: true");
  EXPECT_EQ(crio.state, StepState::refused);
  EXPECT_THAT(crio.reason, HasSubstr("/etc/crio/crio.conf.d/zz.conf:2"));

  tree.write("proc/cmdline", "ib_core.netns_mode=1\n");
  const auto namespaces = with_file_of_ours(tree, "rdmaNamespaces: exclusive");
  EXPECT_EQ(namespaces.state, StepState::refused);
  EXPECT_THAT(namespaces.reason, HasSubstr("the kernel's command line, says otherwise"));
}

TEST(FilesStep, what_is_no_file_is_said_before_anything_is_done) {
  const NodeTree tree;
  tree.service("containerd");
  fs::create_directories(
      tree.at("etc/systemd/system/containerd.service.d/90-railhead-memlock.conf"));
  const auto want = wanted("memlock: {services: [containerd]}");
  const auto step = make_plan(tree.machine(), want, Risk::live).value().front();
  EXPECT_EQ(step.state, StepState::parked);
  EXPECT_THAT(step.reason, HasSubstr("90-railhead-memlock.conf: is not a file"));
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
  EXPECT_THAT(states(make_plan(tree.machine(), want, Risk::reboot).value()),
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

TEST(PlanRestarts, one_that_did_not_help_is_not_planned_again) {
  const NodeTree tree;
  run_containerd(tree);
  tree.write("proc/sys/kernel/random/boot_id", "one\n");
  const std::string config = "version = 2\n" + std::string(kTable);
  tree.write("etc/containerd/config.toml", config);
  const auto want = wanted("nri: true");
  const std::string id = "service.restarted/containerd";
  const auto planned = [&] {
    return step_of(make_plan(tree.machine(), want, Risk::restart).value(), id).state;
  };
  TreeKernel kernel(tree);
  const auto outcome = apply(tree.machine(), kernel, want, Risk::restart, kSilent).value();
  EXPECT_EQ(kernel.restarted, std::vector<std::string>{"containerd"});
  EXPECT_TRUE(outcome.has_failed);
  const auto again = step_of(make_plan(tree.machine(), want, Risk::restart).value(), id);
  EXPECT_EQ(again.state, StepState::parked);
  EXPECT_THAT(again.reason, HasSubstr("journalctl -b -u containerd.service"));
  tree.write("etc/containerd/config.toml", "# generated at 10:01\n" + config);
  EXPECT_EQ(planned(), StepState::parked) << "its file says the same";
  tree.write("etc/containerd/config.toml", config + "socket_path = '/run/x.sock'\n");
  EXPECT_EQ(planned(), StepState::todo) << "its file says something else";
  tree.write("etc/containerd/config.toml", config);
  tree.write("proc/sys/kernel/random/boot_id", "two\n");
  EXPECT_EQ(planned(), StepState::todo) << "the machine was booted";
}

TEST(PlanRestarts, the_unit_is_that_of_the_process) {
  const NodeTree tree;
  run_containerd(tree);
  tree.service("k3s");
  tree.write("proc/7/cgroup", "0::/system.slice/k3s.service\n");
  tree.write("etc/containerd/config.toml", "version = 2\n" + std::string(kTable));
  EXPECT_THAT(states(make_plan(tree.machine(), wanted("nri: true"), Risk::restart).value()),
              ElementsAre("nri.enabled parked", "service.restarted/k3s todo"));
}

TEST(PlanNri, a_socket_that_nobody_listens_at_is_none) {
  const NodeTree tree;
  run_containerd(tree);
  tree.write("etc/containerd/config.toml", "version = 2\n" + std::string(kTable));
  tree.write("run/nri/nri.sock", "");
  const auto listens = [&](const std::string& paths) {
    tree.write("proc/1/net/unix",
               "Num       RefCount Protocol Flags    Type St Inode Path\n" + paths);
    return nri(tree).state;
  };
  const std::string begin = "0: 00000002 00000000 00010000 0001 01 47 ";
  const std::string containerd = begin + "/run/containerd/containerd.sock\n";
  EXPECT_EQ(listens(containerd), StepState::parked);
  EXPECT_EQ(listens(containerd + begin + "/var/run/nri/nri.sock\n"), StepState::done);
  EXPECT_EQ(listens(begin + "/run/other.sock\n"), StepState::done) << "another network namespace";
  tree.write("etc/containerd/config.toml", "version = 2\n");
  EXPECT_EQ(listens(containerd), StepState::todo) << "it says nothing of the release";
}

TEST(PlanNri, what_the_journal_would_not_name_is_refused) {
  const std::string off = "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\n  disable = true\n";
  for (const std::string path : {"srv/runtime.toml", "etc/containerd/config.conf"}) {
    const NodeTree tree;
    tree.write("etc/containerd/config.toml", "version = 2\nimports = ['/" + path + "']\n");
    tree.write(path, off);
    EXPECT_EQ(nri(tree).state, StepState::refused) << path;
    EXPECT_THAT(nri(tree).reason, HasSubstr("/" + path));
  }
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "version = 2\nimports = ['/srv/drop/*.toml']\n");
  EXPECT_EQ(nri(tree).state, StepState::refused);
  EXPECT_THAT(nri(tree).reason, HasSubstr("no folder /srv,"));
  fs::create_directories(tree.at("srv/drop"));
  EXPECT_EQ(nri(tree).state, StepState::todo);
}

TEST(PlanNri, a_link_is_of_whom_its_target_is_of) {
  const std::string off = "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\n  disable = true\n";
  for (const std::string target : {"usr/share/containerd", "nix/store/x"}) {
    const NodeTree tree;
    tree.write(target + "/config.toml", off);
    tree.write("etc/containerd/.keep", "");
    fs::create_symlink("/" + target + "/config.toml", tree.at("etc/containerd/config.toml"));
    EXPECT_EQ(nri(tree).state, StepState::refused) << target;
    fs::remove_all(tree.at("etc/containerd"));
    fs::create_symlink("../" + target, tree.at("etc/containerd"));
    EXPECT_EQ(nri(tree).state, StepState::refused) << target << ", its folder";
  }
  const NodeTree tree;
  tree.write("etc/eks/config.toml", off);
  tree.write("etc/containerd/.keep", "");
  fs::create_symlink("../eks/config.toml", tree.at("etc/containerd/config.toml"));
  EXPECT_EQ(nri(tree).state, StepState::todo);
}

TEST(PlanNri, a_section_of_cri_that_does_not_decode_waits) {
  const auto state_with = [](const std::string& text) {
    const NodeTree tree;
    tree.write("etc/containerd/config.toml", "version = 2\n" + text);
    return nri(tree).state;
  };
  const std::string cri = "plugins.\"io.containerd.grpc.v1.cri\"";
  for (const std::string& text :
       {"[" + cri + "]\nenable_cdi = 'true'\n", "[" + cri + "]\nmax_concurrent_downloads = '3'\n",
        "[" + cri + ".cni]\nconf_dir = 1\n", "[" + cri + ".containerd]\nruntimes = 3\n",
        "[" + cri + ".containerd.runtimes.x]\nruntime_type = 2\n"}) {
    EXPECT_EQ(state_with(text), StepState::parked) << text;
  }
  for (const std::string& text :
       {"[" + cri + "]\nenable_cdi = true\nno_such_key = 'x'\n",
        "[" + cri + ".registry.mirrors.x]\nendpoint = ['https://x']\n",
        "[" + cri + ".containerd.runtimes.x.options]\nSystemdCgroup = true\n"}) {
    EXPECT_EQ(state_with(text), StepState::todo) << text;
  }
}

TEST(PlanNri, a_refusal_says_what_the_file_has) {
  const NodeTree tree;
  tree.write("etc/containerd/config.toml", "disabled_plugins = ['cri']\n");
  const auto step = nri(tree);
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_THAT(step.reason, HasSubstr("config.toml:1: disabled_plugins has \"cri\""));
  EXPECT_EQ(step.reason.find("io.containerd.grpc.v1.cri"), std::string::npos);
  EXPECT_EQ(step.reason.find("config.toml:4"), std::string::npos) << "the edit is not in the file";
}

TEST(PlanRestarts, what_would_not_start_is_not_restarted_for_its_memory_lock) {
  NodeTree tree;
  run_containerd(tree);
  tree.write("etc/systemd/system/containerd.service.d/x.conf",
             "[Service]\nLimitMEMLOCK=infinity\n");
  const auto want = wanted("memlock: {services: [containerd]}");
  const auto state = [&] {
    return step_of(make_plan(tree.machine(), want, Risk::restart).value(),
                   "service.restarted/containerd")
        .state;
  };
  EXPECT_EQ(state(), StepState::todo);
  for (const std::string text : {"version = 5\n", "[plugins\n", "imports = ['gone.toml']\n"}) {
    tree.write("etc/containerd/config.toml", text);
    EXPECT_EQ(state(), StepState::refused) << text;
  }
  tree.write("etc/containerd/config.toml", "version = 2\n");
  // The kubelet uses CRI-O: containerd is Docker's, and is asked all the same.
  tree.write("proc/9/comm", "crio\n");
  tree.write("proc/9/cmdline", "crio");
  EXPECT_EQ(state(), StepState::todo);
  tree.write("etc/containerd/config.toml", "version = 5\n");
  EXPECT_EQ(state(), StepState::refused);
  tree.write("etc/containerd/config.toml", "version = 2\n");
  tree.write("proc/7/cmdline", std::string("containerd\0--config\0/srv/c.toml", 31));
  EXPECT_EQ(state(), StepState::refused) << "it reads another file";
}

TEST(PlanRestarts, of_a_runtime_that_is_not_known_none_is_planned) {
  const NodeTree tree;
  run_containerd(tree);
  tree.write("proc/7/cmdline", std::string("containerd\0--config\0c.toml", 26));
  EXPECT_THAT(states(make_plan(tree.machine(), wanted("nri: true"), Risk::restart).value()),
              ElementsAre("nri.enabled parked"));
}

TEST(PlanRestarts, dockers_containerd_is_left_alone_on_a_node_of_crio) {
  const NodeTree tree;
  run_containerd(tree);
  tree.service("crio");
  tree.write("proc/9/comm", "crio\n");
  tree.write("proc/9/cmdline", "crio");
  const auto plan = make_plan(tree.machine(), wanted("nri: true"), Risk::restart).value();
  for (const auto& step : plan) EXPECT_EQ(step.id.find("containerd"), std::string::npos) << step.id;
}

TEST(PlanMemlock, what_containers_have_by_the_runtimes_files_is_enough) {
  const NodeTree tree;
  run_containerd(tree);
  tree.write("etc/containerd/config.toml",
             "version = 2\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]\n"
             "base_runtime_spec = '/etc/base.json'\n");
  tree.write("etc/base.json",
             "{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_MEMLOCK\", "
             "\"soft\": 18446744073709551615}]}}");
  const auto want = wanted("memlock: {services: [containerd]}");
  EXPECT_THAT(states(make_plan(tree.machine(), want, Risk::restart).value()),
              ElementsAre("memlock.service/containerd done"));
}

TEST(PlanRestarts, a_runtime_without_a_socket_is_restarted_after_its_files) {
  const NodeTree tree;
  run_containerd(tree);
  tree.write("etc/containerd/config.toml", "version = 2\n");
  const auto want = wanted("nri: true");
  EXPECT_THAT(states(make_plan(tree.machine(), want, Risk::restart).value()),
              ElementsAre("nri.enabled todo", "service.restarted/containerd parked"));
  tree.write("etc/containerd/config.toml", "version = 2\n" + std::string(kTable));
  EXPECT_THAT(states(make_plan(tree.machine(), want, Risk::restart).value()),
              ElementsAre("nri.enabled parked", "service.restarted/containerd todo"));
  tree.write("run/nri/nri.sock", "");
  EXPECT_THAT(states(make_plan(tree.machine(), want, Risk::restart).value()),
              ElementsAre("nri.enabled done"));
}

}  // namespace
}  // namespace railhead::setup::test
