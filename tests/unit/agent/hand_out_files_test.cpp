// SPDX-License-Identifier: Apache-2.0
#include "agent/hand_out_files.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "allocation/cdi_spec.h"
#include "allocation/device_info.h"
#include "unit/host/temporary_directory.h"
#include "unit/inject/pool_specs.h"

namespace railhead::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using test::exclusive_pool;
using test::seed_with;
using test::shared_pool;

class HandOutFilesTest : public testing::Test {
 protected:
  HandOutFiles files(config::HandOut hand_out) { return {{cdi(), info()}, hand_out, log_}; }

  [[nodiscard]] std::string cdi() const { return folder_ / "run/cdi"; }

  [[nodiscard]] std::string info() const { return folder_ / "run/devinfo/dp"; }

  static std::vector<std::string> names(const std::string& folder) {
    std::vector<std::string> all;
    if (!std::filesystem::exists(folder)) return all;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      all.push_back(file.path().filename());
    }
    return all;
  }

  static void make(const std::string& folder, const std::string& name) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + name) << "{}";
  }

  test::TemporaryDirectory folder_;
  Log log_{config::LogLevel::error, config::LogFormat::text};
};

const inject::DecisionTable& one_pool() {
  static const auto table = seed_with({exclusive_pool("example.com/nic", {"*"})});
  return table;
}

std::string id(std::size_t member) {
  const auto& pools = one_pool().pools();
  return pools.functions[pools.pools[0].members[member].function].id;
}

TEST_F(HandOutFilesTest, what_was_allocated_is_told_multus_in_a_folder_that_is_made) {
  auto written = files(config::HandOut::nri);
  ASSERT_TRUE(written.provide(one_pool(), 0, {1, 2}));
  EXPECT_THAT(names(info()),
              UnorderedElementsAre(allocation::device_info_file_name("example.com/nic", id(1)),
                                   allocation::device_info_file_name("example.com/nic", id(2))));
  EXPECT_EQ(
      test::file_text(info() + "/" + allocation::device_info_file_name("example.com/nic", id(1))),
      *allocation::device_info(one_pool(), one_pool().pools().pools[0], 1));
  EXPECT_THAT(names(cdi()), IsEmpty());
}

TEST_F(HandOutFilesTest, without_a_folder_multus_is_told_nothing) {
  HandOutFiles written({cdi(), ""}, config::HandOut::nri, log_);
  EXPECT_TRUE(written.provide(one_pool(), 0, {1}));
  written.refresh(one_pool());
  written.end();
  EXPECT_THAT(names(folder_.path().string()), IsEmpty());
}

TEST_F(HandOutFilesTest, a_spec_is_there_before_the_answer_and_as_the_machine_is) {
  auto written = files(config::HandOut::cdi);
  ASSERT_TRUE(written.provide(one_pool(), 0, {1}));
  const auto path = cdi() + "/" + allocation::cdi_file_name("example.com/nic");
  EXPECT_EQ(test::file_text(path), *allocation::cdi_spec(one_pool(), one_pool().pools().pools[0]));
  auto node = test::seed_node();
  node.nics[1].uverbs[0].minor = 250;
  const auto renumbered = test::vfio_with(exclusive_pool("example.com/nic", {"*"}), node);
  written.refresh(renumbered);
  EXPECT_THAT(test::file_text(path), HasSubstr("250"));
}

TEST_F(HandOutFilesTest, a_spec_that_somebody_removed_is_written_again) {
  auto written = files(config::HandOut::cdi);
  ASSERT_TRUE(written.provide(one_pool(), 0, {}));
  std::filesystem::remove_all(cdi());
  ASSERT_TRUE(written.provide(one_pool(), 0, {}));
  EXPECT_EQ(names(cdi()).size(), 1U);
}

TEST_F(HandOutFilesTest, what_an_earlier_agent_left_is_removed_and_nothing_of_others) {
  make(cdi(), "railhead.io-resource-gone.io_x.json");
  make(cdi(), "railhead.io-resource-example.com_nic.json.aB3dE6");
  make(cdi(), "nvidia.com-gpu.json");
  make(cdi(), "railhead.io-other.json");
  make(info(), allocation::device_info_file_name("example.com/nic", "0000:ff:00.0"));
  make(info(), allocation::device_info_file_name("example.com/nic", id(0)));
  make(info(), allocation::device_info_file_name("intel.com/vf", "0000:ff:00.0"));
  auto written = files(config::HandOut::cdi);
  written.refresh(one_pool());
  EXPECT_THAT(names(cdi()), UnorderedElementsAre("nvidia.com-gpu.json", "railhead.io-other.json",
                                                 allocation::cdi_file_name("example.com/nic")));
  EXPECT_THAT(
      names(info()),
      UnorderedElementsAre(allocation::device_info_file_name("example.com/nic", id(0)),
                           allocation::device_info_file_name("intel.com/vf", "0000:ff:00.0")));
}

