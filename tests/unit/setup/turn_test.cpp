// SPDX-License-Identifier: Apache-2.0
#include "setup/turn.h"

#include <gmock/gmock.h>

#include "setup/apply.h"
#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// Writes down what it is asked, in one list with what the kernel does.
class NotedTurn final : public Turn {
 public:
  explicit NotedTurn(std::vector<std::string>& notes)
      : notes_(notes) {}

  Status take() override {
    notes_.emplace_back("take");
    if (on_take) on_take();
    return taken;
  }

  Status come_back() override {
    notes_.emplace_back("come back");
    return back;
  }

  Status give_back(const std::string& kept_for) override {
    notes_.push_back("give back " + kept_for);
    return given;
  }

  Status taken, back, given;
  std::function<void()> on_take;

 private:
  std::vector<std::string>& notes_;
};

class TurnTest : public testing::Test {
 protected:
  TurnTest() {
    tree_.service("containerd");
    tree_.write("etc/containerd/config.toml", "version = 2\n");
    tree_.write("proc/7/comm", "containerd\n");
    tree_.write("proc/7/cmdline", "containerd");
    tree_.write("proc/sys/kernel/random/boot_id", "boot-1\n");
    kernel_.on_restart = [this] {
      notes_.emplace_back("restart");
      tree_.write("run/nri/nri.sock", "");
    };
  }

  Outcome do_apply(const std::string& text = "{modules: [ib_umad], nri: true}",
                   Risk allowed = Risk::restart) {
    notes_.clear();
    return apply(tree_.machine(), kernel_, wanted(text), allowed, kSilent, &turn_).value();
  }

  const Error why_{ErrorCode::unavailable, "for a reason"};
  NodeTree tree_;
  TreeKernel kernel_{tree_};
  std::vector<std::string> notes_;
  NotedTurn turn_{notes_};
};

TEST_F(TurnTest, is_taken_before_a_restart_and_given_back_at_the_end) {
  const auto outcome = do_apply();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_THAT(notes_, ElementsAre("take", "take", "restart", "come back", "give back "));
}

TEST_F(TurnTest, is_not_taken_where_nothing_needs_it) {
  do_apply("modules: [ib_umad]");
  EXPECT_THAT(notes_, IsEmpty());
  do_apply("nri: true");
  do_apply("nri: true");
  EXPECT_THAT(notes_, ElementsAre("give back ")) << "all of it is done";
}

TEST_F(TurnTest, is_not_taken_for_what_is_not_consented_to) {
  do_apply("nri: true", Risk::live);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(TurnTest, is_taken_where_systemd_reads_its_files_again_too) {
  tree_.write("lib/modules/6.1.0-test/modules.dep", "kernel/rpcrdma.ko:\n");
  tree_.write("sys/module/rpcrdma/initstate", "live\n");
  do_apply("nfs: [{what: 'nas.example.com:/data', where: /mnt/ai-data}]");
  EXPECT_THAT(kernel_.started, ElementsAre("mnt-ai\\x2ddata.automount"));
  EXPECT_THAT(notes_, ElementsAre("take", "take", "come back", "give back "));
}

TEST_F(TurnTest, without_it_the_restart_is_refused_and_all_else_is_done) {
  turn_.taken = why_;
  const auto outcome = do_apply();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "service.restarted/containerd").state, StepState::refused);
  EXPECT_EQ(step_of(outcome.steps, "service.restarted/containerd").reason, "for a reason");
  EXPECT_EQ(step_of(outcome.steps, "modules.loaded/ib_umad").state, StepState::done);
  EXPECT_THAT(kernel_.restarted, IsEmpty());
  // The next run does it.
  turn_.taken = {};
  EXPECT_EQ(step_of(do_apply().steps, "service.restarted/containerd").state, StepState::done);
}

TEST_F(TurnTest, what_was_done_by_others_while_it_waited_is_not_done_again) {
  turn_.on_take = [this] { tree_.write("run/nri/nri.sock", ""); };
  do_apply();
  EXPECT_THAT(notes_, ElementsAre("take", "give back "));
  EXPECT_THAT(kernel_.restarted, IsEmpty());
}

TEST_F(TurnTest, is_kept_where_the_machine_does_not_come_back) {
  turn_.back = why_;
  const auto outcome = do_apply();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "service.restarted/containerd").reason, "failed: for a reason");
  EXPECT_THAT(notes_, Contains("give back a step failed"));
}

TEST_F(TurnTest, is_kept_where_the_restart_was_in_vain) {
  kernel_.on_restart = nullptr;
  EXPECT_TRUE(do_apply().has_failed);
  EXPECT_THAT(notes_, Contains("give back a step failed"));
  do_apply();
  EXPECT_THAT(notes_, ElementsAre("give back its restart of containerd did not help"));
  // After a boot it is another machine.
  tree_.write("proc/sys/kernel/random/boot_id", "boot-2\n");
  tree_.write("run/nri/nri.sock", "");
  do_apply();
  EXPECT_THAT(notes_, ElementsAre("give back "));
}

TEST_F(TurnTest, that_is_not_given_back_is_a_failure) {
  turn_.given = why_;
  const auto outcome = do_apply();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_EQ(step_of(outcome.steps, "turn.given-back").state, StepState::parked);
  EXPECT_EQ(step_of(outcome.steps, "turn.given-back").reason, "failed: for a reason");
}

}  // namespace
}  // namespace railhead::setup::test
