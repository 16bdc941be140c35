// SPDX-License-Identifier: Apache-2.0
#include "snapshot/recording_host.h"

#include <random>

#include <gtest/gtest.h>

#include "host/host_error.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/answers.h"
#include "unit/host/empty_host.h"
#include "unit/snapshot/random_tree.h"

namespace railhead::snapshot {
namespace {

constexpr const char* kMachine = R"(railhead-snapshot 1
d /sys/bus/pci/drivers
c /dev/infiniband/uverbs0 231:192 0666 0:0
l /loop -> /loop
e /sys/broken EIO
l /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0
l /sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0/device -> ../../../0000:00:01.0
t /sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0/node_type 1: CA
t /sys/devices/pci0000:00/0000:00:01.0/vendor 0x15b3
f /sys/binary 3
)";

std::unique_ptr<host::Host> machine() {
  return SnapshotHost::parse(std::string(kMachine) + std::string("\x00\n\x01", 3) + "\n").value();
}

TEST(RecordingHost, a_recording_answers_the_same_questions_alike) {
  const std::vector<std::string> paths = {"/",
                                          "/sys",
                                          "/sys/binary",
                                          "/sys/broken",
                                          "/sys/broken/below",
                                          "/loop",
                                          "/none",
                                          "/dev/infiniband",
                                          "/dev/infiniband/uverbs0",
                                          "/sys/class/infiniband",
                                          "/sys/class/infiniband/mlx5_0",
                                          "/sys/class/infiniband/mlx5_0/node_type",
                                          "/sys/class/infiniband/mlx5_0/device/vendor",
                                          "/sys/class/infiniband/mlx5_0/../../../vendor",
                                          "/sys/bus/pci/drivers",
                                          "/sys/devices/pci0000:00/0000:00:01.0",
                                          "/sys/devices/pci0000:00/0000:00:01.0/vendor/below"};
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto host = machine();
    RecordingHost recorder(*host);
    std::vector<std::pair<unsigned, std::string>> asked;
    std::vector<std::string> answers;
    const auto count = 1 + random() % 12;
    for (std::size_t i = 0; i < count; ++i) {
      asked.emplace_back(static_cast<unsigned>(random()), paths[random() % paths.size()]);
      answers.push_back(test::answer(recorder, asked.back().first, asked.back().second));
    }
    const auto text = format_snapshot(recorder.recorded());
    const auto replay = SnapshotHost::parse(text);
    ASSERT_TRUE(replay) << replay.error().message << "\n" << text;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(test::answer(**replay, asked[i].first, asked[i].second), answers[i])
          << asked[i].first % 4 << " " << asked[i].second << "\n"
          << text;
    }
  }
}

TEST(RecordingHost, a_recording_of_any_machine_answers_any_question_alike) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    test::RandomTree tree(seed, test::Oddities::some);
    SnapshotHost original(tree.snapshot());
    RecordingHost recorder(original);
    std::vector<std::pair<unsigned, std::string>> asked;
    std::vector<std::string> answered;
    for (unsigned count = 1 + tree.pick(12); count > 0; --count) {
      asked.emplace_back(tree.pick(4), tree.path());
      answered.push_back(test::answer(recorder, asked.back().first, asked.back().second));
    }
    const std::string text = format_snapshot(recorder.recorded());
    const auto replay = SnapshotHost::parse(text);
    ASSERT_TRUE(replay) << replay.error().message << "\n" << text;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      EXPECT_EQ(test::answer(**replay, asked[i].first, asked[i].second), answered[i])
          << "seed " << seed << " question " << asked[i].first << "\n"
          << text;
    }
  }
}

TEST(RecordingHost, directories_that_dots_left_are_kept) {
  const auto host = SnapshotHost::parse("railhead-snapshot 1\nd /a/b\nt /a/c 1\n").value();
  RecordingHost recorder(*host);
  EXPECT_EQ(recorder.read_keeping("/a/b/../c", test::whole).value(), "1\n");
  EXPECT_EQ(format_snapshot(recorder.recorded()), "railhead-snapshot 1\nd /a/b\nt /a/c 1\n");
}

std::string first_line(std::string_view content) {
  return std::string(content.substr(0, content.find('\n') + 1));
}

std::string secret_lines(std::string_view content) {
  return content.find("b") == std::string_view::npos ? "" : "a\nb\n";
}

std::string nothing(std::string_view /*content*/) {
  return "";
}

TEST(RecordingHost, keeps_what_readers_need_and_of_other_files_the_name) {
  const auto host = SnapshotHost::parse(
                        "railhead-snapshot 1\nf /a 6\na\nb\nc\n\nl /etc/a -> /a\n"
                        "t /other secret\nt /unasked secret\nt /useless secret\n")
                        .value();
  RecordingHost recorder(*host);
  EXPECT_EQ(recorder.read_keeping("/etc/a", first_line).value(), "a\nb\nc\n") << "the whole";
  EXPECT_EQ(recorder.read_keeping("/a", secret_lines).value(), "a\nb\nc\n");
  ASSERT_TRUE(recorder.read("/other"));
  ASSERT_TRUE(recorder.read_keeping("/useless", nothing));
  ASSERT_TRUE(recorder.list_keeping("/", [](std::string_view name) { return name == "useless"; }));
  EXPECT_EQ(format_snapshot(recorder.recorded()),
            "railhead-snapshot 1\nd /\nf /a 4\na\nb\n\nl /etc/a -> /a\nx /other\n");
  EXPECT_EQ(recorder.asked().at("/a"), "/etc/a");
}

/// Answers "/a" as a file, and later has something below it.
class Changing : public test::EmptyHost {
 public:
  Result<std::optional<std::string>> read(const std::string& path) override {
    return std::optional<std::string>(path);
  }
};

TEST(RecordingHost, a_machine_that_changes_meanwhile_makes_a_valid_snapshot) {
  Changing host;
  RecordingHost recorder(host);
  ASSERT_TRUE(recorder.read_keeping("/a", test::whole));
  ASSERT_TRUE(recorder.read_keeping("/a-b", test::whole));
  ASSERT_TRUE(recorder.read_keeping("/a/b", test::whole));
  EXPECT_EQ(format_snapshot(recorder.recorded()),
            "railhead-snapshot 1\nd /a\nf /a-b 4\n/a-b\nf /a/b 4\n/a/b\n");
}

TEST(RecordingHost, a_failure_keeps_its_errno) {
  const auto host = SnapshotHost::parse("railhead-snapshot 1\ne /a EINVAL\ne /b EPERM\n").value();
  RecordingHost recorder(*host);
  EXPECT_FALSE(recorder.read("/a"));
  EXPECT_FALSE(recorder.list("/b"));
  EXPECT_EQ(format_snapshot(recorder.recorded()), "railhead-snapshot 1\ne /a EINVAL\ne /b EPERM\n");
}

TEST(RecordingHost, records_links_on_the_way_and_nothing_that_was_not_asked_for) {
  const auto host = machine();
  RecordingHost recorder(*host);
  ASSERT_TRUE(recorder.read_keeping("/sys/class/infiniband/mlx5_0/node_type", test::whole));
  EXPECT_EQ(
      format_snapshot(recorder.recorded()),
      "railhead-snapshot 1\n"
      "l /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0\n"
      "t /sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0/node_type 1: CA\n");
}

}  // namespace
}  // namespace railhead::snapshot
