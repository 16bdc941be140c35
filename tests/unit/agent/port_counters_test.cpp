// SPDX-License-Identifier: Apache-2.0
#include "agent/port_counters.h"

#include <gmock/gmock.h>

#include <set>

#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::agent {
namespace {

constexpr const char* kPort = "/sys/class/infiniband/mlx5_0/ports/1/";

node::Nic nic(const std::string& name, node::LinkLayer layer = node::LinkLayer::infiniband) {
  node::Nic nic;
  nic.name = name;
  nic.ports.resize(1);
  nic.ports[0].state = node::PortState::active;
  nic.ports[0].link_layer = layer;
  nic.ports[0].rate_gbps = 400;
  return nic;
}

node::Node node_of(node::Nic nic) {
  node::Node node;
  node.nics.push_back(std::move(nic));
  return node;
}

class PortCountersTest : public testing::Test {
 protected:
  PortCountersTest()
      : mailbox_(loop::Mailbox::open().value()),
        counters_({loop_, *mailbox_, clock_, log_, metrics_}, tables_, std::chrono::seconds(1),
                  {nullptr}) {}

  void read(const std::string& entries, const node::Node& node) {
    counters_.read(*test::host_of(entries), node);
  }

  static std::string file(const std::string& name, const std::string& value) {
    return test::file_entry(kPort + name, value + "\n");
  }

  boost::asio::io_context loop_;
  std::unique_ptr<loop::Mailbox> mailbox_;
  test::ManualClock clock_;
  Log log_{config::LogLevel::error, config::LogFormat::text};
  Metrics metrics_;
  TableFeed tables_;
  PortCounters counters_;
};

TEST_F(PortCountersTest, data_is_counted_by_the_kernel_in_four_bytes) {
  read(file("counters/port_rcv_data", "10") + file("counters/port_xmit_data", "25"),
       node_of(nic("mlx5_0")));
  EXPECT_EQ(metrics_.port_bytes.value("mlx5_0", "1", "received"), 40);
  EXPECT_EQ(metrics_.port_bytes.value("mlx5_0", "1", "transmitted"), 100);
}

TEST_F(PortCountersTest, an_efa_counts_in_bytes) {
  read(file("hw_counters/rx_bytes", "10"), node_of(nic("mlx5_0")));
  EXPECT_EQ(metrics_.port_bytes.value("mlx5_0", "1", "received"), 10);
}

TEST_F(PortCountersTest, each_counter_has_a_sample_of_its_own) {
  std::set<std::pair<PortCounter::Metric, std::string_view>> seen;
  for (const auto& one : port_counters()) {
    if (one.metric == PortCounter::Metric::bytes) continue;  // of two kinds of card
    EXPECT_TRUE(seen.emplace(one.metric, one.kind).second) << one.file;
  }
  read(file("hw_counters/np_cnp_sent", "3") + file("counters/symbol_error", "4") +
           file("counters/link_downed", "5"),
       node_of(nic("mlx5_0")));
  EXPECT_EQ(metrics_.port_congestion.value("mlx5_0", "1", label::PortKind("cnp-sent")), 3);
  EXPECT_EQ(metrics_.port_errors.value("mlx5_0", "1", label::PortKind("symbol")), 4);
  EXPECT_EQ(metrics_.port_link_downs.value("mlx5_0", "1"), 5);
}

TEST_F(PortCountersTest, what_a_port_does_not_count_has_no_sample) {
  read("", node_of(nic("mlx5_0")));
  EXPECT_THAT(metrics_.expose(), Not(testing::HasSubstr("railhead_port_errors_total{")));
}

TEST_F(PortCountersTest, a_port_that_says_einval_is_not_asked_again_for_an_hour) {
  const auto node = node_of(nic("mlx5_0"));
  read(file("counters/port_rcv_data", "10"), node);
  EXPECT_EQ(metrics_.port_bytes.value("mlx5_0", "1", "received"), 40);
  read("e " + std::string(kPort) + "counters/port_rcv_data EINVAL\n", node);
  EXPECT_THAT(metrics_.expose(), Not(testing::HasSubstr("railhead_port_bytes_total{")))
      << "one that stands still would look like no traffic";
  read(file("counters/port_rcv_data", "20"), node);
  EXPECT_EQ(metrics_.port_bytes.value("mlx5_0", "1", "received"), 0);
  clock_.advance(std::chrono::hours(1));
  read(file("counters/port_rcv_data", "30"), node);
  EXPECT_EQ(metrics_.port_bytes.value("mlx5_0", "1", "received"), 120);
}

TEST_F(PortCountersTest, an_ethernet_link_goes_down_with_its_netdev) {
  auto ethernet = nic("mlx5_0", node::LinkLayer::ethernet);
  ethernet.netdevs = {"ens1"};
  read(test::file_entry("/sys/class/net/ens1/carrier_down_count", "7\n") +
           file("counters/link_downed", "2"),
       node_of(ethernet));
  EXPECT_EQ(metrics_.port_link_downs.value("mlx5_0", "1"), 7);
}

/// As a driver would count under names of its own; of this one netdev alone.
Result<std::optional<host::EthtoolCounters>> counted_by_driver(const std::string& netdev,
                                                               const std::string& pci_address) {
  if (netdev != "ens1" || pci_address != "0000:3b:00.0") {
    return std::optional<host::EthtoolCounters>();
  }
  return std::optional(host::EthtoolCounters{
      {"rx_packets", 1}, {"rx_prio3_pause", 7}, {"tx_prio3_pause", 8}, {"tx_global_pause", 9}});
}

class PauseFramesTest : public PortCountersTest {
 protected:
  std::string read_of(node::LinkLayer layer, const std::string& address) {
    auto one = nic("mlx5_0", layer);
    one.netdevs = {"ens1"};
    one.pci = node::PciAddress::parse(address).value();
    counting_.read(*test::host_of(""), node_of(one));
    return metrics_.expose();
  }

