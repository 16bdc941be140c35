// SPDX-License-Identifier: Apache-2.0
#include "host/machine_root.h"

#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

Status checked(const std::string& entries) {
  return host::check_machine(*host_of(entries), "/node");
}

TEST(MachineRoot, has_something_in_sys_and_in_proc) {
  EXPECT_TRUE(checked("d /sys/class\nd /proc/1\n"));
  EXPECT_TRUE(checked("t /sys/kernel/uevent_seqnum 1\nt /proc/sys/kernel/osrelease 6.1.0\n"));
}

TEST(MachineRoot, is_none_without_them) {
  for (const auto* entries : {"d /etc\n", "d /proc/1\n", "d /sys\nd /proc/1\n", "d /sys/class\n",
                              "d /sys/class\nd /proc\n", "t /sys no folder\nd /proc/1\n"}) {
    const auto status = checked(entries);
    ASSERT_FALSE(status) << entries;
    EXPECT_EQ(status.error().code, ErrorCode::unavailable);
    EXPECT_TRUE(status.error().message.starts_with("/node/")) << status.error().message;
  }
}

TEST(MachineRoot, may_not_be_looked_into) {
  const auto status = checked("e /sys EACCES\nd /proc/1\n");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::denied);
}

}  // namespace
}  // namespace railhead::test
