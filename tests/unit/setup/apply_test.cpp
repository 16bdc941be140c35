// SPDX-License-Identifier: Apache-2.0
#include "setup/apply.h"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/boot_id.h"
#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// All that there is: files, folders, a module, an attribute and a restart.
constexpr const char* kAll =
    "modules: [ib_umad]\nmemlock: {services: [containerd], limitsFile: true}\nnri: true\n"
    "rdmaNamespaces: exclusive\nsysctl: {net.ipv4.conf.all.arp_ignore: 1}\n";

/// One entry, as the journal has it.
std::string journal_of(const std::string& entry) {
  return R"({"apiVersion": "railhead.io/v1alpha1", "kind": "SetupJournal", "folders": [], )"
         R"("entries": [{"step": "a", "ours": ["x"], )" +
         entry + "}]}";
}

class ApplyTest : public testing::Test {
 protected:
  ApplyTest() {
    tree_.service("containerd");
    tree_.write("etc/containerd/config.toml", "# mine\nversion = 2\n");
    fs::permissions(tree_.at("etc/containerd/config.toml"), fs::perms::owner_read);
    tree_.write("proc/sys/net/ipv4/conf/all/arp_ignore", "0\n");
    tree_.write("proc/7/comm", "containerd\n");
    tree_.write("proc/7/cmdline", "containerd");
    kernel_.on_restart = [this] { tree_.write("run/nri/nri.sock", ""); };
  }

  Outcome do_apply(const std::string& text = kAll, Risk allowed = Risk::reboot) {
    return apply(tree_.machine(), kernel_, wanted(text), allowed, kSilent).value();
  }

  Outcome do_revert() { return revert(tree_.machine(), kernel_, kSilent).value(); }

  NodeTree tree_;
  TreeKernel kernel_{tree_};
};

TEST_F(ApplyTest, does_all_and_a_second_plan_has_nothing_to_do) {
  const auto outcome = do_apply();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_THAT(
      states(outcome.steps),
      ElementsAre("modules.loaded/ib_umad done", "modules.at-boot done", "rdma.namespaces done",
                  "sysctl/net.ipv4.conf.all.arp_ignore done", "sysctl.at-boot done",
                  "memlock.service/containerd done", "memlock.limits-file done", "nri.enabled done",
                  "service.restarted/containerd done"));
  EXPECT_THAT(kernel_.restarted, ElementsAre("containerd"));
  const auto again = make_plan(tree_.machine(), wanted(kAll), Risk::reboot);
  for (const auto& step : again.value()) EXPECT_EQ(step.state, StepState::done) << step.id;
}

TEST_F(ApplyTest, taken_back_the_tree_is_as_it_was) {
  kernel_.on_restart = nullptr;
  const auto before = tree_.everything();
  do_apply();
  EXPECT_NE(tree_.everything(), before);
  const auto outcome = do_revert();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_THAT(outcome.steps, Each(testing::Field(&Step::state, StepState::done)));
  EXPECT_EQ(tree_.everything(), before);
  EXPECT_THAT(do_revert().steps, IsEmpty());
}

TEST_F(ApplyTest, nri_is_done_when_its_socket_is_there) {
  const auto outcome = do_apply("nri: true", Risk::live);
  EXPECT_THAT(states(outcome.steps),
              ElementsAre("nri.enabled parked", "service.restarted/containerd refused"));
  EXPECT_THAT(states(do_apply("nri: true").steps),
              ElementsAre("nri.enabled done", "service.restarted/containerd done"));
  fs::remove(tree_.at("run/nri/nri.sock"));
  EXPECT_THAT(states(make_plan(tree_.machine(), wanted("nri: true"), Risk::restart).value()),
              ElementsAre("nri.enabled parked", "service.restarted/containerd parked"))
      << "it was restarted since the boot, with these files";
}

TEST_F(ApplyTest, without_consent_only_the_harmless_is_done) {
  const auto outcome = do_apply(kAll, Risk::live);
  EXPECT_THAT(states(outcome.steps), Contains("rdma.namespaces refused"));
  EXPECT_THAT(states(outcome.steps), Contains("service.restarted/containerd refused"));
  EXPECT_THAT(kernel_.restarted, IsEmpty());
}

