// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapshot/snapshot.h"

namespace railhead::snapshot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Snapshot parsed(const std::string& lines) {
  auto snapshot = parse_snapshot("railhead-snapshot 1\n" + lines);
  EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().message);
  return snapshot.value_or(Snapshot{});
}

std::string message(const std::string& lines) {
  const auto snapshot = parse_snapshot("railhead-snapshot 1\n" + lines);
  if (snapshot) return "accepted";
  EXPECT_EQ(snapshot.error().code, ErrorCode::malformed);
  return snapshot.error().message;
}

TEST(SnapshotParse, reads_every_letter) {
  const Snapshot snapshot = parsed(
      "t /t a text with spaces \xc3\xa9\n"
      "f /f 4\na\n\nb\n"
      "l /l -> ../with%20space\n"
      "d /d\n"
      "c /c 231:192 0666 0:44\n"
      "b /b 8:0 1660 1:2\n"
      "e /e EACCES\n"
      "x /x\n"
      "t /empty\n"
      "f /nothing 0\n\n");
  const auto& entries = snapshot.entries;
  EXPECT_EQ(entries.at("/t"), SnapshotEntry(SnapshotFile{"a text with spaces \xc3\xa9\n"}));
  EXPECT_EQ(entries.at("/f"), SnapshotEntry(SnapshotFile{"a\n\nb"}));
  EXPECT_EQ(entries.at("/l"), SnapshotEntry(SnapshotLink{"../with space"}));
  EXPECT_EQ(entries.at("/d"), SnapshotEntry(SnapshotDirectory{}));
  EXPECT_EQ(entries.at("/c"), SnapshotEntry(host::DeviceNode{'c', 231, 192, 0666, 0, 44}));
  EXPECT_EQ(entries.at("/b"), SnapshotEntry(host::DeviceNode{'b', 8, 0, 01660, 1, 2}));
  EXPECT_EQ(entries.at("/e"), SnapshotEntry(SnapshotUnreadable{EACCES}));
  EXPECT_EQ(entries.at("/x"), SnapshotEntry(SnapshotName{}));
  EXPECT_EQ(entries.at("/empty"), SnapshotEntry(SnapshotFile{"\n"}));
  EXPECT_EQ(entries.at("/nothing"), SnapshotEntry(SnapshotFile{""}));
}

TEST(SnapshotParse, keeps_the_comments_before_the_first_entry) {
  const Snapshot snapshot = parsed("# a DGX\n#\n#  indented\nt /a 1\n# dropped\nt /b 2\n");
  EXPECT_THAT(snapshot.comments, ElementsAre("a DGX", "", " indented"));
}

TEST(SnapshotParse, the_order_of_entries_does_not_matter) {
  EXPECT_EQ(parsed("t /b/c 1\nt /a 2\nd /b\n"), parsed("d /b\nt /a 2\nt /b/c 1\n"));
}

TEST(SnapshotParse, needs_its_first_line) {
  for (const char* text : {"", "\n", "railhead-snapshot 2\n", "t /a 1\n", "railhead-snapshot 1"}) {
    const auto snapshot = parse_snapshot(text);
    ASSERT_FALSE(snapshot) << text;
    EXPECT_EQ(snapshot.error().code, ErrorCode::malformed);
  }
  EXPECT_TRUE(parse_snapshot("railhead-snapshot 1\n"));
}

TEST(SnapshotParse, errors_name_the_line) {
  EXPECT_THAT(message("t /a 1\nq /b 1\n"), HasSubstr("snapshot line 3: unknown letter \"q\""));
  EXPECT_THAT(message("f /a 3\nx\ny\nq /b 1\n"), HasSubstr("snapshot line 5: "));
  EXPECT_THAT(message("t /a 1\n\nt /b 1\n"), HasSubstr("snapshot line 3: "));
}

