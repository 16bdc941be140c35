// SPDX-License-Identifier: Apache-2.0
#include "host/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include "unit/host/temporary_directory.h"

namespace railhead {
namespace {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::HasSubstr;

class RunProgramTest : public testing::Test {
 protected:
  std::string script(const std::string& body) {
    const auto path = folder_ / "script";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }

  ProgramEnd run(const std::string& body, const std::string& input = "") {
    return run_program({{script(body), "one", "two three"}, input, limit_, grace_}, *stop_);
  }

  [[nodiscard]] std::string out() const { return file_text(folder_ / "out"); }

  [[nodiscard]] std::string into_out() const { return " > " + (folder_ / "out"); }

  TemporaryDirectory folder_;
  std::unique_ptr<Stop> stop_ = Stop::open().value();
  milliseconds limit_{60'000};
  milliseconds grace_{60'000};
};

TEST_F(RunProgramTest, it_reads_the_whole_text_from_standard_input) {
  const std::string text(300'000, 'x');  // more than any pipe holds
  EXPECT_TRUE(run("cat" + into_out(), text).is_fine());
  EXPECT_EQ(out(), text);
}

TEST_F(RunProgramTest, one_that_ignores_its_input_ends_as_it_likes) {
  const auto end = run("exit 3", std::string(300'000, 'x'));
  EXPECT_EQ(end.how, ProgramEnd::How::exited);
  EXPECT_EQ(end.code, 3);
  EXPECT_FALSE(end.is_fine());
}

TEST_F(RunProgramTest, arguments_reach_it_as_they_are_and_no_shell_reads_them) {
  const auto path = script("printf '%s|' \"$@\"" + into_out());
  EXPECT_TRUE(run_program({{path, "$HOME", "a b", ""}, ""}, *stop_).is_fine());
  EXPECT_EQ(out(), "$HOME|a b||");
}

TEST_F(RunProgramTest, nothing_but_path_is_in_its_environment) {
  ::setenv("RAILHEAD_SECRET", "s", 1);
  // The shell itself adds PWD, and some add more; ask the kernel what it was started with.
  EXPECT_TRUE(run("tr '\\0' '\\n' < /proc/$$/environ" + into_out()).is_fine());
  ::unsetenv("RAILHEAD_SECRET");
  const auto variables = out();
  EXPECT_EQ(variables.substr(0, 5), "PATH=");
  EXPECT_EQ(variables.find('\n'), variables.size() - 1) << variables;
}

TEST_F(RunProgramTest, a_descriptor_of_this_process_is_closed_in_it) {
  const UniqueFd leaked(::fcntl(STDERR_FILENO, F_DUPFD, 57));  // without O_CLOEXEC on purpose
  ASSERT_TRUE(leaked);
  const auto place = "/proc/self/fd/" + std::to_string(leaked.get());
  EXPECT_TRUE(run("test ! -e " + place).is_fine());
}

TEST_F(RunProgramTest, it_stands_in_the_root_folder_without_blocked_or_ignored_signals) {
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_TRUE(
      run("exec > " + (folder_ / "out") + "; pwd; exec grep -E 'SigBlk|SigIgn' /proc/self/status")
          .is_fine());
  ::signal(SIGPIPE, SIG_DFL);
  // glibc keeps its own two, 32 and 33, ignored.
  EXPECT_THAT(out(), AnyOf("/\nSigBlk:\t0000000000000000\nSigIgn:\t0000000180000000\n",
                           "/\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
}

TEST_F(RunProgramTest, the_first_line_of_what_it_complains_of_is_kept) {
  const auto end = run("echo no such webhook >&2; echo more >&2; exit 1");
  EXPECT_EQ(end.complaint, "no such webhook");
}

TEST_F(RunProgramTest, a_flood_of_complaints_neither_stops_it_nor_fills_memory) {
  const auto end = run("head -c 3000000 /dev/zero | tr '\\0' e >&2; exit 4");
  EXPECT_EQ(end.code, 4);
  EXPECT_EQ(end.complaint, std::string(256, 'e'));
}

TEST_F(RunProgramTest, an_endless_flood_ends_with_the_limit) {
  limit_ = milliseconds(20);
  const auto end = run("while :; do echo eeeeeeeeeeeeeeeeeeeeeeeeeeeee; done >&2");
  EXPECT_EQ(end.how, ProgramEnd::How::timed_out);
}

TEST_F(RunProgramTest, one_that_hangs_is_asked_to_end_and_may_still_speak) {
  limit_ = milliseconds(500);
  const auto end = run("trap 'echo asked >&2; exit 0' TERM; sleep 1000 2> /dev/null & wait");
  EXPECT_EQ(end.how, ProgramEnd::How::timed_out);
  EXPECT_EQ(end.complaint, "asked");
}

TEST_F(RunProgramTest, one_that_will_not_end_is_killed_with_its_children) {
  limit_ = grace_ = milliseconds(200);
  const auto end =
      run("trap '' TERM; sleep 1000 & echo $!" + into_out() + "; while :; do sleep 0.01; done");
  EXPECT_EQ(end.how, ProgramEnd::How::timed_out);
  EXPECT_EQ(end.code, SIGKILL);
}

TEST_F(RunProgramTest, a_child_that_it_leaves_behind_holds_nothing_up_and_does_not_outlive_it) {
  const auto end = run("sleep 1000 & echo $!" + into_out() + "; echo done >&2");
  EXPECT_TRUE(end.is_fine());
  EXPECT_EQ(end.complaint, "done");
  // Killed, it is gone, a zombie of whoever adopted it, or has the signal pending.
  const auto status = file_text("/proc/" + out().substr(0, out().find('\n')) + "/status");
  EXPECT_THAT(status, AnyOf("", HasSubstr("State:\tZ"), HasSubstr("State:\tX"),
                            HasSubstr("Pnd:\t0000000000000100")));
}

TEST_F(RunProgramTest, a_signal_is_told_from_an_exit_code) {
  const auto end = run("kill -9 $$");
  EXPECT_EQ(end.how, ProgramEnd::How::signalled);
  EXPECT_EQ(end.code, SIGKILL);
}

TEST_F(RunProgramTest, a_stop_ends_it_at_once) {
  stop_->raise();
  const auto end = run("while :; do sleep 0.01; done");
  EXPECT_EQ(end.how, ProgramEnd::How::stopped);
}

TEST_F(RunProgramTest, what_cannot_be_started_says_why) {
  const auto missing = run_program({{folder_ / "nothing"}, ""}, *stop_);
  EXPECT_EQ(missing.how, ProgramEnd::How::not_started);
  EXPECT_THAT(missing.complaint, HasSubstr("nothing: no such file"));
  EXPECT_EQ(run_program({}, *stop_).how, ProgramEnd::How::not_started);
}

TEST_F(RunProgramTest, a_path_is_checked_before_anything_is_run) {
  EXPECT_TRUE(check_program(script("")));
  EXPECT_THAT(check_program(folder_ / "nothing").error().message, HasSubstr("no such file"));
  EXPECT_THAT(check_program(folder_.path()).error().message, HasSubstr("is not a file"));
  ::chmod((folder_ / "script").c_str(), 0644);
  EXPECT_THAT(check_program(folder_ / "script").error().message, HasSubstr("is not executable"));
}

}  // namespace
}  // namespace railhead
