// SPDX-License-Identifier: Apache-2.0
#include "node/port_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kZero = "0000:0000:0000:0000:0000:0000:0000:0000";
const std::string kGid = "fe80:0000:0000:0000:a088:c203:00e1:1234";

struct ReadPorts {
  explicit ReadPorts(const std::string& entries) {
    const auto host = test::host_of(entries);
    Reader reader(*host);
    ports = read_ports(reader, "/d");
    problems = reader.take_problems();
  }

  std::vector<Port> ports;
  std::vector<Problem> problems;
};

Port port_with(const std::string& name, const std::string& value) {
  return ReadPorts("t /d/ports/1/" + name + " " + value + "\n").ports.at(0);
}

TEST(PortReader, ports_are_in_numerical_order) {
  const ReadPorts read("d /d/ports/10\nd /d/ports/2\nd /d/ports/1\nd /d/ports/x\n");
  ASSERT_THAT(read.ports, SizeIs(3));
  EXPECT_EQ(read.ports[1].number, 2U);
  EXPECT_EQ(read.ports[2].number, 10U);
}

TEST(PortReader, states_are_those_of_the_kernel) {
  EXPECT_EQ(port_with("state", "4: ACTIVE").state, PortState::active);
  EXPECT_EQ(port_with("state", "1: DOWN").state, PortState::down);
  EXPECT_EQ(port_with("state", "5: ACTIVE_DEFER").state, PortState::active_defer);
  EXPECT_EQ(port_with("state", "6: NEW").state, std::nullopt);
  EXPECT_EQ(port_with("state", "ACTIVE").state, std::nullopt);
  EXPECT_EQ(port_with("phys_state", "2: Polling").phys_state, "Polling");
}

TEST(PortReader, rates_are_numbers_with_their_text) {
  EXPECT_EQ(port_with("rate", "400 Gb/sec (4X NDR)").rate_gbps, 400.0);
  EXPECT_EQ(port_with("rate", "400 Gb/sec (4X NDR)").rate_text, "400 Gb/sec (4X NDR)");
  EXPECT_EQ(port_with("rate", "2.5 Gb/sec (1X)").rate_gbps, 2.5);
  for (const auto* text :
       {"fast", "-1 Gb/sec", "400", "400 Mb/sec", "inf Gb/sec", "nan Gb/sec", "1e99 Gb/sec"}) {
    EXPECT_EQ(port_with("rate", text).rate_gbps, std::nullopt) << text;
    EXPECT_EQ(port_with("rate", text).rate_text, std::nullopt) << text;
  }
}

TEST(PortReader, link_layers_may_be_unknown) {
  EXPECT_EQ(port_with("link_layer", "InfiniBand").link_layer, LinkLayer::infiniband);
  EXPECT_EQ(port_with("link_layer", "Ethernet").link_layer, LinkLayer::ethernet);
  const ReadPorts efa("t /d/ports/1/link_layer Unknown\n");
  EXPECT_EQ(efa.ports.at(0).link_layer, LinkLayer::unknown);
  EXPECT_THAT(efa.problems, IsEmpty());
  EXPECT_THAT(ReadPorts("t /d/ports/1/link_layer Token Ring\n").problems, SizeIs(1));
}

TEST(PortReader, lids_are_hexadecimal) {
  EXPECT_EQ(port_with("lid", "0x1a").lid, 0x1aU);
  EXPECT_EQ(port_with("sm_lid", "0x1").sm_lid, 1U);
  EXPECT_EQ(port_with("lid", "none").lid, std::nullopt);
}

