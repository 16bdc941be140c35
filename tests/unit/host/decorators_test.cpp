// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "host/back_off_host.h"
#include "host/bounded_host.h"
#include "snapshot/recording_host.h"
#include "unit/host/empty_host.h"
#include "unit/manual_clock.h"

namespace railhead::test {
namespace {

using Asked = std::set<std::string>;

/// A machine that notes what it is asked.
class AskedMachine final : public EmptyHost {
 public:
  Result<std::optional<std::string>> read(const std::string&) override { return noted("read"); }

  Result<std::optional<std::string>> readlink(const std::string&) override {
    return noted("readlink");
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string&) override {
    asked.insert("list");
    return host::kAbsent;
  }

  Result<std::optional<host::DeviceNode>> device(const std::string&) override {
    asked.insert("device");
    return host::kAbsent;
  }

  Result<std::optional<std::string>> rdma(const host::RdmaDump&) override { return noted("rdma"); }

  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(const std::string&) override {
    asked.insert("tcp_sockets");
    return host::kAbsent;
  }

  Result<std::optional<std::string>> devlink_info(const std::string&) override {
    return noted("devlink_info");
  }

  Result<std::optional<std::string>> link_settings(const std::string&, host::LinkPart) override {
    return noted("link_settings");
  }

  Asked asked;

 private:
  Result<std::optional<std::string>> noted(const char* question) {
    asked.insert(question);
    return std::optional<std::string>();
  }
};

/// How many of the answers say why nothing is known.
int ask_everything(host::Host& host) {
  const auto take = [](const std::string&) {};
  return !host.read("/a") + !host.readlink("/a") + !host.list("/a") +
         !host.walk_links("/a", 1, take) + !host.device("/a") + !host.rdma({}) +
         !host.tcp_sockets("/proc/1/ns/net") + !host.devlink_info("0000:00:00.0") +
         !host.link_settings("eth0", host::LinkPart::dcb);
}

const Asked kEverything = {"read", "readlink",    "list",         "device",
                           "rdma", "tcp_sockets", "devlink_info", "link_settings"};

TEST(HostDecorators, each_passes_every_question_on) {
  ManualClock clock;
  host::Refusals refusals;
  const auto asked_through = [](auto make) {
    AskedMachine machine;
    auto host = make(machine);
    EXPECT_EQ(ask_everything(*host), 0);
    return machine.asked;
  };
  EXPECT_EQ(asked_through([&](auto& machine) {
              return std::make_unique<host::BoundedHost>(machine, clock, std::chrono::hours(1));
            }),
            kEverything);
  EXPECT_EQ(asked_through([&](auto& machine) {
              return std::make_unique<host::BackOffHost>(machine, clock, refusals);
            }),
            kEverything);
  EXPECT_EQ(asked_through(
                [](auto& machine) { return std::make_unique<snapshot::RecordingHost>(machine); }),
            kEverything);
}

TEST(HostDecorators, a_bounded_one_whose_time_is_over_says_absent_of_nothing) {
  AskedMachine machine;
  ManualClock clock;
  host::BoundedHost host(machine, clock, std::chrono::milliseconds(0));
  EXPECT_EQ(ask_everything(host), 9);
  EXPECT_EQ(host.left_out(), 9U);
  EXPECT_EQ(machine.asked, Asked());
}

}  // namespace
}  // namespace railhead::test
