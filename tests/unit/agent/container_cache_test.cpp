// SPDX-License-Identifier: Apache-2.0
#include "agent/container_cache.h"

#include <gtest/gtest.h>

namespace railhead::agent {
namespace {

proof::ContainerRecord training() {
  proof::ContainerRecord record;
  record.container_id = "c1";
  record.pod_namespace = "team";
  record.pod = "train-0";
  record.pod_uid = "1f3c";
  record.container = "";
  record.gpus = {"GPU-1", "GPU-2"};
  record.nics = {"mlx5_0", "mlx5_3", "mlx5_4"};
  record.job = {2, 16};
  record.asked = "a slot of a pool";
  record.off_rdma = "UCX_TLS=\"tcp\"";
  return record;
}

usage::Usage running(const std::string& id) {
  usage::Usage usage;
  usage.containers[id];
  return usage;
}

TEST(ContainerCacheTest, gives_back_all_that_was_noted) {
  ContainerCache containers;
  containers.note(training());
  std::vector<proof::ContainerRecord> records;
  containers.complete(records, running("c1"));
  ASSERT_EQ(records.size(), 1U);
  const auto& found = records.front();
  EXPECT_EQ(found.container_id, "c1");
  EXPECT_EQ(found.pod_namespace, "team");
  EXPECT_EQ(found.pod, "train-0");
  EXPECT_EQ(found.pod_uid, "1f3c");
  EXPECT_EQ(found.container, "");
  EXPECT_EQ(found.gpus, training().gpus);
  EXPECT_EQ(found.nics, training().nics);
  EXPECT_EQ(found.job, training().job);
  EXPECT_EQ(found.asked, "a slot of a pool");
  EXPECT_EQ(found.off_rdma, training().off_rdma);
  EXPECT_FALSE(found.sandbox);
}

TEST(ContainerCacheTest, the_gpus_of_the_kubelet_replace_those_of_a_bundle) {
  ContainerCache containers;
  auto by_kubelet = training();
  by_kubelet.gpus = {"GPU-2"};
  containers.note(by_kubelet, true);
  std::vector<proof::ContainerRecord> records = {training()};
  containers.complete(records, running("c1"));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records.front().gpus, std::vector<std::string>{"GPU-2"});
  EXPECT_EQ(records.front().nics, training().nics);
}

TEST(ContainerCacheTest, a_bundle_is_believed_where_the_kubelet_was_not_asked) {
  ContainerCache containers;
  proof::ContainerRecord unknown;
  unknown.container_id = training().container_id;
  containers.note(unknown);
  std::vector<proof::ContainerRecord> records = {training()};
  containers.complete(records, running("c1"));
  EXPECT_EQ(records.front().gpus, training().gpus);
}

TEST(ContainerCacheTest, a_slot_that_the_runtime_showed_counts_beside_a_bundle) {
  ContainerCache containers;
  containers.note(training());
  auto bundle = training();
  bundle.asked = "";
  std::vector<proof::ContainerRecord> records = {bundle};
  containers.complete(records, running("c1"));
  EXPECT_EQ(records.front().asked, "a slot of a pool");
}

TEST(ContainerCacheTest, a_name_ends_at_a_nul_and_shifts_no_other) {
  ContainerCache containers;
  auto odd = training();
  odd.pod = std::string("a\0b", 3);
  containers.note(odd);
  std::vector<proof::ContainerRecord> records;
  containers.complete(records, running("c1"));
  EXPECT_EQ(records.front().pod, "a");
  EXPECT_EQ(records.front().gpus, training().gpus);
}

TEST(ContainerCacheTest, a_full_cache_takes_no_new_container_and_renews_old_ones) {
  ContainerCache containers;
  proof::ContainerRecord record;
  usage::Usage usage;
  for (std::size_t i = 0; i <= ContainerCache::kMaxContainers; ++i) {
    record.container_id = std::to_string(i);
    usage.containers[record.container_id];
    containers.note(record);
  }
  record.container_id = "0";
  record.pod = "again";
  containers.note(record);
  std::vector<proof::ContainerRecord> records;
  containers.complete(records, usage);
  EXPECT_EQ(records.size(), ContainerCache::kMaxContainers);
  EXPECT_EQ(records.front().pod, "again");
}

TEST(ContainerCacheTest, names_of_any_length_take_what_is_allowed_and_no_more) {
  ContainerCache containers;
  auto record = training();
  record.asked.assign(20'000, 'x');
  usage::Usage usage;
  for (int i = 0; i < 400; ++i) {
    record.container_id = std::to_string(i);
    usage.containers[record.container_id];
    containers.note(record);
    containers.note(record);  // counted once
  }
  std::vector<proof::ContainerRecord> records;
  containers.complete(records, usage);
  EXPECT_GT(records.size(), 90U);  // a text that has grown has room for as much again
  EXPECT_LE(records.size() * 20'000, ContainerCache::kMaxBytes);
  containers.complete(records, {});  // no longer fresh
  containers.complete(records, {});  // and gone
  containers.note(training());
  EXPECT_EQ(containers.holders_of({"mlx5_0"}).size(), 1U) << "what was forgotten counts no more";
}

}  // namespace
}  // namespace railhead::agent