TEST_F(ApplyTest, stops_at_the_first_failure) {
  kernel_.broken = "ib_umad";
  const auto outcome = do_apply();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_EQ(outcome.steps[0].reason, "failed: module ib_umad: broken");
  EXPECT_EQ(outcome.steps[1].state, StepState::todo);
  EXPECT_FALSE(fs::exists(tree_.at("etc/modules-load.d")));
  kernel_.broken = "";
  EXPECT_FALSE(do_apply().has_failed);
}

TEST_F(ApplyTest, what_does_not_hold_is_a_failure) {
  kernel_.on_restart = nullptr;
  const auto outcome = do_apply();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_THAT(step_of(outcome.steps, "service.restarted/containerd").reason,
              HasSubstr("it was done, and is still no NRI socket"));
}

TEST_F(ApplyTest, what_the_runtime_needs_to_start_stays) {
  const std::string drop_in = "/etc/containerd/conf.d/50-railhead-nri.toml";
  fs::permissions(tree_.at("etc/containerd/config.toml"), fs::perms::owner_all);
  tree_.write("etc/containerd/config.toml", "version = 2\nimports = ['conf.d/*.toml']\n");
  do_apply("nri: true");
  ASSERT_TRUE(fs::exists(tree_.at(drop_in.substr(1))));
  tree_.write("etc/containerd/config.toml", "version = 2\nimports = ['" + drop_in + "']\n");
  const auto planned = step_of(plan_revert(tree_.machine()).value(), "revert.file" + drop_in);
  EXPECT_EQ(planned.state, StepState::refused);
  EXPECT_THAT(planned.reason, HasSubstr(drop_in));
  EXPECT_TRUE(do_revert().has_failed);
  EXPECT_TRUE(fs::exists(tree_.at(drop_in.substr(1))));
  tree_.write("etc/containerd/config.toml", "version = 2\n");
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_FALSE(fs::exists(tree_.at(drop_in.substr(1))));
}

TEST_F(ApplyTest, what_somebody_else_changed_since_stays) {
  do_apply();
  tree_.write("etc/sysctl.d/90-railhead.conf", "net.ipv4.conf.all.arp_ignore = 2\n");
  fs::permissions(tree_.at("etc/containerd/config.toml"), fs::perms::owner_all);
  tree_.write("etc/containerd/config.toml", "version = 3\n");
  const auto outcome = do_revert();
  EXPECT_TRUE(outcome.has_failed);
  const auto& step = step_of(outcome.steps, "revert.file/etc/containerd/config.toml");
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_EQ(step.reason, "somebody else changed it since: it stays");
  EXPECT_EQ(tree_.read("etc/containerd/config.toml"), "version = 3\n");
  EXPECT_EQ(tree_.read("etc/sysctl.d/90-railhead.conf"), "net.ipv4.conf.all.arp_ignore = 2\n");
  EXPECT_FALSE(fs::exists(tree_.at("sys/module/ib_umad")));
  EXPECT_EQ(step_of(outcome.steps, "revert.folder/etc/sysctl.d").state, StepState::parked);
  EXPECT_EQ(plan_revert(tree_.machine()).value().size(), 3U) << "the rest was taken back";
  fs::remove(tree_.at("etc/sysctl.d/90-railhead.conf"));
  do_revert();
  EXPECT_FALSE(fs::exists(tree_.at("etc/sysctl.d")));
}

TEST_F(ApplyTest, a_module_in_use_stays_and_can_be_taken_back_later) {
  do_apply("modules: [ib_umad]");
  kernel_.used = "ib_umad";
  const auto outcome = do_revert();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "revert.module/ib_umad").reason, "failed: in use");
  EXPECT_FALSE(fs::exists(tree_.at("etc/modules-load.d")));
  kernel_.used = "";
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_FALSE(fs::exists(tree_.at("var/lib/railhead")));
}

