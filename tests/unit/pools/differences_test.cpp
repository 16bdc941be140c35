// SPDX-License-Identifier: Apache-2.0
#include "pools/differences.h"

#include <gmock/gmock.h>

#include <set>

namespace railhead::pools {
namespace {

using Shape = config::PoolSource::Shape;
using config::GpuPolicy;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<Difference> of(std::vector<Shape> shapes, GpuPolicy gpus) {
  std::vector<config::PoolSource> sources;
  for (const auto shape : shapes) sources.push_back({shape, "file", {}});
  return differences(sources, gpus);
}

std::vector<std::string_view> ids(std::vector<Shape> shapes, GpuPolicy gpus) {
  std::vector<std::string_view> ids;
  for (const auto& one : of(std::move(shapes), gpus)) ids.push_back(one.id);
  return ids;
}

std::vector<std::string_view> logged(std::vector<Shape> shapes, GpuPolicy gpus) {
  std::vector<std::string_view> ids;
  for (const auto& one : of(std::move(shapes), gpus)) {
    if (one.logged) ids.push_back(one.id);
  }
  return ids;
}

TEST(Differences, of_nics_without_a_slot_the_policy_decides) {
  for (const auto shape : {Shape::shared_plugin, Shape::sriov_plugin}) {
    EXPECT_THAT(logged({shape}, GpuPolicy::closest), ElementsAre("nics-without-a-slot"));
    EXPECT_THAT(logged({shape}, GpuPolicy::numa), ElementsAre("nics-without-a-slot"));
    EXPECT_THAT(logged({shape}, GpuPolicy::none), IsEmpty());
  }
}

TEST(Differences, who_got_every_nic_has_to_ask) {
  for (const auto shape : {Shape::flat_file, Shape::rdma_environment}) {
    EXPECT_THAT(logged({shape}, GpuPolicy::none),
                ElementsAre("gpu-pods-need-a-slot", "other-pods-need-a-slot"));
    EXPECT_THAT(logged({shape}, GpuPolicy::closest), ElementsAre("other-pods-need-a-slot"));
  }
}

TEST(Differences, a_slot_is_narrowed_in_shared_pools) {
  EXPECT_THAT(ids({Shape::shared_plugin}, GpuPolicy::none), Contains("slot-narrowed"));
  EXPECT_THAT(ids({Shape::flat_file}, GpuPolicy::none), Contains("slot-narrowed"));
  EXPECT_THAT(ids({Shape::sriov_plugin}, GpuPolicy::none), Not(Contains("slot-narrowed")));
}

TEST(Differences, of_a_narrowed_slot_the_pools_own_switch_is_named) {
  for (const auto& one : of({Shape::shared_plugin}, GpuPolicy::none)) {
    if (one.id != "slot-narrowed") continue;
    EXPECT_NE(one.text.find("here with `narrow: false` in the pool"), std::string_view::npos);
  }
}

TEST(Differences, what_comes_by_nri_in_both_restarts_with_its_nodes) {
  EXPECT_THAT(ids({Shape::shared_plugin}, GpuPolicy::none), Contains("nodes-by-nri"));
  EXPECT_THAT(ids({Shape::sriov_plugin}, GpuPolicy::none), Contains("nodes-by-nri"));
  EXPECT_THAT(ids({Shape::flat_file}, GpuPolicy::none), Not(Contains("nodes-by-nri")));
}

TEST(Differences, each_is_said_once_and_files_of_our_own_make_none) {
  const auto all = ids({Shape::shared_plugin, Shape::sriov_plugin, Shape::shared_plugin,
                        Shape::flat_file, Shape::rdma_environment},
                       GpuPolicy::closest);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  EXPECT_THAT(ids({Shape::ours}, GpuPolicy::closest), IsEmpty());
  EXPECT_THAT(ids({}, GpuPolicy::closest), IsEmpty());
}

TEST(Differences, a_setting_is_one_that_there_is) {
  for (const auto gpus : {GpuPolicy::closest, GpuPolicy::none}) {
    for (const auto& one :
         of({Shape::shared_plugin, Shape::sriov_plugin, Shape::flat_file}, gpus)) {
      if (one.setting.empty()) continue;
      const auto colon = one.setting.find(": ");
      const auto* setting = config::find_setting(one.setting.substr(0, colon));
      ASSERT_NE(setting, nullptr) << one.setting;
      std::string value(one.setting.substr(colon + 2));
      std::erase_if(value, [](char c) { return c == '[' || c == ']' || c == ' '; });
      config::Settings settings;
      EXPECT_TRUE(setting->read(value, settings)) << one.setting;
    }
  }
}

}  // namespace
}  // namespace railhead::pools