TEST(PortReader, sparse_gids_are_found_behind_many_empty_slots) {
  std::string entries;
  for (int slot = 0; slot < 256; ++slot) {
    const bool filled = slot == 3 || slot == 250;
    entries += "t /d/ports/1/gids/" + std::to_string(slot) + " " + (filled ? kGid : kZero) + "\n";
  }
  entries +=
      "t /d/ports/1/gid_attrs/types/250 RoCE v2\nt /d/ports/1/gid_attrs/ndevs/250 ens1\n"
      "e /d/ports/1/gid_attrs/types/3 EINVAL\ne /d/ports/1/gid_attrs/ndevs/3 EINVAL\n";
  const ReadPorts read(entries);
  EXPECT_THAT(read.ports.at(0).gids, ElementsAre(Gid{3, kGid, std::nullopt, std::nullopt},
                                                 Gid{250, kGid, "RoCE v2", "ens1"}));
  EXPECT_THAT(read.problems, IsEmpty());
}

TEST(PortReader, tables_beyond_their_limit_are_cut_and_reported) {
  std::string entries;
  for (std::size_t slot = 0; slot < kMaxGids + 1; ++slot) {
    entries += "t /d/ports/1/gids/" + std::to_string(slot) + " " + kGid + "\n";
    entries += "t /d/ports/1/pkeys/" + std::to_string(slot) + " 0xffff\n";
  }
  const ReadPorts read(entries);
  EXPECT_THAT(read.ports.at(0).gids, SizeIs(kMaxGids));
  EXPECT_THAT(read.ports.at(0).pkeys, SizeIs(kMaxPkeys));
  EXPECT_THAT(read.problems, SizeIs(2));
}

TEST(PortReader, gids_of_infiniband_are_read_to_the_first_hole) {
  std::string entries = "t /d/ports/1/link_layer InfiniBand\n";
  for (const int slot : {0, 1, 3}) {
    const auto name = std::to_string(slot);
    entries += "t /d/ports/1/gids/" + name + " " + kGid + "\n";
    entries += "t /d/ports/1/gid_attrs/types/" + name + " IB/RoCE v1\n";
    // It has no netdevs, so that nothing asks for them.
    entries += "t /d/ports/1/gid_attrs/ndevs/" + name + " ib0\n";
  }
  for (const auto& empty : {std::string(), "t /d/ports/1/gids/2 " + std::string(kZero) + "\n"}) {
    const ReadPorts read(entries + empty);
    EXPECT_THAT(read.ports.at(0).gids, ElementsAre(Gid{0, kGid, "IB/RoCE v1", std::nullopt},
                                                   Gid{1, kGid, "IB/RoCE v1", std::nullopt}));
    EXPECT_THAT(read.problems, IsEmpty());
  }
}

TEST(PortReader, broken_gids_and_pkeys_are_left_out_and_reported) {
  const ReadPorts read(
      "t /d/ports/1/gids/0 fe80::1\nt /d/ports/1/gids/1 " + kGid +
      "\nt /d/ports/1/pkeys/0 0x1ffff\nt /d/ports/1/pkeys/1 0x7fff\nt /d/ports/1/pkeys/2 0x0000\n");
  EXPECT_THAT(read.ports.at(0).gids, SizeIs(1));
  EXPECT_THAT(read.ports.at(0).pkeys, ElementsAre(0x7fff));
  EXPECT_THAT(read.problems, SizeIs(2));
}

TEST(PortReader, pkeys_are_found_behind_a_hole_that_partitions_left) {
  std::string entries;
  for (int slot = 0; slot < 128; ++slot) {
    const bool filled = slot == 0 || slot == 8 || slot == 17;
    entries += "t /d/ports/1/pkeys/" + std::to_string(slot) + (filled ? " 0x8001\n" : " 0x0000\n");
  }
  EXPECT_THAT(ReadPorts(entries).ports.at(0).pkeys, ElementsAre(0x8001, 0x8001));
}

TEST(PortReader, a_port_without_attributes_is_one_of_which_nothing_is_known) {
  const ReadPorts read("d /d/ports/1\n");
  EXPECT_THAT(read.ports, ElementsAre(Port{}));
}

}  // namespace
}  // namespace railhead::node
