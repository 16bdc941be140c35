// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>

#include "snapshot/snapshot.h"

namespace railhead::snapshot {
namespace {

TEST(SnapshotFormat, is_sorted_and_in_the_shortest_form) {
  Snapshot snapshot;
  snapshot.comments = {"a machine", ""};
  snapshot.entries = {
      {"/sys/b", SnapshotFile{"1: CA\n"}},
      {"/sys/a b%", SnapshotFile{"x\ny\n"}},
      {"/sys/empty", SnapshotFile{""}},
      {"/sys/line", SnapshotFile{"\n"}},
      {"/sys/trailing", SnapshotFile{"x \n"}},
      {"/sys/link", SnapshotLink{"../a b"}},
      {"/sys/d", SnapshotDirectory{}},
      {"/dev/u", host::DeviceNode{'c', 231, 192, 0600, 0, 5}},
      {"/sys/e", SnapshotUnreadable{EINVAL}},
      {"/sys/x", SnapshotName{}},
  };
  EXPECT_EQ(format_snapshot(snapshot),
            "railhead-snapshot 1\n"
            "# a machine\n"
            "#\n"
            "c /dev/u 231:192 0600 0:5\n"
            "f /sys/a%20b%25 4\nx\ny\n\n"
            "t /sys/b 1: CA\n"
            "d /sys/d\n"
            "e /sys/e EINVAL\n"
            "f /sys/empty 0\n\n"
            "t /sys/line\n"
            "l /sys/link -> ../a%20b\n"
            "f /sys/trailing 3\nx \n\n"
            "x /sys/x\n");
}

TEST(SnapshotFormat, reads_back_to_the_same_value) {
  Snapshot snapshot;
  snapshot.comments = {"one", "", "  indented", "# twice"};
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  snapshot.entries = {
      {"/f", SnapshotFile{bytes}},
      {"/no-newline", SnapshotFile{"x"}},
      {"/leading", SnapshotFile{"  x\n"}},
      {"/space", SnapshotFile{" \n"}},
      {"/utf8", SnapshotFile{"\xe2\x82\xac \xf0\x9f\x98\x80\n"}},
      {"/bad-utf8", SnapshotFile{"\xf4\x90\x80\x80\n"}},
      {"/p\x01\x20\x7f%\xff\n", SnapshotLink{"\x01 %\xff"}},
      {"/e", SnapshotUnreadable{EFBIG}},
      {"/e/x", SnapshotName{}},
      {"/b", host::DeviceNode{'b', 4294967295U, 0, 07777, 1, 4294967295U}},
  };
  const std::string text = format_snapshot(snapshot);
  const auto again = parse_snapshot(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, snapshot);
  EXPECT_EQ(format_snapshot(*again), text);
}

TEST(SnapshotFormat, a_comment_cannot_become_an_entry) {
  Snapshot snapshot;
  snapshot.comments = {"note\nt /etc/passwd x"};
  EXPECT_EQ(format_snapshot(snapshot), "railhead-snapshot 1\n# note t /etc/passwd x\n");
}

}  // namespace
}  // namespace railhead::snapshot
