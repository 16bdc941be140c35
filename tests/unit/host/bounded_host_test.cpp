// SPDX-License-Identifier: Apache-2.0
#include "host/bounded_host.h"

#include <gtest/gtest.h>

#include "host/host_error.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

TEST(BoundedHost, answers_nothing_more_once_its_time_is_over) {
  const auto inner = host_of("t /a b\nd /c\n");
  ManualClock clock;
  host::BoundedHost host(*inner, clock, std::chrono::milliseconds(10));
  EXPECT_EQ(host.read("/a").value(), "b\n");
  EXPECT_EQ(host.left_out(), 0U);
  clock.advance(std::chrono::milliseconds(10));
  EXPECT_EQ(host::errno_of(host.read("/a").error()), ETIMEDOUT);
  EXPECT_FALSE(host.list("/c").has_value());
  EXPECT_FALSE(host.readlink("/a").has_value());
  EXPECT_FALSE(host.device("/a").has_value());
  EXPECT_FALSE(host.rdma({}).has_value());
  EXPECT_FALSE(host.devlink_info("0000:00:00.0").has_value());
  EXPECT_EQ(host.left_out(), 6U);
}

}  // namespace
}  // namespace railhead::test