TEST_F(ApplyTest, what_a_module_needs_goes_with_it_unless_others_use_it) {
  const auto before = tree_.everything();
  do_apply("modules: [ib_umad]");
  EXPECT_TRUE(fs::exists(tree_.at("sys/module/ib_core")));
  kernel_.used = "ib_core";
  const auto outcome = do_revert();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "revert.module/ib_core").title, "module ib_core stays loaded");
  EXPECT_EQ(step_of(outcome.steps, "revert.module/ib_core").reason, "in use");
  kernel_.used = "";
  fs::remove(tree_.at("sys/module/ib_core"));
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(ApplyTest, two_wishes_one_after_the_other_go_back_to_the_start) {
  const auto before = tree_.everything();
  do_apply("sysctl: {net.ipv4.conf.all.arp_ignore: 1}");
  do_apply("sysctl: {net.ipv4.conf.all.arp_ignore: 2}");
  EXPECT_EQ(tree_.read("etc/sysctl.d/90-railhead.conf"), "net.ipv4.conf.all.arp_ignore = 2\n");
  do_revert();
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(ApplyTest, several_numbers_go_back_whatever_stands_between_them) {
  const std::string file = "proc/sys/net/ipv4/tcp_rmem";
  tree_.write(file, "4096\t131072\t6291456\n");
  do_apply("sysctl: {net.ipv4.tcp_rmem: 4096  87380 33554432}");
  tree_.write(file, "4096\t87380\t33554432\n");
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_EQ(tree_.read(file), "4096 131072 6291456\n");
}

TEST_F(ApplyTest, what_somebody_else_wrote_between_two_runs_comes_back) {
  const std::string file = "etc/containerd/config.toml";
  fs::permissions(tree_.at(file), fs::perms::owner_all);
  do_apply("nri: true\nsysctl: {net.ipv4.conf.all.arp_ignore: 1}");
  // NVIDIA's toolkit writes the file anew, and an administrator sets the number.
  const std::string theirs =
      "version = 2\n[plugins.'io.containerd.nri.v1.nri']\n  disable = true\n";
  tree_.write(file, theirs);
  tree_.write("proc/sys/net/ipv4/conf/all/arp_ignore", "2\n");
  fs::remove(tree_.at("run/nri/nri.sock"));
  const auto drift =
      make_plan(tree_.machine(), wanted("nri: true\nsysctl: {net.ipv4.conf.all.arp_ignore: 1}"),
                Risk::reboot)
          .value();
  EXPECT_EQ(step_of(drift, "nri.enabled").state, StepState::todo) << "it is seen as drift";
  do_apply("nri: true\nsysctl: {net.ipv4.conf.all.arp_ignore: 1}");
  EXPECT_THAT(tree_.read(file), HasSubstr("disable = false"));
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_EQ(tree_.read(file), theirs);
  EXPECT_EQ(tree_.read("proc/sys/net/ipv4/conf/all/arp_ignore"), "2\n");
}

TEST_F(ApplyTest, what_somebody_writes_between_plan_and_change_is_not_lost) {
  const std::string file = "etc/containerd/config.toml";
  fs::permissions(tree_.at(file), fs::perms::owner_all);
  const std::string theirs = "version = 2\n# theirs\n";
  const auto write = [&](const Step& step) {
    if (step.id == "modules.loaded/ib_uverbs") tree_.write(file, theirs);
  };
  const auto outcome =
      apply(tree_.machine(), kernel_, wanted("modules: [ib_uverbs]\nnri: true"), Risk::live, write)
          .value();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_THAT(step_of(outcome.steps, "nri.enabled").reason, HasSubstr("somebody changed it"));
  EXPECT_EQ(tree_.read(file), theirs);
  do_apply("nri: true");
  EXPECT_THAT(tree_.read(file), HasSubstr("# theirs\n"));
}

TEST_F(ApplyTest, in_a_tree_of_files_no_kernel_is_touched) {
  do_apply("modules: [ib_umad]\nsysctl: {net.ipv4.conf.all.arp_ignore: 1}");
  const auto outcome = revert(tree_.machine(false), kernel_, kSilent).value();
  EXPECT_TRUE(outcome.has_failed);
  const auto& step = step_of(outcome.steps, "revert.module/ib_umad");
  EXPECT_EQ(step.state, StepState::parked);
  EXPECT_THAT(step.reason, HasSubstr("no kernel runs in this tree"));
  EXPECT_TRUE(fs::exists(tree_.at("sys/module/ib_umad")));
  EXPECT_FALSE(fs::exists(tree_.at("etc/modules-load.d"))) << "files go back";
  EXPECT_FALSE(do_revert().has_failed) << "the rest, on the machine";
}

constexpr const char* kBootId = host::kBootId + 1;  // in a tree

TEST_F(ApplyTest, a_module_that_others_loaded_since_a_boot_stays) {
  tree_.write(kBootId, "one\n");
  tree_.write("etc/modules-load.d/theirs.conf", "ib_umad\n");
  do_apply("modules: [ib_umad]");
  tree_.write(kBootId, "two\n");
  const auto outcome = do_revert();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_THAT(step_of(outcome.steps, "revert.module/ib_umad").reason, HasSubstr("booted since"));
  EXPECT_TRUE(fs::exists(tree_.at("sys/module/ib_umad")));
  EXPECT_TRUE(fs::exists(tree_.at("sys/module/ib_core")));
}

TEST_F(ApplyTest, what_our_files_bring_at_each_boot_goes_back) {
  tree_.write(kBootId, "one\n");
  do_apply("modules: [ib_umad]\nsysctl: {net.ipv4.conf.all.arp_ignore: 1}");
  tree_.write(kBootId, "two\n");
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_FALSE(fs::exists(tree_.at("sys/module/ib_umad")));
  EXPECT_FALSE(fs::exists(tree_.at("sys/module/ib_core")));
  EXPECT_EQ(tree_.read("proc/sys/net/ipv4/conf/all/arp_ignore"), "0\n");
}

TEST_F(ApplyTest, a_file_that_is_no_text_is_not_touched) {
  const std::string bytes = "\xff\xfe";
  tree_.write("etc/modules-load.d/railhead.conf", bytes);
  const auto outcome = do_apply("modules: [ib_umad]");
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_THAT(outcome.steps[1].reason, HasSubstr("is not UTF-8"));
  EXPECT_EQ(tree_.read("etc/modules-load.d/railhead.conf"), bytes);
}

TEST_F(ApplyTest, a_journal_that_cannot_be_read_stops_before_anything) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"entries\": []}"),
        journal_of(R"("kind": "file")"), journal_of(R"("kind": "x", "subject": "")"),
        journal_of("").substr(0, 100)}) {
    tree_.write("var/lib/railhead/setup/journal.json", text);
    const auto before = tree_.everything();
    const auto result = apply(tree_.machine(), kernel_, wanted(kAll), Risk::reboot, kSilent);
    ASSERT_FALSE(result) << text;
    EXPECT_THAT(result.error().message, HasSubstr("/var/lib/railhead/setup/journal.json"));
    EXPECT_FALSE(revert(tree_.machine(), kernel_, kSilent));
    EXPECT_EQ(tree_.everything(), before);
  }
}

