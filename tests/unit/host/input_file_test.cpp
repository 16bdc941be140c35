// SPDX-License-Identifier: Apache-2.0
#include "host/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

using ::testing::HasSubstr;

TEST(InputFile, what_was_written_is_read_back) {
  const test::TemporaryDirectory directory;
  const std::string text = std::string(100000, 'x') + std::string(1, '\0') + "\n";
  ASSERT_TRUE(write_file_atomic(directory / "a", text));
  EXPECT_EQ(read_input_file(directory / "a", 200000).value(), text);
  EXPECT_TRUE(input_file_exists(directory / "a"));
}

TEST(InputFile, a_wanted_file_that_is_absent_is_an_error_with_its_path) {
  const auto text = read_input_file("/no/such/file.yaml", 10);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "/no/such/file.yaml: no such file or directory");
  EXPECT_FALSE(input_file_exists("/no/such/file.yaml"));
  EXPECT_THAT(read_input_file("/", 10).error().message, HasSubstr("is a directory"));
}

TEST(InputFile, a_stream_has_all_bytes_in_their_order) {
  const test::TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 30000; ++i) text += std::to_string(i) + "\n";
  ASSERT_TRUE(write_file_atomic(directory / "a", text));
  std::string seen;
  std::size_t chunks = 0;
  ASSERT_TRUE(stream_input_file(directory / "a", [&](std::string_view bytes) {
    seen += bytes;
    ++chunks;
  }));
  EXPECT_EQ(seen, text);
  EXPECT_GT(chunks, 1U);
  const auto absent = stream_input_file("/no/such.log", [](std::string_view) {});
  EXPECT_EQ(absent.error().message, "/no/such.log: no such file or directory");
}

TEST(InputFile, the_limit_is_on_the_bytes) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write_file_atomic(directory / "a", "12345"));
  EXPECT_TRUE(read_input_file(directory / "a", 5));
  const auto text = read_input_file(directory / "a", 4);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::too_large);
  EXPECT_THAT(text.error().message, HasSubstr("more than 4 bytes"));
}

TEST(InputFile, writing_replaces_whole_files_and_leaves_nothing_beside_them) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write_file_atomic(directory / "a", "a long first text"));
  ASSERT_TRUE(write_file_atomic(directory / "a", "short"));
  EXPECT_EQ(test::file_text(directory / "a"), "short");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);

  struct stat facts {};

  ASSERT_EQ(::stat((directory / "a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0644U);
}

TEST(InputFile, what_is_absent_counts_as_removed_and_a_folder_is_refused) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write_file_atomic(directory / "a", ""));
  EXPECT_TRUE(remove_file(directory / "a"));
  EXPECT_FALSE(std::filesystem::exists(directory / "a"));
  EXPECT_TRUE(remove_file(directory / "a"));
  EXPECT_TRUE(remove_file(directory / "none/a"));
  EXPECT_FALSE(remove_file(directory.path()));
}

TEST(InputFile, folders_are_made_with_those_above_them_and_may_exist) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(make_folders(directory / "a/b/c"));
  ASSERT_TRUE(make_folders(directory / "a/b/c"));
  EXPECT_TRUE(std::filesystem::is_directory(directory / "a/b/c"));
  ASSERT_TRUE(write_file_atomic(directory / "a/file", ""));
  const Status status = make_folders(directory / "a/file/d");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("/a/file"));
}

TEST(InputFile, a_failed_write_says_where_and_leaves_nothing) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "a/b");
  const Status status = write_file_atomic(directory / "a", "x");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("/a: "));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
  EXPECT_FALSE(write_file_atomic(directory / "none/a", "x"));
}

unsigned mode_of(const std::string& path) {
  struct stat facts {};

  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
}

