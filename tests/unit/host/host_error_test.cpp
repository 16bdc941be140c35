// SPDX-License-Identifier: Apache-2.0
#include "host/host_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace railhead::host {
namespace {

TEST(HostError, names_the_path_and_keeps_the_number) {
  const Error error = host_error("/sys/x", EINVAL);
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_EQ(error.message, "/sys/x: invalid argument");
  EXPECT_EQ(errno_of(error), EINVAL);
  EXPECT_EQ(errno_of(error.context("reading mlx5_0")), EINVAL);
}

TEST(HostError, denied_is_not_unavailable) {
  EXPECT_EQ(host_error("/x", EACCES).code, ErrorCode::denied);
  EXPECT_EQ(host_error("/x", EPERM).code, ErrorCode::denied);
  EXPECT_EQ(host_error("/x", EIO).code, ErrorCode::unavailable);
  EXPECT_EQ(host_error("/x", EFBIG).code, ErrorCode::too_large);
}

TEST(HostError, a_number_that_nobody_knows_is_still_said) {
  EXPECT_EQ(host_error("/x", 4095).message, "/x: error 4095");
  EXPECT_EQ(errno_name(4095), "EIO");
}

TEST(HostError, an_error_of_another_origin_gets_the_number_of_its_code) {
  EXPECT_EQ(errno_of({ErrorCode::denied, "no"}), EACCES);
  EXPECT_EQ(errno_of({ErrorCode::too_large, "no"}), EFBIG);
  EXPECT_EQ(errno_of({ErrorCode::malformed, "no"}), EIO);
}

TEST(HostError, names_and_numbers_agree) {
  for (const int number : {EACCES, EPERM, EIO, EINVAL, ENOMEM, EFBIG, ELOOP}) {
    EXPECT_EQ(errno_number(errno_name(number)), number);
  }
  EXPECT_EQ(errno_number("EWHAT"), std::nullopt);
}

TEST(HostError, absent_is_what_is_not_there) {
  for (const int number : {ENOENT, ENOTDIR, ENODEV, ENXIO}) EXPECT_TRUE(means_absent(number));
  for (const int number : {EACCES, EPERM, EINVAL, EIO, ELOOP}) EXPECT_FALSE(means_absent(number));
}

}  // namespace
}  // namespace railhead::host