TEST_F(HandOutFilesTest, specs_go_where_nodes_are_handed_out_otherwise) {
  make(cdi(), allocation::cdi_file_name("example.com/nic"));
  auto written = files(config::HandOut::nri);
  written.refresh(one_pool());
  EXPECT_THAT(names(cdi()), IsEmpty());
}

TEST_F(HandOutFilesTest, a_resource_that_is_offered_no_more_takes_its_files_along) {
  auto written = files(config::HandOut::cdi);
  written.refresh(one_pool());
  ASSERT_TRUE(written.provide(one_pool(), 0, {1}));
  written.refresh(seed_with({shared_pool("rdma.io/hca", {"*"})}));
  EXPECT_THAT(names(info()), IsEmpty());
  EXPECT_THAT(names(cdi()), UnorderedElementsAre(allocation::cdi_file_name("rdma.io/hca")));
}

TEST_F(HandOutFilesTest, at_the_end_device_info_goes_and_specs_stay_for_restarts) {
  auto written = files(config::HandOut::cdi);
  written.refresh(one_pool());
  ASSERT_TRUE(written.provide(one_pool(), 0, {1}));
  written.end();
  EXPECT_THAT(names(info()), IsEmpty());
  EXPECT_EQ(names(cdi()).size(), 1U);
}

TEST_F(HandOutFilesTest, a_folder_that_cannot_be_written_is_named_with_its_key) {
  make(folder_.path().string(), "run");  // a file where a folder should be
  const auto no_spec = files(config::HandOut::cdi).provide(one_pool(), 0, {1});
  ASSERT_FALSE(no_spec);
  EXPECT_THAT(no_spec.error().message, HasSubstr("(devicePlugin.cdiDir): " + (folder_ / "run")));
  const auto no_info = files(config::HandOut::nri).provide(one_pool(), 0, {1});
  ASSERT_FALSE(no_info);
  EXPECT_THAT(no_info.error().message,
              HasSubstr("(devicePlugin.deviceInfoDir): " + (folder_ / "run")));
}

/// No file may grow above so many bytes while it lives, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
  }

  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(HandOutFilesTest, a_full_disk_leaves_the_old_file_whole_and_no_half_new_one) {
  auto written = files(config::HandOut::cdi);
  ASSERT_TRUE(written.provide(one_pool(), 0, {1}));
  const auto path = cdi() + "/" + allocation::cdi_file_name("example.com/nic");
  const auto before = test::file_text(path);
  auto node = test::seed_node();
  node.nics[1].uverbs[0].minor = 250;
  const auto renumbered = test::vfio_with(exclusive_pool("example.com/nic", {"*"}), node);
  Status full;
  {
    const FullDisk disk(16);
    full = written.provide(renumbered, 0, {});
    EXPECT_FALSE(written.refresh(renumbered));
  }
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr(path));
  EXPECT_EQ(test::file_text(path), before);
  EXPECT_EQ(names(cdi()).size(), 1U);
  EXPECT_TRUE(written.refresh(renumbered)) << "which is tried until it is done";
  EXPECT_THAT(test::file_text(path), HasSubstr("250"));
}

TEST_F(HandOutFilesTest, a_disk_that_is_full_refuses_what_multus_would_not_be_told) {
  auto written = files(config::HandOut::nri);
  ASSERT_TRUE(written.provide(one_pool(), 0, {0}));
  const auto path = info() + "/" + allocation::device_info_file_name("example.com/nic", id(1));
  Status full;
  {
    const FullDisk disk(16);
    full = written.provide(one_pool(), 0, {1});
  }
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("(devicePlugin.deviceInfoDir): " + path));
  EXPECT_THAT(names(info()),
              UnorderedElementsAre(allocation::device_info_file_name("example.com/nic", id(0))));
  ASSERT_TRUE(written.provide(one_pool(), 0, {1}));
  EXPECT_EQ(test::file_text(path),
            *allocation::device_info(one_pool(), one_pool().pools().pools[0], 1));
}

}  // namespace
}  // namespace railhead::agent
