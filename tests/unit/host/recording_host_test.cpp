// SPDX-License-Identifier: Apache-2.0
#include "host/recording_host.h"

#include <random>

#include <gtest/gtest.h>

#include "host/snapshot_host.h"

namespace railhead {
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

std::unique_ptr<Host> machine() {
  return SnapshotHost::parse(std::string(kMachine) + std::string("\x00\n\x01", 3) + "\n").value();
}

/// One access and its answer as text, to compare two hosts.
std::string answer(Host& host, unsigned kind, const std::string& path) {
  const auto show = [](const auto& result, const auto& text) -> std::string {
    if (!result) return "error " + result.error().message;
    return *result ? text(**result) : "absent";
  };
  const auto same = [](const std::string& text) { return text; };
  switch (kind % 4) {
    case 0: return show(host.read(path), same);
    case 1: return show(host.readlink(path), same);
    case 2:
      return show(host.list(path), [](const std::vector<std::string>& names) {
        std::string text = "names";
        for (const auto& name : names) text += " " + name;
        return text;
      });
    default:
      return show(host.device(path), [](const DeviceNode& node) {
        return std::to_string(node.major) + ":" + std::to_string(node.minor) + " " +
               std::to_string(node.mode);
      });
  }
}

TEST(RecordingHost, what_was_recorded_gives_the_same_answers_to_the_same_questions) {
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
      answers.push_back(answer(recorder, asked.back().first, asked.back().second));
    }
    const auto text = format_snapshot(recorder.recorded());
    const auto replay = SnapshotHost::parse(text);
    ASSERT_TRUE(replay) << replay.error().message << "\n" << text;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(answer(**replay, asked[i].first, asked[i].second), answers[i])
          << asked[i].first % 4 << " " << asked[i].second << "\n"
          << text;
    }
  }
}

TEST(RecordingHost, records_links_on_the_way_and_nothing_that_was_not_asked_for) {
  const auto host = machine();
  RecordingHost recorder(*host);
  ASSERT_TRUE(recorder.read("/sys/class/infiniband/mlx5_0/node_type"));
  EXPECT_EQ(
      format_snapshot(recorder.recorded()),
      "railhead-snapshot 1\n"
      "l /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0\n"
      "t /sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0/node_type 1: CA\n");
}

}  // namespace
}  // namespace railhead
