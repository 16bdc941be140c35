// SPDX-License-Identifier: Apache-2.0
#include "agent/container_book.h"

#include <gtest/gtest.h>

namespace railhead::agent {
namespace {

proof::Holder training() {
  proof::Holder holder;
  holder.container_id = "c1";
  holder.pod_namespace = "team";
  holder.pod = "train-0";
  holder.pod_uid = "1f3c";
  holder.container = "";
  holder.gpus = {"GPU-1", "GPU-2"};
  holder.nics = {"mlx5_0", "mlx5_3", "mlx5_4"};
  holder.job = {2, 16};
  holder.gpus_by_all = true;
  return holder;
}

usage::Usage running(const std::string& id) {
  usage::Usage usage;
  usage.containers[id];
  return usage;
}

TEST(ContainerBookTest, gives_back_all_that_was_noted) {
  ContainerBook book;
  book.note(training());
  std::vector<proof::Holder> holders;
  book.complete(holders, running("c1"));
  ASSERT_EQ(holders.size(), 1U);
  const auto& found = holders.front();
  EXPECT_EQ(found.container_id, "c1");
  EXPECT_EQ(found.pod_namespace, "team");
  EXPECT_EQ(found.pod, "train-0");
  EXPECT_EQ(found.pod_uid, "1f3c");
  EXPECT_EQ(found.container, "");
  EXPECT_EQ(found.gpus, training().gpus);
  EXPECT_EQ(found.nics, training().nics);
  EXPECT_EQ(found.job, training().job);
  EXPECT_TRUE(found.gpus_by_all);
  EXPECT_FALSE(found.sandbox);
}

TEST(ContainerBookTest, the_gpus_of_the_kubelet_replace_those_of_a_bundle) {
  ContainerBook book;
  auto by_kubelet = training();
  by_kubelet.gpus = {"GPU-2"};
  book.note(by_kubelet, true);
  std::vector<proof::Holder> holders = {training()};
  book.complete(holders, running("c1"));
  ASSERT_EQ(holders.size(), 1U);
  EXPECT_EQ(holders.front().gpus, std::vector<std::string>{"GPU-2"});
  EXPECT_FALSE(holders.front().gpus_by_all);
  EXPECT_EQ(holders.front().nics, training().nics);
}

TEST(ContainerBookTest, a_bundle_is_believed_where_the_kubelet_was_not_asked) {
  ContainerBook book;
  proof::Holder unknown;
  unknown.container_id = training().container_id;
  book.note(unknown);
  std::vector<proof::Holder> holders = {training()};
  book.complete(holders, running("c1"));
  EXPECT_EQ(holders.front().gpus, training().gpus);
}

TEST(ContainerBookTest, a_name_ends_at_a_nul_and_shifts_no_other) {
  ContainerBook book;
  auto odd = training();
  odd.pod = std::string("a\0b", 3);
  book.note(odd);
  std::vector<proof::Holder> holders;
  book.complete(holders, running("c1"));
  EXPECT_EQ(holders.front().pod, "a");
  EXPECT_EQ(holders.front().gpus, training().gpus);
}

TEST(ContainerBookTest, a_full_book_takes_no_new_container_and_renews_old_ones) {
  ContainerBook book;
  proof::Holder holder;
  usage::Usage usage;
  for (std::size_t i = 0; i <= ContainerBook::kMaxContainers; ++i) {
    holder.container_id = std::to_string(i);
    usage.containers[holder.container_id];
    book.note(holder);
  }
  holder.container_id = "0";
  holder.pod = "again";
  book.note(holder);
  std::vector<proof::Holder> holders;
  book.complete(holders, usage);
  EXPECT_EQ(holders.size(), ContainerBook::kMaxContainers);
  EXPECT_EQ(holders.front().pod, "again");
}

}  // namespace
}  // namespace railhead::agent
