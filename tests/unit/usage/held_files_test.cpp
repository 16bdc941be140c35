// SPDX-License-Identifier: Apache-2.0
#include "usage/held_files.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "host/host_error.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/empty_host.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;

usage::HeldFiles held_by(host::Host& host, const std::vector<std::uint32_t>& processes,
                         const usage::ProcessTable& table = {}) {
  return usage::HeldFilesReader(host, "/proc", table).read(processes);
}

usage::HeldFiles held_by_7(const std::string& entries) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n" + entries).value();
  return held_by(*host, {7, 8});
}

TEST(HeldFiles, links_say_what_is_open) {
  const auto held = held_by_7(
      "l /proc/7/fd/0 -> /dev/null\nl /proc/7/fd/3 -> socket:[31]\n"
      "l /proc/7/fd/4 -> anon_inode:[devx_async_event]\nl /proc/8/fd/4 -> "
      "anon_inode:[devx_async_cmd]\n"
      "l /proc/7/fd/5 -> /dev/nvidia0\nl /proc/8/fd/5 -> /dev/nvidiactl\n"
      "l /proc/7/fd/6 -> /dev/nvidia-caps-imex-channels/channel0\nl /proc/7/fd/7 -> /dev/hfi1_0\n");
  EXPECT_THAT(held.sockets, ElementsAre(31));
  EXPECT_EQ(held.devx, 2U);
  EXPECT_EQ(held.imex_channels, 1U);
  EXPECT_THAT(held.other_fabrics, ElementsAre("/dev/hfi1_0"));
  EXPECT_THAT(held.gpu_processes, ElementsAre(7));
  EXPECT_EQ(held.doubt, "");
}

TEST(HeldFiles, what_may_not_be_seen_is_said) {
  EXPECT_EQ(held_by_7("e /proc/7/fd EACCES\n").doubt, "/proc/7/fd: permission denied");
  EXPECT_EQ(held_by_7("e /proc/8/fd/3 EACCES\n").doubt, "");
}

TEST(HeldFiles, of_a_process_whose_first_thread_has_ended_nothing_is_shown) {
  usage::ProcessTable table;
  table.by_id[7].leaderless = true;
  table.by_id[7].start_ticks = 5;
  const auto host =
      snapshot::SnapshotHost::parse(
          "railhead-snapshot 1\nd /proc/7/fd\nf /proc/7/stat 53\n7 (x) Z 1 0 0 0 0 0 0 "
          "0 0 0 0 0 0 0 20 0 2 0 5 0 0 0\n\n")
          .value();
  EXPECT_EQ(held_by(*host, {7}, table).doubt,
            "/proc/7/fd shows none, because its first thread has ended");
}

TEST(HeldFiles, only_what_is_read_tells_of_use) {
  for (const auto* target : {"socket:[31]", "anon_inode:[devx_async_event]", "/dev/nvidia0",
                             "/dev/nvidia-caps-imex-channels/channel0", "/dev/hfi1_0"}) {
    EXPECT_TRUE(usage::tells_of_use(target)) << target;
  }
  for (const auto* target : {"/data/patient-17.csv", "pipe:[31]", "socket:[x]", "/dev/nvidiactl"}) {
    EXPECT_FALSE(usage::tells_of_use(target)) << target;
  }
}

TEST(HeldFiles, a_fabrics_node_is_called_as_its_driver_calls_it) {
  const auto fabrics = [](const std::string& path) {
    return held_by_7("l /proc/7/fd/3 -> " + path + "\n").other_fabrics;
  };
  EXPECT_THAT(fabrics("/dev/cxi0"), ElementsAre("/dev/cxi0"));
  EXPECT_THAT(fabrics("/dev/hfi1_12"), ElementsAre("/dev/hfi1_12"));
  for (const auto* path : {"/dev/cxi", "/dev/cxi0x", "/dev/hfi1_%1b[31mred",
                           "/dev/hfi1_0%20(deleted)", "/dev/hfi1_123456789", "/tmp/dev/cxi0"}) {
    EXPECT_THAT(fabrics(path), testing::IsEmpty()) << path;
  }
}

TEST(HeldFiles, what_is_behind_a_limit_was_not_looked_at) {
  const auto host =
      snapshot::SnapshotHost::parse("railhead-snapshot 1\nl /proc/7/fd/3 -> socket:[31]\n").value();
  std::vector<std::uint32_t> processes(1024, 7);
  EXPECT_EQ(held_by(*host, processes).doubt, "");
  processes.push_back(8);
  EXPECT_EQ(held_by(*host, processes).doubt, "more than 1024 processes may hold them");
}

/// A container whose processes hold any number of descriptors.
class ManyFiles final : public EmptyHost {
 public:
  Result<std::optional<host::LinkWalk>> walk_links(
      const std::string&, std::size_t limit,
      const std::function<void(const std::string&)>& take) override {
    host::LinkWalk walk;
    walk.entries = std::min(open, limit);
    walk.is_cut = open > limit;
    for (std::size_t i = 0; i < walk.entries; ++i) {
      ++asked;
      take("/dev/null");
    }
    return std::optional(walk);
  }

  std::size_t open = 0;
  std::size_t asked = 0;
};

TEST(HeldFiles, of_a_hundred_thousand_descriptors_so_many_are_read) {
  ManyFiles host;
  host.open = 100'000;
  EXPECT_EQ(held_by(host, {7}).doubt, "more than 65536 descriptors may be theirs");
  EXPECT_EQ(host.asked, 65536U);
  host.open = 40'000;
  EXPECT_EQ(held_by(host, {7, 8, 9, 10}).doubt, "more than 65536 descriptors may be theirs");
  EXPECT_EQ(host.asked, 2 * 65536U);
  host.open = 65'536;
  EXPECT_EQ(held_by(host, {7}).doubt, "");
}

TEST(HeldFiles, the_descriptors_of_all_containers_together_have_a_limit) {
  ManyFiles host;
  host.open = 60'000;
  const usage::ProcessTable table;
  usage::HeldFilesReader reader(host, "/proc", table);
  for (int container = 0; container < 17; ++container) EXPECT_EQ(reader.read({7}).doubt, "");
  EXPECT_EQ(reader.read({7}).doubt, "more than 1048576 descriptors are open on this node");
  EXPECT_EQ(host.asked, std::size_t{1} << 20);
}

TEST(HeldFiles, who_took_the_number_of_a_process_that_ended_is_left_out) {
  const auto host = snapshot::SnapshotHost::parse(
                        "railhead-snapshot 1\nl /proc/7/fd/3 -> socket:[31]\n"
                        "t /proc/7/stat 7 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 2000 0 0\n")
                        .value();
  usage::ProcessTable table;
  table.by_id[7].start_ticks = 2000;
  EXPECT_THAT(held_by(*host, {7}, table).sockets, ElementsAre(31));
  table.by_id[7].start_ticks = 1000;
  EXPECT_THAT(held_by(*host, {7}, table).sockets, testing::IsEmpty());
  EXPECT_EQ(held_by(*host, {7}, table).doubt, "");
}

}  // namespace
}  // namespace railhead::test
