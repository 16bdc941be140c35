// SPDX-License-Identifier: Apache-2.0
#include "affinity/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/machines.h"

namespace railhead::affinity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Expectation of_name(const std::string& glob, Expectation::Kind kind) {
  Expectation entry;
  entry.name_globs = glob;
  entry.kind = kind;
  entry.where = "config.yaml:2:5";
  return entry;
}

Expectation unused(const std::string& glob) {
  return of_name(glob, Expectation::Kind::unused);
}

Expectation unused_port(const std::string& glob, unsigned port) {
  Expectation entry = unused(glob);
  entry.port = port;
  return entry;
}

Expectation rate(const std::string& glob, double gbps) {
  Expectation entry = of_name(glob, Expectation::Kind::rate);
  entry.gbps = gbps;
  return entry;
}

/// Eight GPUs and four NICs, of which some are down, with what an operator says of it.
struct Expected {
  node::Node node = test::eight_gpus_four_nics().build();
  OperatorRules rules;

  explicit Expected(std::vector<Expectation> expect)
      : rules{{}, std::move(expect)} {}

  void down(std::size_t nic) { node.nics[nic].ports[0].state = node::PortState::down; }

  [[nodiscard]] Deal dealt() const { return deal(node, topology::make_topology(node), rules); }

  [[nodiscard]] std::vector<Usability> usable() const { return usability_of(node, rules.expect); }

  [[nodiscard]] Selection ask(const std::vector<std::size_t>& gpus) const {
    return select(node, topology::make_topology(node), dealt(), usable(), gpus);
  }
};

TEST(Expectations, what_is_unused_is_dealt_to_nobody_and_missed_by_nobody) {
  Expected m({unused("mlx5_1")});
  m.down(1);
  const Deal dealt = m.dealt();
  EXPECT_EQ(dealt.roles[1].role, Role::unused);
  EXPECT_EQ(dealt.roles[1].reason, "unused by design (config.yaml:2:5)");
  EXPECT_EQ(m.usable()[1].reason, "unused by design (config.yaml:2:5)");
  const Selection all = m.ask({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(all.nics, ElementsAre(0, 2, 3));
  EXPECT_THAT(all.warnings, IsEmpty());
  for (const auto& gpu : all.gpus) EXPECT_FALSE(gpu.nics[0].stand_in);
}

TEST(Expectations, a_nic_is_unused_where_each_of_its_ports_is) {
  Expected m({unused_port("mlx5_1", 1), unused_port("mlx5_1", 2)});
  EXPECT_EQ(m.dealt().roles[1].role, Role::unused) << "its only port";
  node::Port second = m.node.nics[1].ports[0];
  second.number = 3;
  m.node.nics[1].ports.push_back(second);
  EXPECT_EQ(m.dealt().roles[1].role, Role::compute);
  m.down(1);
  m.node.nics[1].ports[1].state = node::PortState::init;
  EXPECT_EQ(m.usable()[1].reason, "port 3 is INIT") << "nobody waits for port 1";
}

TEST(Expectations, of_two_nics_the_one_that_is_up_is_no_stand_in) {
  Expected m({of_name("mlx5_0,mlx5_1", Expectation::Kind::one_up)});
  m.down(0);
  const Selection selection = m.ask({0, 2});
  EXPECT_THAT(selection.nics, ElementsAre(1));
  EXPECT_THAT(selection.warnings, IsEmpty());
  EXPECT_FALSE(selection.gpus[0].nics[0].stand_in);
  EXPECT_THAT(selection.gpus[0].lost, IsEmpty());
  m.down(1);
  const Selection both = m.ask({0});
  EXPECT_TRUE(both.gpus[0].nics[0].stand_in);
  EXPECT_THAT(both.gpus[0].lost, ElementsAre(0, 1));
}

TEST(Expectations, a_rate_below_the_expected_one_is_said) {
  Expected m({rate("mlx5_0", 400), rate("mlx5_1", 100)});
  m.node.nics[0].ports[0].rate_gbps = 200;
  m.node.nics[1].ports[0].rate_gbps = 200;
  EXPECT_TRUE(m.usable()[0].usable);
  EXPECT_EQ(m.usable()[0].slow,
            "port 1 runs at 200 Gbit/s, and 400 are expected (config.yaml:2:5)");
  EXPECT_EQ(m.usable()[1].slow, "");
  m.node.nics[0].ports[0].rate_gbps.reset();
  EXPECT_EQ(m.usable()[0].slow, "") << "nobody knows";
  m.down(0);
  EXPECT_EQ(m.usable()[0].slow, "") << "a port that is down has no rate";
}

TEST(Expectations, a_type_that_lacks_what_is_unused_is_complete) {
  node::Node node = test::eight_gpus_four_nics().build();
  topology::Topology topology = topology::make_topology(node);
  topology.machine = "this type";
  topology.machine_nics = 4;
  EXPECT_THAT(deal(node, topology, {{}, {unused("mlx5_1")}}).warnings, IsEmpty());
  topology.machine_nics = 5;
  EXPECT_THAT(deal(node, topology, {{}, {unused("mlx5_1")}}).warnings,
              ElementsAre(HasSubstr("of which 4 are here")));
}

}  // namespace
}  // namespace railhead::affinity