  [[nodiscard]] double frames(const char* priority, const char* direction) const {
    return metrics_.port_pause_frames.value("mlx5_0", "1", metrics::Label<"priority">(priority),
                                            label::Direction(direction));
  }

  PortCounters counting_{{loop_, *mailbox_, clock_, log_, metrics_},
                         tables_,
                         std::chrono::seconds(1),
                         {nullptr, counted_by_driver}};
};

constexpr const char* kPauseSample = "railhead_port_pause_frames_total{";

TEST_F(PauseFramesTest, are_those_of_the_netdev_of_the_same_function) {
  read_of(node::LinkLayer::ethernet, "0000:3b:00.0");
  EXPECT_EQ(frames("3", "received"), 7);
  EXPECT_EQ(frames("3", "transmitted"), 8);
  EXPECT_EQ(frames("all", "transmitted"), 9);
  counting_.read(*test::host_of(""), node::Node());
  EXPECT_THAT(metrics_.expose(), Not(testing::HasSubstr(kPauseSample)));
}

TEST_F(PauseFramesTest, are_none_of_infiniband_and_of_another_function) {
  EXPECT_THAT(read_of(node::LinkLayer::infiniband, "0000:3b:00.0"),
              Not(testing::HasSubstr(kPauseSample)));
  EXPECT_THAT(read_of(node::LinkLayer::ethernet, "0000:5e:00.0"),
              Not(testing::HasSubstr(kPauseSample)));
}

TEST_F(PortCountersTest, a_nic_that_is_gone_leaves_no_samples) {
  read(file("counters/port_rcv_data", "10") + file("counters/symbol_error", "4"),
       node_of(nic("mlx5_0")));
  read("", node::Node());
  EXPECT_THAT(metrics_.expose(), Not(testing::HasSubstr("nic=\"mlx5_0\"")));
}

TEST_F(PortCountersTest, a_port_that_is_down_is_0_and_one_unknown_absent) {
  auto down = nic("mlx5_0");
  down.ports[0].state = node::PortState::down;
  read("", node_of(down));
  EXPECT_THAT(metrics_.expose(),
              testing::HasSubstr("railhead_port_active{nic=\"mlx5_0\",port=\"1\","
                                 "link_layer=\"InfiniBand\"} 0\n"));
  down.ports[0].state.reset();
  read("", node_of(down));
  EXPECT_THAT(metrics_.expose(), Not(testing::HasSubstr("railhead_port_active{")));
}

TEST_F(PortCountersTest, a_virtual_function_has_no_samples) {
  auto function = nic("mlx5_0");
  function.pci = node::PciAddress{0, 0x18, 0, 1};
  auto node = node_of(function);
  node::PciDevice device;
  device.address = *function.pci;
  device.physfn = node::PciAddress{0, 0x18, 0, 0};
  node.pci.push_back(device);
  read(file("counters/port_rcv_data", "10"), node);
  EXPECT_THAT(metrics_.expose(), Not(testing::HasSubstr("nic=\"mlx5_0\"")));
}

}  // namespace
}  // namespace railhead::agent