TEST_F(ApplyTest, a_journal_of_another_release_stops_before_anything) {
  do_apply();
  const std::string path = "var/lib/railhead/setup/journal.json";
  auto text = tree_.read(path);
  text.replace(text.find("v1alpha1"), 8, "v2");
  tree_.write(path, text);
  const auto before = tree_.everything();
  const auto result = revert(tree_.machine(), kernel_, kSilent);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("is \"SetupJournal\" of \"railhead.io/v2\""));
  EXPECT_FALSE(apply(tree_.machine(), kernel_, wanted(kAll), Risk::reboot, kSilent));
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(ApplyTest, a_journal_in_a_folder_of_others_stops_before_anything) {
  do_apply();
  fs::permissions(tree_.at("var/lib/railhead/setup"), fs::perms(0777));
  const auto result = revert(tree_.machine(), kernel_, kSilent);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::denied);
}

TEST_F(ApplyTest, revert_keeps_the_mode_that_somebody_set_since) {
  const std::string path = "etc/containerd/config.toml";
  tree_.write(path, "version = 2\n[plugins.'io.containerd.nri.v1.nri']\n  disable = true\n");
  do_apply("nri: true");
  fs::permissions(tree_.at(path), fs::perms(0600));
  ASSERT_TRUE(revert(tree_.machine(), kernel_, kSilent));
  EXPECT_THAT(tree_.read(path), HasSubstr("disable = true"));
  EXPECT_EQ(fs::status(tree_.at(path)).permissions(), fs::perms(0600));
}

