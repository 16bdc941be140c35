// SPDX-License-Identifier: Apache-2.0
#include "pools/address_prefix.h"

#include <gtest/gtest.h>

namespace railhead::pools {
namespace {

bool covers(std::string_view prefix, std::string_view gid) {
  const auto parsed = AddressPrefix::parse(prefix);
  EXPECT_TRUE(parsed) << prefix;
  return parsed && parsed->covers(gid);
}

TEST(AddressPrefix, an_ipv4_subnet_covers_the_gids_that_roce_maps_it_to) {
  constexpr const char* kGid = "0000:0000:0000:0000:0000:ffff:0a01:02c8";  // 10.1.2.200
  EXPECT_TRUE(covers("10.1.0.0/16", kGid));
  EXPECT_TRUE(covers("10.1.2.192/26", kGid));
  EXPECT_TRUE(covers("10.1.2.200", kGid));
  EXPECT_FALSE(covers("10.1.2.128/26", kGid));
  EXPECT_FALSE(covers("10.2.0.0/16", kGid));
  EXPECT_FALSE(covers("0.0.0.0/0", "fe80:0000:0000:0000:bace:f6ff:fe00:0001"));
}

TEST(AddressPrefix, an_ipv6_subnet_covers_roce_addresses_and_infiniband_subnets) {
  EXPECT_TRUE(covers("fe80::/64", "fe80:0000:0000:0000:b8ce:f603:0000:0001"));
  EXPECT_TRUE(covers("fec0:0:0:1::/64", "fec0:0000:0000:0001:b8ce:f603:0000:0001"));
  EXPECT_FALSE(covers("fec0:0:0:1::/64", "fec0:0000:0000:0002:b8ce:f603:0000:0001"));
  EXPECT_TRUE(covers("::/0", "fec0:0000:0000:0002:b8ce:f603:0000:0001"));
}

TEST(AddressPrefix, what_is_no_subnet_is_an_error) {
  for (const char* text : {"", "/", "10.1.0.0/33", "10.1.0/16", "fe80::/129", "fe80::/", "eth0",
                           "10.1.0.0/-1", "10.1.0.0/1x"}) {
    EXPECT_FALSE(AddressPrefix::parse(text)) << text;
  }
  for (const char* gid :
       {"", "not a gid", "fe80:0000:0000:0000:b8ce:f603:0000:00g1",
        "fe80:0000:0000:0000-b8ce:f603:0000:0001", ":fe80:000:0000:0000:b8ce:f603:0000:0001",
        "fe80:0000:0000:0000:b8ce:f603:0000:+001"}) {
    EXPECT_FALSE(covers("::/0", gid)) << gid;
  }
}

}  // namespace
}  // namespace railhead::pools
