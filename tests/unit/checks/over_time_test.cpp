// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "host/boot_id.h"
#include "unit/checks/patient.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

/// Of mlx5_3 of a DGX H100.
std::string counter(const Patient& patient, const std::string& file) {
  const auto ports = patient.paths("infiniband/mlx5_3/ports/1/state");
  EXPECT_EQ(ports.size(), 1U);
  return ports.at(0).substr(0, ports.at(0).size() - 5) + file;
}

Patient at(const char* uptime) {
  auto patient = healthy();
  patient.text("/proc/uptime", uptime).text(host::kBootId, "b0");
  patient.text(counter(patient, "counters/symbol_error"), "7");
  patient.text(counter(patient, "counters/link_downed"), "1");
  patient.text(counter(patient, "hw_counters/local_ack_timeout_err"), "100");
  return patient;
}

std::vector<checks::Finding> growth(const Patient& before, const Patient& now) {
  snapshot::SnapshotHost earlier(before.snapshot());
  snapshot::SnapshotHost later(now.snapshot());
  auto node = node::read_node(later);
  auto first = system::read_system(earlier, node, system::Part::counters);
  auto system = system::read_system(later, node, system::Part::counters);
  const checks::Machine machine(std::move(node), std::move(system), {}, {{}, std::move(first)});
  return checks::run_checks(machine, {checks::find_check("link.errors")});
}

checks::Finding of_port_3(const Patient& before, const Patient& now) {
  return finding_of(growth(before, now), "link.errors", "mlx5_3/1");
}

TEST(DoctorOverTime, one_look_says_nothing_of_growth) {
  const auto finding = finding_of(healthy().examine(), "link.errors", "node");
  EXPECT_EQ(finding.state, checks::State::skip);
  EXPECT_THAT(finding.reason, HasSubstr("--interval"));
}

TEST(DoctorOverTime, errors_that_grow_are_named) {
  auto now = at("110.00 1.00");
  now.text(counter(now, "counters/link_downed"), "2");
  now.text(counter(now, "hw_counters/local_ack_timeout_err"), "200");
  const auto finding = of_port_3(at("100.00 1.00"), now);
  EXPECT_EQ(finding.state, checks::State::warn);
  EXPECT_EQ(finding.observed, "2 counters grew within 10 s");
  EXPECT_EQ(finding.evidence.at(0).value, "1 -> 2");
}

TEST(DoctorOverTime, a_few_errors_are_usual) {
  auto now = at("110.00 1.00");
  now.text(counter(now, "counters/symbol_error"), "107");
  EXPECT_EQ(of_port_3(at("100.00 1.00"), now).state, checks::State::pass);
  now.text(counter(now, "counters/symbol_error"), "108");
  EXPECT_EQ(of_port_3(at("100.00 1.00"), now).state, checks::State::warn);
}

TEST(DoctorOverTime, what_was_set_back_or_is_full_is_left_out) {
  auto before = at("100.00 1.00");
  before.text(counter(before, "counters/link_downed"), "255");
  auto now = at("110.00 1.00");
  now.text(counter(now, "counters/link_downed"), "255");
  now.text(counter(now, "hw_counters/local_ack_timeout_err"), "3");
  EXPECT_EQ(of_port_3(before, now).state, checks::State::pass);
}

TEST(DoctorOverTime, a_start_in_between_makes_it_unknown) {
  auto now = at("50.00 1.00");
  EXPECT_EQ(growth(at("100.00 1.00"), now).back().state, checks::State::unknown);
  now = at("200.00 1.00");
  now.text(host::kBootId, "b1");
  EXPECT_EQ(growth(at("100.00 1.00"), now).back().state, checks::State::unknown);
  now = at("200.00 1.00");
  now.text("/proc/uptime", "soon");
  EXPECT_EQ(growth(at("100.00 1.00"), now).back().state, checks::State::unknown);
}

/// Lines of mlx5_0 of a machine with RoCE, at these seconds since its start.
checks::Finding flaps(const std::vector<unsigned>& seconds, const char* uptime) {
  auto patient = healthy("hgx-h100-roce");
  snapshot::SnapshotHost host(patient.snapshot());
  const auto node = node::read_node(host);
  std::string log;
  for (const auto second : seconds) {
    log += "4,1," + std::to_string(second) + "000000,-;mlx5_core " +
           node.find_nic("mlx5_0")->pci->str() + " ens1: Link down\n";
  }
  patient.bytes("/dev/kmsg", log).text("/proc/uptime", uptime);
  return finding_of(patient.examine(), "link.flap", "mlx5_0");
}

TEST(DoctorOverTime, a_link_that_goes_down_again_and_again_flaps) {
  const auto finding = flaps({5000, 5100, 5200}, "6000.00 1.00");
  EXPECT_EQ(finding.state, checks::State::warn);
  EXPECT_EQ(finding.observed, "3 times down");
  EXPECT_EQ(flaps({5000, 5100}, "6000.00 1.00").state, checks::State::pass);
}

TEST(DoctorOverTime, what_was_at_the_start_or_long_ago_does_not_count) {
  EXPECT_EQ(flaps({5, 100, 1700}, "6000.00 1.00").state, checks::State::pass);
  EXPECT_EQ(flaps({5000, 5100, 5200}, "90000.00 1.00").state, checks::State::pass);
}

TEST(DoctorOverTime, of_infiniband_the_log_says_nothing) {
  EXPECT_EQ(finding_of(healthy().examine(), "link.flap", "mlx5_3").state, checks::State::skip);
}

}  // namespace
}  // namespace railhead::test
