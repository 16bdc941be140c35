// SPDX-License-Identifier: Apache-2.0
#include "host/program.h"

#include <sys/stat.h>

#include <gmock/gmock.h>

#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

using testing::HasSubstr;

TEST(Program, is_found_on_path_in_its_order_and_only_where_it_can_be_run) {
  const test::TemporaryDirectory first;
  const test::TemporaryDirectory second;
  const Environment environment{{"PATH", first.path().string() + ":" + second.path().string()}};
  std::ofstream(first / "railhead-x") << "#!/bin/sh\n";
  std::ofstream(second / "railhead-x") << "#!/bin/sh\n";
  ::chmod((second / "railhead-x").c_str(), 0755);
  EXPECT_EQ(find_program("railhead-x", environment).value(), second / "railhead-x");
  ::chmod((first / "railhead-x").c_str(), 0755);
  EXPECT_EQ(find_program("railhead-x", environment).value(), first / "railhead-x");
}

TEST(Program, is_not_looked_for_relative_to_the_working_directory) {
  const auto found = find_program("sh", {{"PATH", ":.:bin:"}});
  EXPECT_FALSE(found) << *found;
}

TEST(Program, that_is_nowhere_says_where_it_was_looked_for) {
  const auto found = find_program("railhead-x", {{"PATH", "/no/such/folder"}});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("railhead-x is not installed"));
  EXPECT_THAT(found.error().message, HasSubstr("/no/such/folder"));
  EXPECT_THAT(found.error().message, HasSubstr("../libexec/railhead"));
}

TEST(Program, that_cannot_be_run_leaves_this_one_as_it_is) {
  EXPECT_THAT(become_program("/no/such/program", {"x"}).message,
              HasSubstr("/no/such/program: No such file"));
}

constexpr std::chrono::seconds kLong(30);

TEST(Program, that_is_run_gives_its_output_and_exit_code) {
  const auto answer = run_program("/bin/sh", {"-c", "echo out; echo err >&2; exit 3"}, kLong);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->output, "out\n");
  EXPECT_EQ(answer->exit_code, 3);
  EXPECT_EQ(run_program("/bin/sh", {"-c", "kill -9 $$"}, kLong)->exit_code, -1);
}

TEST(Program, that_does_not_end_is_ended) {
  const auto answer =
      run_program("/bin/sh", {"-c", "exec sleep 600"}, std::chrono::milliseconds(50));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::timeout);
}

TEST(Program, that_writes_without_end_is_ended) {
  const auto answer = run_program("/bin/sh", {"-c", "exec cat /dev/zero"}, kLong);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::too_large);
}

TEST(Program, that_is_not_there_cannot_be_run) {
  EXPECT_FALSE(run_program("/no/such/program", {}, kLong).has_value());
}

}  // namespace
}  // namespace railhead::host