TEST_F(ApplyTest, a_journal_that_lies_stops_before_anything) {
  for (const auto* entry : {R"("kind": "file", "subject": "", "before": null)",
                            R"("kind": "file", "subject": "etc/passwd", "before": null)",
                            R"("kind": "file", "subject": "/etc/..", "before": null)",
                            R"("kind": "file", "subject": "/etc/a\u0000b", "before": null)",
                            R"("kind": "file", "subject": "/etc/../x", "before": null)",
                            R"("kind": "file", "subject": "/etc/containerd/config.toml", "before":
                               {"text": "", "mode": 2541, "uid": 0, "gid": 0})",
                            R"("kind": "file", "subject": "/etc/containerd/config.toml", "before":
                               {"text": "", "mode": 420, "uid": 4294967296, "gid": 0})",
                            R"("kind": "file", "subject": "/etc/shadow", "before":
                               {"text": "", "mode": 420, "uid": 0, "gid": 0})",
                            R"("kind": "file", "subject": "/etc/ld.so.preload", "before": null)",
                            R"("kind": "file", "subject": "/etc/systemd/system/x.service",
                               "before": null)",
                            R"("kind": "file", "subject": "/etc/systemd/system/x.d/y.mount",
                               "before": null)",
                            R"("kind": "file", "subject": "/etc/modprobe.d/99-railhead-nri.conf",
                               "before": null)",
                            R"("kind": "file", "subject": "/etc//containerd/config.toml",
                               "before": null)",
                            R"("kind": "folder", "subject": "/root/.ssh")",
                            R"("kind": "attribute", "subject": "/proc/sys/kernel/core_pattern",
                               "before": "|/tmp/x")",
                            R"("kind": "attribute", "subject": "/sys/kernel/uevent_helper",
                               "before": "/tmp/x")",
                            R"("kind": "folder", "subject": "/")",
                            R"("kind": "folder", "subject": "/..")",
                            R"("kind": "attribute", "subject": "/etc/passwd", "before": "")",
                            R"("kind": "attribute", "subject": "/sys/../etc/passwd", "before": "")",
                            R"("kind": "module", "subject": "../ib_core")",
                            R"("kind": "functions", "subject": "../..", "before": "0")",
                            R"("kind": "functions", "subject": "0000:3b:00.0", "before": "all")",
                            R"("kind": "driver", "subject": "/", "before": "")",
                            R"("kind": "driver", "subject": "0000:3b:00.0", "before": "../x")",
                            R"("kind": "unit", "subject": "--all")",
                            R"("kind": "unit", "subject": "a/b.mount")",
                            R"("kind": "pci", "subject": "x/relaxed-ordering", "before": "1")",
                            R"("kind": "pci", "subject": "0000:3b:00.0/bar", "before": "1")",
                            R"("kind": "link", "subject": "x", "before": "1")",
                            R"("kind": "link", "subject": "../rings.rx", "before": "1")",
                            R"("kind": "link", "subject": "ens8f0/x", "before": "1")"}) {
    tree_.write("var/lib/railhead/setup/journal.json", journal_of(entry));
    const auto before = tree_.everything();
    const auto plan = plan_revert(tree_.machine());
    ASSERT_FALSE(plan) << entry;
    EXPECT_THAT(plan.error().message, HasSubstr("/var/lib/railhead/setup/journal.json")) << entry;
    EXPECT_FALSE(revert(tree_.machine(), kernel_, kSilent)) << entry;
    EXPECT_FALSE(apply(tree_.machine(), kernel_, wanted(kAll), Risk::reboot, kSilent)) << entry;
    EXPECT_EQ(tree_.everything(), before) << entry;
  }
}

