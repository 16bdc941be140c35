// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_news.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "unit/inject/pool_specs.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The machine without the lines that name this.
inject::DecisionTable table_without(const std::string& what) {
  std::string text;
  std::stringstream lines(machine_text("seed-8gpu-4nic"));
  for (std::string line; std::getline(lines, line);) {
    if (what.empty() || line.find(what) == std::string::npos) text += line + "\n";
  }
  return {node::read_node(*snapshot::SnapshotHost::parse(text).value()), {}, {}};
}

/// The lines of this event when one table follows the other.
std::string said(const inject::DecisionTable* before, const inject::DecisionTable& now,
                 const std::string& event) {
  testing::internal::CaptureStderr();
  {
    agent::Log log{config::LogLevel::info, config::LogFormat::text};
    agent::log_machine(before, now, "event", log);
    log.flush();
  }
  std::string found;
  std::stringstream lines(testing::internal::GetCapturedStderr());
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" " + event + " ") != std::string::npos) found += line + "\n";
  }
  return found;
}

std::string said(const inject::DecisionTable& before, const inject::DecisionTable& now) {
  return said(&before, now, "nic");
}

TEST(MachineNews, a_doubt_is_said_once) {
  const auto healthy = table_without("");
  auto node = healthy.node();
  node.problems.push_back({node::Problem::Kind::malformed, "/sys/odd", "is no number"});
  const inject::DecisionTable doubtful(node, {}, {});
  EXPECT_THAT(said(nullptr, doubtful, "node problem"), HasSubstr("path=/sys/odd"));
  EXPECT_THAT(said(&healthy, doubtful, "node problem"), HasSubstr("path=/sys/odd"));
  EXPECT_THAT(said(&doubtful, doubtful, "node problem"), IsEmpty());
}

TEST(MachineNews, of_nics_that_are_as_they_were_is_none) {
  EXPECT_THAT(said(table_without(""), table_without("")), IsEmpty());
}

/// Its class link is what goes and comes: the function stays.
TEST(MachineNews, of_a_nic_that_its_driver_let_go_of_is_of_one_nic) {
  const auto whole = table_without("");
  const auto without = table_without("l /sys/class/infiniband/mlx5_3 ");
  const auto function = whole.node().nics.at(3).pci->str();
  ASSERT_EQ(whole.node().nics.at(3).name, "mlx5_3");
  const auto lost = said(whole, without);
  EXPECT_EQ(std::ranges::count(lost, '\n'), 1) << lost;
  EXPECT_THAT(lost, AllOf(HasSubstr("nic=" + function), HasSubstr("was=mlx5_3")));
  const auto back = said(without, whole);
  EXPECT_EQ(std::ranges::count(back, '\n'), 1) << back;
  EXPECT_THAT(back, AllOf(HasSubstr("nic=mlx5_3"), HasSubstr("was=" + function)));
}

TEST(MachineNews, of_a_nic_whose_function_has_gone_is_that_it_has_gone) {
  const auto whole = table_without("");
  node::Node rest = whole.node();
  rest.nics.erase(rest.nics.begin());
  const inject::DecisionTable without(rest, {}, {});
  EXPECT_THAT(said(whole, without), AllOf(HasSubstr("nic gone"), HasSubstr("nic=mlx5_0")));
  EXPECT_THAT(said(without, whole), AllOf(HasSubstr("nic=mlx5_0"), Not(HasSubstr("gone"))));
}

/// Samples of a metric whose value is this.
std::vector<std::string> samples(const inject::DecisionTable& table, const std::string& metric,
                                 const std::string& value) {
  agent::Metrics metrics;
  agent::publish_machine(table, metrics);
  std::vector<std::string> found;
  std::stringstream lines(metrics.expose());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(metric + "{") || !line.ends_with("} " + value)) continue;
    const auto begin = line.find('"') + 1;
    found.push_back(line.substr(begin, line.find('"', begin) - begin));
  }
  return found;
}

inject::DecisionTable table_of(const std::string& machine, inject::InjectionPolicy policy = {}) {
  return {node::read_node(*snapshot::SnapshotHost::parse(machine_text(machine)).value()),
          {},
          std::move(policy)};
}

using testing::ElementsAre;

TEST(MachineNews, dealt_nics_that_are_down_and_missing_ones_are_samples) {
  const auto degraded = table_of("dgx-h100-degraded");
  EXPECT_THAT(samples(degraded, "railhead_compute_nic_usable", "0"),
              ElementsAre("0000:4f:00.0", "mlx5_3"));
  EXPECT_THAT(samples(degraded, "railhead_nic_missing", "1"), ElementsAre("0000:c3:00.0"));
  const auto whole = table_of("dgx-h100");
  EXPECT_THAT(samples(whole, "railhead_compute_nic_usable", "0"), IsEmpty());
  EXPECT_EQ(samples(whole, "railhead_compute_nic_usable", "1").size(), 8U);
  EXPECT_THAT(samples(whole, "railhead_nic_missing", "1"), IsEmpty());
}

TEST(MachineNews, a_folder_that_cannot_be_read_is_said) {
  const auto unread_of = [](const std::string& text) {
    agent::Metrics metrics;
    auto node = node::read_node(*snapshot::SnapshotHost::parse(text).value());
    agent::publish_machine({std::move(node), {}, {}}, metrics);
    return metrics.node_unread.value();
  };
  const auto* nothing = "railhead-snapshot 1\nd /sys/class\n";
  EXPECT_EQ(unread_of(nothing), 0);
  EXPECT_EQ(unread_of(std::string(nothing) + "e /sys/class/infiniband EACCES\n"), 1);
}

TEST(MachineNews, a_type_that_has_more_nics_is_a_sample) {
  auto node = node::read_node(*snapshot::SnapshotHost::parse(machine_text("aws-p5")).value());
  node.nics.pop_back();
  const inject::DecisionTable table(std::move(node), {}, {});
  EXPECT_THAT(samples(table, "railhead_nic_missing", "1"), ElementsAre("any"));
  EXPECT_THAT(samples(table_of("aws-p5"), "railhead_nic_missing", "1"), IsEmpty());
}

TEST(MachineNews, a_nic_that_no_gpu_has_is_no_sample) {
  const auto table = table_of("nics-only");
  EXPECT_THAT(samples(table, "railhead_compute_nic_usable", "0"), IsEmpty());
  EXPECT_THAT(samples(table, "railhead_compute_nic_usable", "1"), IsEmpty());
}

TEST(MachineNews, a_nic_of_an_exclusive_pool_is_not_down) {
  inject::InjectionPolicy policy;
  policy.pools = {exclusive_pool("example.com/nic", {"mlx5_1"})};
  const auto table = table_of("seed-8gpu-4nic", policy);
  EXPECT_FALSE(table.usable().at(1).usable);
  EXPECT_THAT(samples(table, "railhead_compute_nic_usable", "0"), IsEmpty());
}

}  // namespace
}  // namespace railhead::test
