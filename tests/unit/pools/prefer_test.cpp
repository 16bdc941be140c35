// SPDX-License-Identifier: Apache-2.0
#include "pools/prefer.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace railhead {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Four NICs with two slots each: a and b on NUMA node 0, c and d on node 1.
std::vector<PoolDevice> two_sockets() {
  std::vector<PoolDevice> devices;
  const std::string names = "abcd";
  for (std::size_t nic = 0; nic < names.size(); ++nic) {
    for (const char slot : {'0', '1'}) {
      devices.push_back({{names[nic], '-', slot}, nic, {nic < 2 ? 0 : 1}});
    }
  }
  return devices;
}

std::vector<std::string> ids_of(const std::vector<PoolDevice>& devices) {
  std::vector<std::string> ids;
  for (const auto& device : devices) ids.push_back(device.id);
  return ids;
}

TEST(Prefer, slots_of_one_container_lie_on_different_nics_of_one_numa_node) {
  const auto devices = two_sockets();
  EXPECT_THAT(prefer(devices, {ids_of(devices), {}, 2}), ElementsAre("a-0", "b-0"));
}

TEST(Prefer, a_node_that_is_used_up_is_left_for_the_next) {
  const auto devices = two_sockets();
  EXPECT_THAT(prefer(devices, {ids_of(devices), {}, 5}),
              ElementsAre("a-0", "b-0", "a-1", "b-1", "c-0"));
}

TEST(Prefer, what_must_be_included_comes_first_and_says_which_node) {
  const auto devices = two_sockets();
  EXPECT_THAT(prefer(devices, {ids_of(devices), {"d-1"}, 2}), ElementsAre("d-1", "c-0"));
}

TEST(Prefer, the_nic_with_the_fewest_slots_taken_is_next) {
  EXPECT_THAT(prefer(two_sockets(), {{"a-1", "c-0", "c-1", "d-1"}, {}, 1}), ElementsAre("c-0"));
}

TEST(Prefer, the_order_of_the_question_does_not_matter) {
  const auto devices = two_sockets();
  auto ids = ids_of(devices);
  std::reverse(ids.begin(), ids.end());
  EXPECT_EQ(prefer(devices, {ids, {}, 3}), prefer(devices, {ids_of(devices), {}, 3}));
}

TEST(Prefer, ids_that_the_pool_does_not_know_come_last) {
  EXPECT_THAT(prefer(two_sockets(), {{"0-old", "b-1"}, {}, 2}), ElementsAre("b-1", "0-old"));
}

TEST(Prefer, there_may_be_fewer_than_asked_for) {
  EXPECT_THAT(prefer(two_sockets(), {{"b-1"}, {}, 3}), ElementsAre("b-1"));
  EXPECT_THAT(prefer(two_sockets(), {{}, {}, 3}), IsEmpty());
}

TEST(Prefer, slots_that_are_no_nic_are_taken_in_order) {
  const std::vector<PoolDevice> slots{{"rdma-0", {}, {}}, {"rdma-1", {}, {}}, {"rdma-2", {}, {}}};
  EXPECT_THAT(prefer(slots, {{"rdma-2", "rdma-1"}, {}, 1}), ElementsAre("rdma-1"));
}

}  // namespace
}  // namespace railhead
