// SPDX-License-Identifier: Apache-2.0
#include "agent/node_doctor.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "data/value.h"
#include "host/boot_id.h"
#include "unit/checks/patient.h"
#include "unit/host/temporary_directory.h"
#include "unit/manual_clock.h"

namespace railhead::agent {
namespace {

using test::Patient;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kState = "infiniband/mlx5_3/ports/1/state";

class NodeDoctorTest : public testing::Test {
 protected:
  NodeDoctorTest()
      : mailbox_(loop::Mailbox::open().value()),
        patient_(test::healthy()) {
    int ends[2] = {};
    EXPECT_EQ(::pipe(ends), 0);
    output_ = ends[0];
    log_ = std::make_unique<Log>(config::LogLevel::info, config::LogFormat::text, ends[1]);
    input_ = ends[1];
    options_.history_file = folder_ / "state/history.json";
    at(5000);
    begin();
  }

  ~NodeDoctorTest() override {
    doctor_.reset();
    log_.reset();
    ::close(input_);
    ::close(output_);
  }

  /// The agent starts, or starts anew.
  void begin() {
    doctor_ = std::make_unique<NodeDoctor>(
        Context{loop_, *mailbox_, clock_, *log_, metrics_}, options_,
        NodeDoctor::Links{[this]() -> Result<std::unique_ptr<host::Host>> {
                            if (!failure_.empty()) return Error{ErrorCode::unavailable, failure_};
                            return std::unique_ptr<host::Host>(
                                new snapshot::SnapshotHost(patient_.snapshot()));
                          },
                          [this] { return wishes_; }, page_, conditions_});
    doctor_->start();
  }

  void at(unsigned seconds, const std::string& boot = "b0") {
    patient_.text("/proc/uptime", std::to_string(seconds) + ".00 1.00").text(host::kBootId, boot);
  }

  void look() {
    doctor_->look();
    clock_.advance(std::chrono::minutes(5));
  }

  /// What has been logged since it was asked last.
  std::string logged() {
    EXPECT_TRUE(log_->flush());
    log_->write(config::LogLevel::error, "end");
    EXPECT_TRUE(log_->flush());
    std::string text;
    char bytes[4096];
    while (text.find(" error end\n") == std::string::npos) {
      const auto got = ::read(output_, bytes, sizeof bytes);
      if (got <= 0) break;
      text.append(bytes, static_cast<std::size_t>(got));
    }
    return text.substr(0, text.rfind('\n', text.size() - 2) + 1);
  }