TEST_F(ApplyTest, a_journal_that_others_may_write_is_not_believed) {
  do_apply();
  const auto journal = tree_.at("var/lib/railhead/setup/journal.json");
  for (const auto writable : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(journal, fs::perms::owner_all | writable);
    const auto before = tree_.everything();
    const auto result = revert(tree_.machine(), kernel_, kSilent);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr("others than root may write it"));
    EXPECT_EQ(tree_.everything(), before);
  }
  fs::permissions(journal, fs::perms::owner_read | fs::perms::owner_write);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(journal.c_str(), 1234, 1234), 0);
    EXPECT_FALSE(revert(tree_.machine(), kernel_, kSilent)) << "it is of user 1234";
    ASSERT_EQ(::chown(journal.c_str(), 0, 0), 0);
  }
  EXPECT_TRUE(revert(tree_.machine(), kernel_, kSilent));
}

TEST_F(ApplyTest, what_others_write_at_each_boot_does_not_fill_the_journal) {
  const std::string file = "etc/containerd/config.toml";
  fs::permissions(tree_.at(file), fs::perms::owner_all);
  std::string theirs;
  for (int boot = 0; boot < 10; ++boot) {
    fs::remove(tree_.at("run/nri/nri.sock"));
    theirs = "version = 2\n# " + std::to_string(boot) + std::string(20000, 'x') + "\n";
    tree_.write(file, theirs);
    ASSERT_FALSE(do_apply("nri: true").has_failed) << boot;
  }
  EXPECT_LT(fs::file_size(tree_.at("var/lib/railhead/setup/journal.json")), 100000U);
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_EQ(tree_.read(file), theirs);
}

TEST_F(ApplyTest, what_is_too_much_for_the_journal_is_not_changed) {
  // Each character takes six in the journal.
  const std::string file = "etc/modules-load.d/railhead.conf";
  tree_.write(file, std::string(1000000, '\x01'));
  tree_.write("etc/sysctl.d/90-railhead.conf", std::string(1000000, '\x01'));
  tree_.write("etc/security/limits.d/99-railhead-memlock.conf", std::string(1000000, '\x01'));
  const auto outcome = do_apply(
      "modules: [ib_umad]\nmemlock: {limitsFile: true}\n"
      "sysctl: {net.ipv4.conf.all.arp_ignore: 1}\n");
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_THAT(outcome.steps, Contains(testing::Field(
                                 &Step::reason, HasSubstr("the journal would be unreadable"))));
  EXPECT_EQ(tree_.read("etc/security/limits.d/99-railhead-memlock.conf").size(), 1000000U);
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_EQ(tree_.read(file).size(), 1000000U);
}

TEST_F(ApplyTest, a_folder_that_others_use_by_now_stays_and_is_said_to) {
  do_apply("sysctl: {net.ipv4.conf.all.arp_ignore: 1}");
  tree_.write("etc/sysctl.d/theirs.conf", "");
  const auto outcome = do_revert();
  EXPECT_FALSE(outcome.has_failed);
  const auto& step = step_of(outcome.steps, "revert.folder/etc/sysctl.d");
  EXPECT_EQ(step.title, "/etc/sysctl.d stays");
  EXPECT_EQ(step.reason, "something else is in it");
}

TEST_F(ApplyTest, a_folder_that_was_made_again_goes_after_what_is_in_it) {
  const auto before = tree_.everything();
  const std::string text = "sysctl: {net.ipv4.conf.all.arp_ignore: 1}";
  do_apply(text);
  // A revert was ended between the folder and its file, of which it could not forget.
  auto tree = tree_.machine();
  auto journal = Journal::read(*tree.tree).value();
  ASSERT_TRUE(
      journal.forget(*tree.tree, *journal.find(JournalEntry::Kind::folder, "/etc/sysctl.d")));
  fs::remove_all(tree_.at("etc/sysctl.d"));
  do_apply(text);
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(ApplyTest, the_journal_is_there_before_the_change) {
  // A folder in the place of a file: the change fails, what it was to be is known.
  fs::create_directories(tree_.at("etc/sysctl.d/90-railhead.conf"));
  const auto outcome = do_apply("sysctl: {net.ipv4.conf.all.arp_ignore: 1}");
  EXPECT_TRUE(outcome.has_failed ||
              step_of(outcome.steps, "sysctl.at-boot").state == StepState::parked);
  EXPECT_FALSE(do_revert().has_failed);
  EXPECT_EQ(tree_.read("proc/sys/net/ipv4/conf/all/arp_ignore"), "0\n");
}

}  // namespace
}  // namespace railhead::setup::test
