// SPDX-License-Identifier: Apache-2.0
//
// What the doctor makes of a machine that cannot be read, or that says nonsense: it never calls
// wrong what is only not known, and one check never stops another.
#include <gmock/gmock.h>

#include <set>

#include "host/bounded_host.h"
#include "unit/checks/patient.h"
#include "unit/host/empty_host.h"
#include "unit/manual_clock.h"

namespace railhead::test {
namespace {

using Lines = std::vector<std::string>;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The last component of every file's path: what one mistake of a reader would touch.
std::set<std::string> file_names(const Patient& patient) {
  std::set<std::string> names;
  for (const auto& [path, entry] : patient.snapshot().entries) {
    if (std::holds_alternative<snapshot::SnapshotFile>(entry)) names.insert(host::base_name(path));
  }
  return names;
}

std::vector<std::string> files_named(const Patient& patient, const std::string& name) {
  auto paths = patient.paths("/" + name);
  std::erase_if(paths, [&](const std::string& path) {
    return !std::holds_alternative<snapshot::SnapshotFile>(patient.snapshot().entries.at(path));
  });
  return paths;
}

std::set<std::string> ids(const std::vector<checks::Finding>& findings) {
  std::set<std::string> all;
  for (const auto& finding : findings) all.emplace(finding.id);
  return all;
}

/// FAIL and WARN.
Lines alarms(const std::vector<checks::Finding>& findings) {
  auto lines = complaints(findings);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("UNKNOWN"); });
  return lines;
}

TEST(BadInput, what_cannot_be_read_is_never_called_wrong) {
  const auto patient = healthy();
  const auto all = ids(patient.examine());
  for (const auto& name : file_names(patient)) {
    auto unreadable = patient;
    for (const auto& path : files_named(patient, name)) unreadable.unreadable(path, "EACCES");
    const auto findings = unreadable.examine();
    EXPECT_THAT(alarms(findings), IsEmpty()) << name;
    EXPECT_EQ(ids(findings), all) << name;
  }
}

TEST(BadInput, garbage_in_a_file_stops_no_check_and_is_never_called_wrong) {
  const auto patient = healthy();
  const auto all = ids(patient.examine());
  std::string bytes = "\xff\xfe{[\"%s%n -1 99999999999999999999 0x\n\n;,= ";
  bytes.push_back('\0');
  for (const auto& name : file_names(patient)) {
    auto garbled = patient;
    for (const auto& path : files_named(patient, name)) garbled.bytes(path, bytes);
    const auto findings = garbled.examine();
    EXPECT_EQ(ids(findings), all) << name;
    // A list of modules has whatever lines a person wrote: what is not in it will not be loaded.
    if (name == "rdma.conf") continue;
    EXPECT_THAT(alarms(findings), IsEmpty()) << name;
  }
}

/// The chart's agent has the machine's /sys and /proc, and nothing else of it.
TEST(BadInput, what_a_pod_does_not_see_is_never_called_wrong) {
  auto patient = healthy();
  for (const auto& path : patient.paths("")) {
    const bool is_seen =
        path.starts_with("/sys/") || path.starts_with("/proc/") || path.starts_with("/.");
    if (!is_seen) patient.drop(path);
  }
  EXPECT_THAT(alarms(patient.examine()), IsEmpty());
}

TEST(BadInput, counters_that_are_no_numbers_are_unknown) {
  for (const char* garbage : {"", "-1", "99999999999999999999999"}) {
    auto patient = healthy();
    for (const auto* name : {"link_downed", "symbol_error", "excessive_buffer_overrun_errors"}) {
      for (const auto& path : patient.paths(std::string("/counters/") + name))
        patient.text(path, garbage);
    }
    const auto findings = patient.examine();
    EXPECT_THAT(alarms(findings), IsEmpty()) << garbage;
    EXPECT_EQ(finding_of(findings, "link.counters", "mlx5_3/1").state, checks::State::unknown)
        << garbage;
  }
}

TEST(BadInput, one_counter_that_is_no_number_may_be_full) {
  auto patient = healthy();
  const auto path = patient.paths("mlx5_3/ports/1/counters/symbol_error").at(0);
  patient.text(path, "what");
  const auto finding = finding_of(patient.examine(), "link.counters", "mlx5_3/1");
  EXPECT_EQ(finding.state, checks::State::unknown);
  EXPECT_THAT(finding.reason, HasSubstr("symbol_error"));
}

TEST(BadInput, of_a_huge_log_the_newest_lines_count) {
  std::string log = "3,1,1,-;mlx5_core 0000:18:00.0: device's health compromised\n";
  const std::string line = "6,2,2000000,-;usb 1-1: new high-speed USB device number 2\n";
  for (int n = 0; n < 40'000; ++n) log += line;
  auto patient = healthy();
  patient.bytes("/dev/kmsg", log);
  const auto old = finding_of(patient.examine(), "log.firmware", "node");
  EXPECT_EQ(old.state, checks::State::pass);
  EXPECT_THAT(old.observed, HasSubstr("20000"));
  log += "3,1,3000000,-;mlx5_core 0000:18:00.0: device's health compromised\n";
  patient.bytes("/dev/kmsg", log);
  EXPECT_EQ(finding_of(patient.examine(), "log.firmware", "node").state, checks::State::fail);
}

TEST(BadInput, a_half_written_configuration_is_named) {
  auto patient = healthy();
  patient.bytes("/etc/containerd/conf.d/nri.toml", "[plugins.'io.containerd.nri.v1.nri'\ndisa");
  const auto finding = finding_of(patient.examine(), "runtime.nri", "containerd");
  EXPECT_EQ(finding.state, checks::State::warn) << "the runtime would not start again";
  ASSERT_THAT(finding.evidence, SizeIs(1));
  EXPECT_EQ(finding.evidence[0].path, "/etc/containerd/conf.d/nri.toml");
}

/// Each question takes a while.
class SlowHost final : public EmptyHost {
 public:
  SlowHost(host::Host& inner, ManualClock& clock)
      : inner_(inner),
        clock_(clock) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    clock_.advance(std::chrono::milliseconds(5));
    return inner_.read(path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return inner_.readlink(path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return inner_.list(path);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    return inner_.device(path);
  }

 private:
  host::Host& inner_;
  ManualClock& clock_;
};

TEST(BadInput, what_was_left_out_for_time_is_unknown_and_counted) {
  const auto patient = healthy();
  snapshot::SnapshotHost host(patient.snapshot());
  ManualClock clock;
  SlowHost slow(host, clock);
  host::BoundedHost bounded(slow, clock, std::chrono::milliseconds(100));
  auto node = node::read_node(host);
  auto system = system::read_system(bounded, node, system::Part::all);
  EXPECT_GT(bounded.left_out(), 0U);
  const checks::Machine machine(std::move(node), std::move(system), {});
  const auto findings = checks::run_checks(machine, checks::all_checks());
  EXPECT_THAT(alarms(findings), IsEmpty());
  EXPECT_EQ(ids(findings), ids(patient.examine()));
  EXPECT_EQ(finding_of(findings, "log.firmware", "node").reason, "/dev/kmsg: ETIMEDOUT");
}

}  // namespace
}  // namespace railhead::test