TEST(SnapshotParse, refuses_conflicts_in_any_order) {
  EXPECT_THAT(message("t /a 1\nt /a/b 1\n"), HasSubstr("line 3: \"/a\" is not a directory"));
  EXPECT_THAT(message("t /a/b/c 1\nx /a\n"), HasSubstr("line 3: \"/a\" has entries below"));
  EXPECT_THAT(message("l /a -> b\nd /a/b\n"), HasSubstr("line 3"));
  EXPECT_THAT(message("t /a 1\nd /a\n"), HasSubstr("a second entry for \"/a\""));
  EXPECT_THAT(message("d /a\nd /a\n"), HasSubstr("a second entry"));
  EXPECT_THAT(message("t / 1\n"), HasSubstr("line 2"));
  EXPECT_TRUE(parse_snapshot("railhead-snapshot 1\ne /a EACCES\nt /a/b 1\nd /\n"));
}

TEST(SnapshotParse, refuses_what_is_not_an_entry) {
  for (const char* line : {"t",
                           "t ",
                           "t a 1",
                           "t /a/ 1",
                           "t /a/../b 1",
                           "t /a//b 1",
                           "t /a/. 1",
                           "t /%00 1",
                           "t /%4 1",
                           "t /% 1",
                           "t /%zz 1",
                           "t /a \x01",
                           "t /a b\r",
                           "t /a \xff",
                           "t /a \xc0\x80",
                           "t /a \xed\xa0\x80",
                           "t /a \x7f",
                           "t /a \xc2\x85",
                           "tt /a 1",
                           "t\t/a 1",
                           "f /a",
                           "f /a -1",
                           "f /a 1x",
                           "f /a 99",
                           "l /a",
                           "l /a b",
                           "l /a ->",
                           "l /a -> ",
                           "l /a -> b c",
                           "l /a -> b%00",
                           "l /a -> b\x01",
                           "d /a\x7f",
                           "d /a\tb",
                           "d /a b",
                           "c /a",
                           "c /a 1:2",
                           "c /a 1 0666 0:0",
                           "c /a 1:2 0999 0:0",
                           "c /a 1:2 10666 0:0",
                           "c /a 1:2 0666 0",
                           "c /a 1:2 0666 0:0 0",
                           "c /a 1:99999999999 0 0:0",
                           "e /a",
                           "e /a EWHAT",
                           "e /a ENOENT",
                           "x /a 1"}) {
    EXPECT_THAT(message(std::string(line) + "\n"), HasSubstr("snapshot line 2: ")) << line;
  }
}

TEST(SnapshotParse, a_text_that_was_cut_off_is_noticed) {
  EXPECT_THAT(message("t /a 1"), HasSubstr("cut off"));
  EXPECT_THAT(message("f /a 2\nxy"), HasSubstr("cut off"));
  EXPECT_THAT(message("f /a 4\nxy\n"), HasSubstr("wrong length"));
  EXPECT_THAT(message("f /a 1\nxy\n"), HasSubstr("wrong length"));
}

TEST(SnapshotParse, limits_are_too_large) {
  const std::string head = "railhead-snapshot 1\n";
  const auto code = [&](const std::string& lines) {
    const auto snapshot = parse_snapshot(head + lines);
    return snapshot ? ErrorCode::internal : snapshot.error().code;
  };
  EXPECT_EQ(code("f /a 1048577\n" + std::string(1048577, 'x') + "\n"), ErrorCode::too_large);
  EXPECT_EQ(code("t /a " + std::string(1048576, 'x') + "\n"), ErrorCode::too_large);
  EXPECT_EQ(code("d /" + std::string(4096, 'x') + "\n"), ErrorCode::too_large);
  EXPECT_EQ(code("l /a -> " + std::string(4097, 'x') + "\n"), ErrorCode::too_large);
  EXPECT_EQ(code(std::string(SnapshotLimits::kBytes, '#')), ErrorCode::too_large);
  EXPECT_EQ(code("d /" + std::string(4095, 'x') + "\n"), ErrorCode::internal);
}

TEST(SnapshotParse, many_implied_directories_are_too_large) {
  std::string text = "railhead-snapshot 1\n";
  std::string tail;
  for (int i = 0; i < 1000; ++i) tail += "/a";
  for (int i = 0; i < 600; ++i) text += "x /" + std::to_string(i) + tail + "\n";
  const auto snapshot = parse_snapshot(text);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace railhead::snapshot
