// SPDX-License-Identifier: Apache-2.0
#include "agent/device_ledger.h"

#include <gmock/gmock.h>

namespace railhead::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two NICs, a and b, in an exclusive pool.
class DeviceLedgerTest : public testing::Test {
 protected:
  DeviceLedgerTest() {
    for (const auto* id : {"a", "b"}) {
      pools::NetFunction function;
      function.id = id;
      functions_.push_back(function);
    }
    pool_.spec.mode = pools::PoolMode::exclusive;
    pool_.members = {{0, 0, pools::MemberState::ready, ""}, {1, 0, pools::MemberState::ready, ""}};
  }

  std::vector<std::string> healthy() {
    std::vector<std::string> ids;
    count_ = 0;
    for (const auto& device : ledger_.update(pool_, functions_, now_)) {
      ++count_;
      if (device.healthy) ids.push_back(device.id);
    }
    return ids;
  }

  pools::Pool pool_;
  std::vector<pools::NetFunction> functions_;
  DeviceLedger ledger_;
  DeviceLedger::TimePoint now_{};
  std::size_t count_ = 0;
};

TEST_F(DeviceLedgerTest, what_is_ready_at_first_is_healthy_at_once) {
  pool_.members[1].state = pools::MemberState::not_ready;
  EXPECT_THAT(healthy(), ElementsAre("a"));
  EXPECT_EQ(count_, 2U);
  EXPECT_FALSE(ledger_.waits());
}

TEST_F(DeviceLedgerTest, a_fault_shows_at_once_and_its_end_after_a_while) {
  healthy();
  pool_.members[0].state = pools::MemberState::not_ready;
  EXPECT_THAT(healthy(), ElementsAre("b"));
  pool_.members[0].state = pools::MemberState::ready;
  EXPECT_THAT(healthy(), ElementsAre("b"));
  EXPECT_TRUE(ledger_.waits());
  now_ += kUntilHealthy - milliseconds(1);
  EXPECT_THAT(healthy(), ElementsAre("b"));
  now_ += milliseconds(1);
  EXPECT_THAT(healthy(), ElementsAre("a", "b"));
  EXPECT_FALSE(ledger_.waits());
}

TEST_F(DeviceLedgerTest, a_port_that_flaps_is_never_healthy) {
  healthy();
  for (int i = 0; i < 20; ++i) {
    pool_.members[0].state = i % 2 == 0 ? pools::MemberState::not_ready : pools::MemberState::ready;
    now_ += std::chrono::seconds(1);
    EXPECT_THAT(healthy(), ElementsAre("b")) << i;
  }
}

TEST_F(DeviceLedgerTest, a_device_that_has_gone_is_unhealthy_until_it_is_forgotten) {
  healthy();
  const auto all = pool_.members;
  pool_.members.pop_back();
  EXPECT_THAT(healthy(), ElementsAre("a"));
  EXPECT_EQ(count_, 2U);
  EXPECT_TRUE(ledger_.waits());
  now_ += kUntilForgotten;
  healthy();
  EXPECT_EQ(count_, 1U);
  EXPECT_FALSE(ledger_.waits());
  pool_.members = all;
  EXPECT_THAT(healthy(), ElementsAre("a", "b"));
}

TEST_F(DeviceLedgerTest, why_devices_are_unhealthy_is_counted) {
  const auto counted = [&] {
    healthy();
    const auto c = ledger_.counts();
    return std::vector<std::size_t>{c.healthy, c.not_ready, c.recovering, c.gone};
  };
  EXPECT_THAT(counted(), ElementsAre(2, 0, 0, 0));
  pool_.members[0].state = pools::MemberState::not_ready;
  EXPECT_THAT(counted(), ElementsAre(1, 1, 0, 0));
  pool_.members[0].state = pools::MemberState::ready;
  EXPECT_THAT(counted(), ElementsAre(1, 0, 1, 0));
  pool_.members.pop_back();
  EXPECT_THAT(counted(), ElementsAre(0, 0, 1, 1));
}

TEST_F(DeviceLedgerTest, one_ready_nic_keeps_all_slots_of_a_pool_healthy) {
  pool_.spec.mode = pools::PoolMode::shared;
  pool_.spec.slots = 3;
  pool_.members[0].state = pools::MemberState::not_ready;
  EXPECT_EQ(healthy().size(), 3U);
  pool_.members[1].state = pools::MemberState::not_ready;
  EXPECT_THAT(healthy(), IsEmpty());
  EXPECT_EQ(count_, 3U);
}

TEST_F(DeviceLedgerTest, a_pool_without_nics_has_no_devices) {
  pool_.members.clear();
  EXPECT_THAT(healthy(), IsEmpty());
  EXPECT_EQ(count_, 0U);
}

}  // namespace
}  // namespace railhead::agent