TEST(InputFile, named_files_get_umasks_mode_and_old_files_keep_theirs) {
  const test::TemporaryDirectory directory;
  const auto before = ::umask(077);
  EXPECT_TRUE(write_output_file(directory / "private", "x"));
  ::umask(002);
  EXPECT_TRUE(write_output_file(directory / "shared", "x"));
  EXPECT_TRUE(write_file_atomic(directory / "agents", "x"));
  EXPECT_EQ(::chmod((directory / "shared").c_str(), 04640), 0);
  std::filesystem::create_symlink("private", directory / "link");
  EXPECT_TRUE(write_output_file(directory / "private", "y"));
  EXPECT_TRUE(write_output_file(directory / "shared", "y"));
  EXPECT_TRUE(write_output_file(directory / "link", "y"));
  ::umask(before);
  EXPECT_EQ(mode_of(directory / "private"), 0600U);
  EXPECT_EQ(mode_of(directory / "shared"), 0640U) << "without what makes a program another's";
  EXPECT_EQ(mode_of(directory / "link"), 0600U) << "no wider than what it led to";
  EXPECT_EQ(mode_of(directory / "agents"), 0644U);
}

TEST(InputFile, in_a_folder_of_all_a_file_of_another_user_is_left_alone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const test::TemporaryDirectory directory;
  constexpr uid_t kOther = 65534;
  for (const std::string name : {"theirs", "shared/theirs", "shared/ours"}) {
    std::filesystem::create_directories(directory / "shared");
    EXPECT_TRUE(write_output_file(directory / name, "x"));
  }
  ASSERT_EQ(::chmod((directory / "shared").c_str(), 01777), 0);
  ASSERT_EQ(::chown((directory / "theirs").c_str(), kOther, kOther), 0);
  ASSERT_EQ(::chown((directory / "shared/theirs").c_str(), kOther, kOther), 0);
  EXPECT_EQ(write_output_file(directory / "shared/theirs", "y").error().code, ErrorCode::denied);
  EXPECT_EQ(check_output_file(directory / "shared/theirs").error().code, ErrorCode::denied);
  EXPECT_EQ(read_input_file(directory / "shared/theirs", 10).value(), "x");
  EXPECT_TRUE(write_output_file(directory / "shared/ours", "y"));
  EXPECT_TRUE(write_output_file(directory / "theirs", "y")) << "nobody else can put it there";
}

TEST(InputFile, what_is_no_file_stays_behind_a_link_too) {
  const test::TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", directory / "device-link");
  std::filesystem::create_symlink("pipe", directory / "pipe-link");
  std::filesystem::create_symlink("pipe-link", directory / "link-link");
  std::filesystem::create_symlink(".", directory / "folder-link");
  for (const std::string& path :
       {directory / "device-link", directory / "pipe", directory / "pipe-link",
        directory / "link-link", directory / "folder-link", std::string("/dev/null")}) {
    EXPECT_FALSE(write_output_file(path, "x")) << path;
    EXPECT_FALSE(write_file_atomic(path, "x")) << path;
    EXPECT_FALSE(check_output_file(path)) << path;
    EXPECT_FALSE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path))) << path;
  }
}

TEST(InputFile, whether_an_output_can_be_written_is_known_before) {
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(check_output_file(directory / "new"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  ASSERT_TRUE(write_file_atomic(directory / "old", "text"));
  EXPECT_TRUE(check_output_file(directory / "old"));
  EXPECT_EQ(read_input_file(directory / "old", 10).value(), "text");
  EXPECT_TRUE(check_output_file("/dev/stdout"));
  EXPECT_EQ(check_output_file(directory.path()).error().message,
            directory.path().string() + ": is a directory");
  EXPECT_THAT(check_output_file(directory / "none/a").error().message, HasSubstr("/none/a: "));
}

TEST(InputFile, a_pipe_without_a_writer_keeps_nobody_who_must_not_wait) {
  const test::TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_file_at_once(pipe, 10).error().message, pipe + ": is not a file");
  EXPECT_EQ(write_file_atomic(pipe, "x").error().message, pipe + ": is not a file");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  ASSERT_TRUE(write_file_atomic(directory / "file", "text"));
  EXPECT_EQ(read_file_at_once(directory / "file", 10).value(), "text");
  EXPECT_EQ(read_file_at_once(directory / "file", 3).error().code, ErrorCode::too_large);
  EXPECT_EQ(read_file_at_once("/dev/null", 10).value(), "");
}

}  // namespace
}  // namespace railhead::host