  test::TemporaryDirectory folder_;
  boost::asio::io_context loop_;
  std::unique_ptr<loop::Mailbox> mailbox_;
  test::ManualClock clock_;
  Metrics metrics_;
  Patient patient_;
  Result<checks::Wishes> wishes_ = checks::Wishes();
  std::string failure_;  ///< why the machine cannot be opened
  loop::Shared<std::string> page_;
  loop::Shared<checks::LatestConditions> conditions_;
  NodeDoctorOptions options_;
  std::unique_ptr<Log> log_;
  int output_ = -1;
  int input_ = -1;
  std::unique_ptr<NodeDoctor> doctor_;
};

TEST_F(NodeDoctorTest, a_healthy_node_has_passes_and_no_line_in_the_log) {
  look();
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.sm"), "fail"), 0);
  EXPECT_GT(metrics_.check_findings.value(label::Check("link.sm"), "pass"), 0);
  EXPECT_EQ(metrics_.doctor_runs.value("good"), 1);
  EXPECT_EQ(logged(), "");
}

TEST_F(NodeDoctorTest, every_check_has_status_last_run_and_duration) {
  clock_.advance(std::chrono::seconds(1000));
  look();
  const auto text = metrics_.expose();
  for (const auto* check : checks::all_checks()) {
    const auto name = "{check=\"" + std::string(check->id) + "\"";
    EXPECT_THAT(text,
                AllOf(HasSubstr("railhead_check_findings" + name),
                      HasSubstr("railhead_check_last_run_timestamp_seconds" + name + "} 1000\n"),
                      HasSubstr("railhead_check_duration_seconds" + name)))
        << check->id;
  }
}

TEST_F(NodeDoctorTest, samples_are_bounded_by_checks_and_states) {
  look();
  const auto text = metrics_.expose();
  std::size_t samples = 0;
  for (auto at = text.find("\nrailhead_check_"); at != std::string::npos;
       at = text.find("\nrailhead_check_", at + 1)) {
    ++samples;
  }
  EXPECT_LE(samples, checks::all_checks().size() * 7);
}

TEST_F(NodeDoctorTest, a_failure_is_counted_logged_once_and_dated) {
  look();
  patient_.set(kState, "1: DOWN");
  look();
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.port-state"), "fail"), 1);
  EXPECT_EQ(metrics_.doctor_runs.value("problem"), 1);
  EXPECT_THAT(logged(),
              AllOf(HasSubstr("warn check id=link.port-state subject=mlx5_3/1 state=FAIL"),
                    HasSubstr("remedy=")));
  const auto since = "\"since\": \"1970-01-01T00:05:00Z\"";
  EXPECT_THAT(page_.get(), HasSubstr(since));
  look();
  EXPECT_EQ(logged(), "");
  EXPECT_THAT(page_.get(), HasSubstr(since));
  patient_.set(kState, "4: ACTIVE");
  look();
  EXPECT_THAT(logged(), HasSubstr("info check id=link.port-state subject=mlx5_3/1 state=PASS"));
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.port-state"), "fail"), 0);
}

TEST_F(NodeDoctorTest, a_machine_that_breaks_as_a_whole_does_not_flood_the_log) {
  look();
  for (const auto& path : patient_.paths("/ports/1/sm_lid")) patient_.text(path, "0x0");
  for (const auto& path : patient_.paths("/node_guid")) patient_.text(path, "0000:0000:0000:0000");
  for (const auto& path : patient_.paths("/current_link_width")) patient_.text(path, "1");
  look();
  const auto text = logged();
  EXPECT_LE(std::ranges::count(text, '\n'), 21);
  EXPECT_THAT(text, HasSubstr("warn more checks changed"));
}

TEST_F(NodeDoctorTest, the_page_is_what_doctor_prints_with_time_and_boot) {
  EXPECT_EQ(page_.get(), "");
  look();
  const auto page = data::parse_json(page_.get());
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_EQ(page->find("kind")->scalar, "DoctorReport");
  EXPECT_EQ(page->find("bootId")->scalar, "b0");
  EXPECT_EQ(page->find("time")->scalar, "1970-01-01T00:00:00Z");
  EXPECT_GT(page->find("findings")->items.size(), 100U);
}

TEST_F(NodeDoctorTest, each_look_is_told_as_conditions) {
  const auto outcome = [&](std::string_view type) {
    const auto seen = conditions_.get();
    for (const auto& one : seen->conditions) {
      if (one.type == type) return std::pair(one.outcome, one.message);
    }
    return std::pair(checks::Outcome::unknown, std::string("no such condition"));
  };
  EXPECT_EQ(conditions_.get(), nullptr);
  look();
  EXPECT_EQ(outcome("RDMALinkUnhealthy").first, checks::Outcome::good);
  patient_.set(kState, "1: DOWN");
  const auto at = clock_.now();
  look();
  EXPECT_EQ(outcome("RDMALinkUnhealthy").first, checks::Outcome::problem);
  EXPECT_EQ(conditions_.get()->at, at);
  failure_ = "no descriptors";
  look();
  EXPECT_EQ(outcome("RDMALinkUnhealthy"),
            std::pair(checks::Outcome::unknown, std::string("checks not made: no descriptors")));
}

TEST_F(NodeDoctorTest, sees_a_link_flap_that_no_single_look_sees) {
  for (unsigned n = 0; n < 4; ++n) {
    at(5000 + 300 * n);
    patient_.set("infiniband/mlx5_3/ports/1/counters/link_downed", std::to_string(n));
    look();
  }
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.flap"), "warn"), 1);
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.errors"), "warn"), 1);
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.port-state"), "fail"), 0);
}

TEST_F(NodeDoctorTest, history_survives_the_agent_and_not_the_machine) {
  look();
  begin();
  at(5300);
  patient_.set("infiniband/mlx5_3/ports/1/counters/link_downed", "3");
  look();
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.flap"), "warn"), 1);
  begin();
  at(9000, "b1");
  look();
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.flap"), "warn"), 0);
  EXPECT_EQ(checks::parse_history(test::file_text(options_.history_file))->boot_id(), "b1");
}

TEST_F(NodeDoctorTest, a_history_that_is_broken_begins_anew) {
  look();
  std::ofstream(options_.history_file) << "{\"kind\": ";
  begin();
  EXPECT_THAT(logged(), HasSubstr("warn history begins anew"));
  at(5300);
  look();
  EXPECT_EQ(checks::parse_history(test::file_text(options_.history_file))->looks(), 1U);
}

TEST_F(NodeDoctorTest, a_history_that_cannot_be_kept_is_said_once) {
  options_.history_file = "/proc/nowhere/history.json";
  begin();
  look();
  EXPECT_THAT(logged(), HasSubstr("warn history not kept"));
  look();
  EXPECT_EQ(logged(), "");
  EXPECT_EQ(metrics_.doctor_runs.value("good"), 2);
}

TEST_F(NodeDoctorTest, a_machine_that_cannot_be_opened_is_counted_and_said_once) {
  failure_ = "no descriptors";
  look();
  look();
  EXPECT_EQ(metrics_.doctor_runs.value("failed"), 2);
  const auto text = logged();
  EXPECT_THAT(text, HasSubstr("warn checks not made why=\"no descriptors\""));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST_F(NodeDoctorTest, goes_by_the_configuration_in_force) {
  patient_.set(kState, "1: DOWN");
  affinity::Expectation unused;
  unused.name_globs = "mlx5_3";
  wishes_->rules.expect = {unused};
  look();
  EXPECT_EQ(metrics_.check_findings.value(label::Check("link.port-state"), "fail"), 0);
  wishes_ = Error{ErrorCode::malformed, "topology.file: none"};
  look();
  EXPECT_EQ(metrics_.doctor_runs.value("failed"), 1);
}

}  // namespace
}  // namespace railhead::agent
