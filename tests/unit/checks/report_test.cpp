// SPDX-License-Identifier: Apache-2.0
#include "checks/report.h"

#include <gmock/gmock.h>

#include "base/utf8.h"
#include "checks/formats.h"
#include "unit/checks/patient.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kStateOfPort3 =
    "/sys/devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0/0000:3f:00.0/0000:40:00.0/infiniband/mlx5_3/"
    "ports/1/state";

checks::Diagnosis diagnosis_of(const Patient& patient) {
  checks::Diagnosis diagnosis;
  diagnosis.node = "gpu-1";
  diagnosis.findings = patient.examine();
  diagnosis.limit = std::chrono::milliseconds(10'000);
  return diagnosis;
}

checks::Diagnosis of_port_down() {
  auto patient = healthy();
  patient.text(kStateOfPort3, "1: DOWN");
  return diagnosis_of(patient);
}

TEST(DoctorReport, a_failure_has_cause_effect_evidence_and_remedy) {
  const auto text = to_table(checks::report_of(of_port_down(), false));
  EXPECT_THAT(text, testing::StartsWith("FAIL  link.port-state  mlx5_3/1\n"));
  EXPECT_THAT(text, HasSubstr("  found     DOWN, LinkUp\n  expected  ACTIVE\n"));
  EXPECT_THAT(text, HasSubstr("/sys/class/infiniband/mlx5_3/ports/1/state = 1: DOWN\n"));
  EXPECT_THAT(text, HasSubstr("  not made  link.rate, link.sm\n"));
  EXPECT_THAT(text, HasSubstr("  fix (R3)  The cable is good"));
  EXPECT_THAT(text, HasSubstr("1 FAIL, 0 WARN, 0 UNKNOWN"));
}

TEST(DoctorReport, what_is_right_is_shown_only_when_asked_for) {
  const auto diagnosis = diagnosis_of(healthy());
  EXPECT_THAT(to_table(checks::report_of(diagnosis, false)), Not(HasSubstr("link.port-state")));
  EXPECT_THAT(to_table(checks::report_of(diagnosis, true)), HasSubstr("PASS    link.port-state"));
}

TEST(DoctorReport, json_has_the_fields_of_the_contract) {
  const auto json = checks::report_of(of_port_down(), false).json;
  EXPECT_EQ(json["kind"], "DoctorReport");
  EXPECT_EQ(json["node"], "gpu-1");
  EXPECT_EQ(json["summary"]["fail"], 1);
  EXPECT_EQ(json["summary"]["unknown"], 0);
  EXPECT_EQ(json["limitMilliseconds"], 10'000);
  for (const auto& finding : json["findings"]) {
    if (finding["state"] != "FAIL") continue;
    EXPECT_EQ(finding["id"], "link.port-state");
    EXPECT_EQ(finding["subject"], "mlx5_3/1");
    EXPECT_EQ(finding["expected"], "ACTIVE");
    EXPECT_EQ(finding["evidence"][0]["path"], "/sys/class/infiniband/mlx5_3/ports/1/state");
    EXPECT_EQ(finding["remedyClass"], "R3");
    EXPECT_EQ(finding["covers"][0], "link.state");
  }
}

TEST(DoctorReport, its_first_line_is_short_enough_for_a_condition) {
  EXPECT_EQ(checks::headline(of_port_down()), "FAIL link.port-state mlx5_3/1: DOWN, LinkUp");
  EXPECT_THAT(checks::headline(diagnosis_of(healthy())), HasSubstr("PASS, nothing is wrong"));
  for (const auto& name : machine_names()) {
    EXPECT_LT(checks::headline(diagnosis_of(Patient::of(name))).size(), 80U) << name;
  }
}

TEST(DoctorReport, its_first_line_cuts_no_character_in_two) {
  checks::Diagnosis diagnosis;
  for (const char* more : {"", "a", "aa"}) {
    checks::Finding finding{"link.rate", "node", checks::State::fail};
    finding.observed = more;
    for (int i = 0; i < 30; ++i) finding.observed += "…";
    diagnosis.findings = {finding, finding};
    EXPECT_TRUE(is_plain_text(checks::headline(diagnosis))) << checks::headline(diagnosis);
  }
}

TEST(DoctorReport, its_first_line_is_one_line_and_does_nothing_to_a_terminal) {
  checks::Diagnosis diagnosis;
  diagnosis.findings = {
      {"pod.environment", "a\x1b[2J", checks::State::fail, "x\nPASS\r\x1b]0;t\x07"}};
  const auto line = checks::headline(diagnosis);
  EXPECT_TRUE(is_plain_text(line)) << line;
  EXPECT_EQ(line.find_first_of("\n\r\x1b\x07"), std::string::npos) << line;
}

TEST(DoctorReport, a_warning_is_no_problem_and_ignorance_is_no_health) {
  checks::Diagnosis diagnosis;
  diagnosis.findings = {{"link.rate", "node", checks::State::warn}};
  EXPECT_EQ(checks::outcome_of(diagnosis), checks::Outcome::good);
  diagnosis.findings.push_back({"link.rate", "node", checks::State::unknown});
  EXPECT_EQ(checks::outcome_of(diagnosis), checks::Outcome::unknown);
  diagnosis.findings.push_back({"link.rate", "node", checks::State::fail});
  EXPECT_EQ(checks::outcome_of(diagnosis), checks::Outcome::problem);
}

TEST(DoctorReport, what_was_left_out_is_said) {
  checks::Diagnosis diagnosis;
  diagnosis.limit = std::chrono::milliseconds(20);
  diagnosis.took = diagnosis.limit;
  diagnosis.left_out = 3;
  EXPECT_THAT(to_table(checks::report_of(diagnosis, false)),
              HasSubstr("\n3 readings left out after 20 ms\n"));
  EXPECT_THAT(checks::to_html(diagnosis), HasSubstr("<p>3 readings left out after 20 ms.</p>"));
  diagnosis.took = std::chrono::milliseconds(5);
  diagnosis.left_out = 1;
  EXPECT_THAT(to_table(checks::report_of(diagnosis, false)), HasSubstr("\n1 reading left out\n"));
}

TEST(DoctorReport, junit_has_a_case_for_each_finding) {
  const auto diagnosis = of_port_down();
  const auto text = checks::to_junit(diagnosis);
  EXPECT_THAT(text, HasSubstr("failures=\"1\" errors=\"0\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"link.port-state\" name=\"mlx5_3/1\">"
                              "<failure message=\"DOWN, LinkUp\">"));
  std::size_t cases = 0;
  for (auto at = text.find("<testcase"); at != std::string::npos;
       at = text.find("<testcase", at + 1))
    ++cases;
  EXPECT_EQ(cases, diagnosis.findings.size());
}

TEST(DoctorReport, html_is_one_page_with_what_is_wrong_first) {
  const auto text = checks::to_html(of_port_down());
  EXPECT_THAT(text, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_LT(text.find("<h2>What is wrong</h2>"), text.find("<h2>What is right</h2>"));
  for (const auto* outside : {"http:", "https:", "<script", "<link", "<img", "@import"}) {
    EXPECT_THAT(text, Not(HasSubstr(outside)));
  }
}

TEST(DoctorReport, names_of_a_hostile_machine_are_no_markup) {
  checks::Diagnosis diagnosis;
  diagnosis.node = "<b>\x1b[31m";
  diagnosis.findings.push_back({"link.rate", "</li><script>", checks::State::fail, "\"&\x01"});
  for (const auto& format : checks::kDiagnosisFormats) {
    const auto text = format.render(diagnosis);
    EXPECT_THAT(text, Not(HasSubstr("<script>")));
    EXPECT_THAT(text, Not(HasSubstr("<b>")));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\x01'), std::string::npos);
  }
}

}  // namespace
}  // namespace railhead::test
