// SPDX-License-Identifier: Apache-2.0
#include "snapshot/pseudonyms.h"

#include <gtest/gtest.h>

namespace railhead::snapshot {
namespace {

using Mac = std::array<std::uint8_t, 6>;
using Guid = std::array<std::uint8_t, 8>;
using Gid = std::array<std::uint8_t, 16>;
using Ipv4 = std::array<std::uint8_t, 4>;

Mac mac(Pseudonyms& names, Mac bytes) {
  names.mac(bytes);
  return bytes;
}

Guid guid(Pseudonyms& names, Guid bytes) {
  names.guid(bytes);
  return bytes;
}

Gid gid(Pseudonyms& names, Gid bytes) {
  names.gid_or_ipv6(bytes);
  return bytes;
}

Ipv4 ipv4(Pseudonyms& names, Ipv4 bytes) {
  names.ipv4(bytes);
  return bytes;
}

TEST(Pseudonyms, mac_guid_and_interface_identifier_still_belong_together) {
  Pseudonyms names;
  EXPECT_EQ(mac(names, {0xb8, 0xce, 0xf6, 0x12, 0x34, 0x56}), (Mac{0xb8, 0xce, 0xf6, 0, 0, 1}));
  EXPECT_EQ(guid(names, {0xb8, 0xce, 0xf6, 3, 0, 0x12, 0x34, 0x56}),
            (Guid{0xb8, 0xce, 0xf6, 3, 0, 0, 0, 1}));
  EXPECT_EQ(
      gid(names, {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xba, 0xce, 0xf6, 0xff, 0xfe, 0x12, 0x34, 0x56}),
      (Gid{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xba, 0xce, 0xf6, 0xff, 0xfe, 0, 0, 1}));
}

TEST(Pseudonyms, bits_that_are_no_vendors_are_replaced_too) {
  Pseudonyms names;
  EXPECT_EQ(mac(names, {0x5e, 0xd1, 0x5d, 1, 2, 3}), (Mac{2, 0, 1, 0, 0, 1}));
  EXPECT_EQ(gid(names, {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x5c, 0xd1, 0x5d, 0xff, 0xfe, 1, 2, 3}),
            (Gid{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xfe, 0, 0, 1}));
  EXPECT_EQ(guid(names, {0xb8, 0xce, 0xf6, 0xab, 0xcd, 1, 2, 3}),
            (Guid{0xb8, 0xce, 0xf6, 0x10, 1, 0, 0, 1}));
}

TEST(Pseudonyms, what_identifies_nothing_stays) {
  Pseudonyms names;
  EXPECT_EQ(mac(names, {}), Mac{});
  EXPECT_EQ(mac(names, {255, 255, 255, 255, 255, 255}), (Mac{255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(guid(names, {}), Guid{});
  EXPECT_EQ(gid(names, {}), Gid{});
  EXPECT_EQ(gid(names, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})[15], 1);
  EXPECT_EQ(gid(names, {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16})[15], 0x16);
  for (const Ipv4 same : {Ipv4{0, 0, 0, 0}, Ipv4{127, 0, 0, 1}, Ipv4{255, 255, 255, 255}}) {
    EXPECT_EQ(ipv4(names, same), same);
  }
}

TEST(Pseudonyms, a_network_keeps_its_neighbours) {
  Pseudonyms names;
  EXPECT_EQ(ipv4(names, {10, 1, 2, 77}), (Ipv4{192, 0, 2, 1}));
  EXPECT_EQ(ipv4(names, {10, 1, 2, 78}), (Ipv4{192, 0, 2, 2}));
  EXPECT_EQ(ipv4(names, {10, 1, 3, 77}), (Ipv4{198, 51, 100, 1}));
  EXPECT_EQ(ipv4(names, {10, 1, 2, 77}), (Ipv4{192, 0, 2, 1}));
  EXPECT_EQ(ipv4(names, {10, 1, 2, 0}), (Ipv4{192, 0, 2, 0}));
  EXPECT_EQ(ipv4(names, {10, 1, 2, 255}), (Ipv4{192, 0, 2, 255}));
}

TEST(Pseudonyms, ten_thousand_networks_stay_different) {
  Pseudonyms names;
  std::map<Ipv4, int> seen;
  for (int i = 0; i < 10000; ++i) {
    ++seen[ipv4(names, {11, static_cast<std::uint8_t>(i / 256), static_cast<std::uint8_t>(i), 9})];
  }
  EXPECT_EQ(seen.size(), 10000U);
  EXPECT_TRUE(seen.contains({203, 0, 113, 1}));
  EXPECT_TRUE(seen.contains({198, 18, 0, 1}));
}

TEST(Pseudonyms, ipv4_mapped_and_global_gids_become_documentation_addresses) {
  Pseudonyms names;
  EXPECT_EQ(gid(names, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 9}),
            (Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}));
  const Gid global = gid(names, {0x26, 7, 1, 2, 3, 4, 5, 6, 0xba, 0xce, 0xf6, 0xff, 0xfe, 1, 2, 3});
  EXPECT_EQ(global, (Gid{0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 0xba, 0xce, 0xf6, 0xff, 0xfe, 0, 0, 1}));
}

TEST(Pseudonyms, a_serial_number_keeps_its_form) {
  Pseudonyms names;
  EXPECT_EQ(names.serial("MT2043X12345"), "000000000001");
  EXPECT_EQ(names.serial("7C-AB 9"), "00-00 2");
  EXPECT_EQ(names.serial("MT2043X12345"), "000000000001");
  EXPECT_EQ(names.serial("0000"), "0000");
  EXPECT_EQ(names.serial(""), "");
}

TEST(Pseudonyms, a_host_and_its_full_name_are_one) {
  Pseudonyms names;
  EXPECT_EQ(names.host_name("gpu17.rack3.corp"), "node-1.example");
  EXPECT_EQ(names.host_name("gpu17"), "node-1");
  EXPECT_EQ(names.host_name("gpu18"), "node-2");
}

TEST(Pseudonyms, a_uuid_stays_a_valid_one) {
  Pseudonyms names;
  std::array<std::uint8_t, 16> bytes{1, 2, 3};
  names.uuid(bytes);
  EXPECT_EQ(bytes,
            (std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace railhead::snapshot
