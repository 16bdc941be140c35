// SPDX-License-Identifier: Apache-2.0
#include "bench/place.h"

#include <gmock/gmock.h>

#include "unit/node_builder.h"

namespace railhead::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kIpv4 = "0000:0000:0000:0000:0000:ffff:0a00:0001";
constexpr const char* kLinkLocal = "fe80:0000:0000:0000:0000:0000:0000:0001";
constexpr const char* kGlobal = "fd00:0000:0000:0000:0000:0000:0000:0001";

class PlaceTest : public testing::Test {
 protected:
  PlaceTest() {
    test::NodeBuilder builder;
    builder.numa(1, 0, {4, 5});
    const auto root = builder.host_bridge(0x10, 1);
    builder.nic(root).name("ib0").infiniband(400);
    builder.nic(root).name("roce0").ethernet(100);
    builder.nic(root).name("dead0").ethernet(100).down();
    node_ = builder.build();
  }

  node::Port& port(const std::string& nic) {
    for (auto& one : node_.nics) {
      if (one.name == nic) return one.ports.at(0);
    }
    return node_.nics.at(0).ports.at(0);
  }

  [[nodiscard]] std::string error_of(const std::string& name,
                                     std::optional<unsigned> gid = std::nullopt) const {
    const auto place = find_place(node_, name, gid);
    return place ? "no error" : place.error().message;
  }

  node::Node node_;
};

TEST_F(PlaceTest, an_infiniband_port_needs_no_gid_and_brings_its_numa_node) {
  const auto place = find_place(node_, "ib0", std::nullopt);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_TRUE(place->infiniband);
  EXPECT_FALSE(place->gid_index);
  EXPECT_EQ(place->numa_node, 1);
  EXPECT_THAT(place->cpus, ElementsAre(4, 5));
  EXPECT_EQ(place->rate_gbps, 400);
}

TEST_F(PlaceTest, gids_go_by_version_then_ipv4_then_global_then_lowest_index) {
  auto& gids = port("roce0").gids;
  gids = {{0, kIpv4, "IB/RoCE v1", {}}, {1, kLinkLocal, "RoCE v2", {}}};
  EXPECT_EQ(find_place(node_, "roce0", {})->gid_index, 1U);
  gids.push_back({2, kGlobal, "RoCE v2", {}});
  EXPECT_EQ(find_place(node_, "roce0", {})->gid_index, 2U);
  gids.push_back({3, kIpv4, "RoCE v2", {}});
  gids.push_back({4, kIpv4, "RoCE v2", {}});
  EXPECT_EQ(find_place(node_, "roce0", {})->gid_index, 3U);
  EXPECT_EQ(find_place(node_, "roce0", 0U)->gid_type, "IB/RoCE v1");
}

TEST_F(PlaceTest, what_cannot_be_used_says_why) {
  port("roce0").gids.clear();
  EXPECT_THAT(error_of("nothing"), HasSubstr("with an active port there are: ib0, roce0"));
  EXPECT_THAT(error_of("ib0:7"), HasSubstr("ib0:7: no such port"));
  EXPECT_THAT(error_of("ib0", 9U), HasSubstr("no GID 9"));
  EXPECT_THAT(error_of("roce0"), HasSubstr("no GID: its netdev has no address"));
  EXPECT_THAT(error_of("dead0"), HasSubstr("no port is ACTIVE"));
  EXPECT_THAT(error_of("dead0:1"), HasSubstr("port is DOWN"));
  node_.nics[0].node_type = "RNIC";
  EXPECT_THAT(error_of(node_.nics[0].name), HasSubstr("iWARP"));
}

TEST_F(PlaceTest, a_port_that_is_no_number_of_a_port_is_not_taken_for_another) {
  EXPECT_THAT(error_of("ib0:4294967297"), HasSubstr("ib0:4294967297"));
  EXPECT_THAT(error_of("ib0:one"), HasSubstr("ib0:one"));
}

/// A NIC of Gen5 x16 below a root port, whose link is what the test makes of it.
class PcieTest : public testing::Test {
 protected:
  PcieTest() {
    test::NodeBuilder builder;
    const auto below = builder.bridge(builder.host_bridge(0x10, 0));
    builder.nic(below).name("ib0").infiniband(400).pcie(32, 16);
    node_ = builder.build();
    for (auto& device : node_.pci) (device.is_bridge() ? port_ : nic_) = &device;
  }

  [[nodiscard]] Place place() const { return find_place(node_, "ib0", {}).value_or(Place()); }

  node::Node node_;
  node::PciDevice* port_ = nullptr;
  node::PciDevice* nic_ = nullptr;
};

TEST_F(PcieTest, the_narrowest_link_on_the_way_counts) {
  EXPECT_EQ(place().pcie, (PcieLink{32, 16}));
  port_->link_gts = 16;
  port_->link_width = 8;
  EXPECT_EQ(place().pcie, (PcieLink{16, 8}));
}

TEST_F(PcieTest, a_link_that_trained_to_less_is_degraded) {
  EXPECT_FALSE(place().pcie_is_degraded());
  nic_->link_width = 8;
  EXPECT_TRUE(place().pcie_is_degraded());
  EXPECT_EQ(place().pcie, (PcieLink{32, 8}));
  EXPECT_EQ(place().pcie_built(), (PcieLink{32, 16}));
}

TEST_F(PcieTest, a_slot_that_is_narrower_than_the_card_is_no_fault) {
  nic_->link_width = port_->link_width = port_->max_link_width = 8;
  nic_->link_gts = port_->link_gts = port_->max_link_gts = 16;
  EXPECT_FALSE(place().pcie_is_degraded());
  EXPECT_EQ(place().pcie_built(), (PcieLink{16, 8}));
}

TEST_F(PcieTest, where_no_maximum_is_known_the_link_is_taken_as_it_is) {
  nic_->link_width = 8;
  nic_->max_link_gts = port_->max_link_gts = std::nullopt;
  EXPECT_FALSE(place().pcie_is_degraded());
  EXPECT_EQ(place().pcie_built(), (PcieLink{32, 8}));
}

TEST_F(PlaceTest, a_server_says_which_of_its_nics_no_client_can_use) {
  std::vector<std::string> left_out;
  port("roce0").gids = {};
  EXPECT_THAT(served_nics(node_, {}, {}, left_out).value(), ElementsAre("ib0"));
  EXPECT_THAT(left_out, ElementsAre(HasSubstr("roce0: no GID")));
  left_out.clear();
  EXPECT_THAT(served_nics(node_, {"ib0", "dead0", "none0"}, {}, left_out).value(),
              ElementsAre("ib0"));
  EXPECT_THAT(left_out, ElementsAre(HasSubstr("dead0: "), HasSubstr("none0: no such")));
  EXPECT_THAT(served_nics(node_, {"dead0"}, {}, left_out).error().message,
              HasSubstr("dead0: no port is ACTIVE"));
}

TEST_F(PlaceTest, a_server_without_any_nic_is_told_which_it_is) {
  std::vector<std::string> left_out;
  for (auto& nic : node_.nics) nic.ports.at(0).state = node::PortState::down;
  EXPECT_EQ(served_nics(node_, {}, {}, left_out).error().message,
            "no RDMA device of this machine has an active port");
  EXPECT_EQ(served_nics({}, {}, {}, left_out).error().message, "this machine has no RDMA device");
}

}  // namespace
}  // namespace railhead::bench
