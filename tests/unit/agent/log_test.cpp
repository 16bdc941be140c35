// SPDX-License-Identifier: Apache-2.0
#include "agent/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "data/json.h"
#include "host/unique_fd.h"

namespace railhead::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A line without what every line begins with.
std::string format_event(config::LogFormat format, std::string_view event,
                         const LogFields& fields) {
  const auto line = format_line(format, {}, config::LogLevel::info, event, fields);
  return line.substr(line.find(format == config::LogFormat::json ? "\"event\"" : event));
}

TEST(Log, text_quotes_only_what_needs_it) {
  EXPECT_EQ(format_event(config::LogFormat::text, "container",
                         {{"pod", "default/a"}, {"why", "two words"}, {"x", ""}}),
            "container pod=default/a why=\"two words\" x=\"\"");
}

TEST(Log, hostile_values_cannot_forge_a_line) {
  EXPECT_EQ(format_event(config::LogFormat::text, "container", {{"pod", "a\n2026 error x"}}),
            "container pod=\"a\\n2026 error x\"");
  EXPECT_EQ(format_event(config::LogFormat::json, "container", {{"pod", "a\n\"}"}}),
            R"("event":"container","pod":"a\n\"}"})");
  EXPECT_EQ(format_event(config::LogFormat::text, "container", {{"pod", "a\r\x1b[2K"}}),
            "container pod=\"a\\x0d\\x1b[2K\"");
  EXPECT_EQ(format_event(config::LogFormat::text, "container", {{"pod", "a\u009b2J\u202eb"}}),
            R"(container pod="a\u009b2J\u202eb")");
}

TEST(Log, a_line_begins_with_time_and_level) {
  const std::chrono::system_clock::time_point when(std::chrono::milliseconds(1763695860007));
  EXPECT_EQ(format_line(config::LogFormat::text, when, config::LogLevel::warn, "no events",
                        {{"why", "x"}}),
            "2025-11-21T03:31:00.007Z warn no events why=x");
  EXPECT_EQ(format_line(config::LogFormat::json, when, config::LogLevel::info, "no events",
                        {{"why", "x"}}),
            R"({"time":"2025-11-21T03:31:00.007Z","level":"info","event":"no events","why":"x"})");
}

TEST(Log, json_has_other_alphabets_as_they_are_and_no_broken_bytes) {
  EXPECT_EQ(format_event(config::LogFormat::json, "e", {{"a", "Käse…"}, {"b", "\xff!"}}),
            "\"event\":\"e\",\"a\":\"Käse…\",\"b\":\"\xEF\xBF\xBD!\"}");
}

TEST(Log, a_long_value_is_cut_and_its_length_told) {
  const LogFields fields{{"pod", "a"}, {"why", std::string(300 * 1024, 'x')}, {"end", "z"}};
  const auto text = format_line(config::LogFormat::text, {}, config::LogLevel::info, "e", fields);
  EXPECT_LT(text.size(), kMaxLogLineBytes);
  EXPECT_THAT(text, HasSubstr("xxx… (307200 bytes)\" end=z"));
  const auto json = data::Json::parse(
      format_line(config::LogFormat::json, {}, config::LogLevel::info, "e", fields));
  EXPECT_EQ(json["end"], "z");
  EXPECT_THAT(json["why"].get<std::string>(), EndsWith("x… (307200 bytes)"));
}

TEST(Log, a_value_is_cut_between_characters) {
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const LogFields fields{{"why", std::string(shift, 'x') + [] {
                              std::string text;
                              for (int i = 0; i < 4000; ++i) text += "€";
                              return text;
                            }()}};
    const auto line = format_line(config::LogFormat::json, {}, config::LogLevel::info, "e", fields);
    EXPECT_THAT(line, Not(HasSubstr("\xEF\xBF\xBD")));
  }
}

TEST(Log, three_hundred_kibibytes_of_fields_are_one_line_that_parses) {
  LogFields fields;
  for (int i = 0; i < 3000; ++i) {
    fields.emplace_back("remark." + std::to_string(i), std::string(100, '\x01'));
  }
  const auto line = format_line(config::LogFormat::json, {}, config::LogLevel::info, "e", fields);
  EXPECT_LT(line.size(), kMaxLogLineBytes);
  const auto json = data::Json::parse(line);
  const auto left_out = std::stoul(json["fieldsLeftOut"].get<std::string>());
  EXPECT_EQ(json.size() + left_out, fields.size() + 4);  // time, level, event, fieldsLeftOut
  const auto text = format_line(config::LogFormat::text, {}, config::LogLevel::info, "e", fields);
  EXPECT_LT(text.size(), kMaxLogLineBytes);
  EXPECT_THAT(text, HasSubstr(" fieldsLeftOut="));
}

class LogPipe : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_ = host::UniqueFd(ends[0]);
    write_ = host::UniqueFd(ends[1]);
  }

  [[nodiscard]] std::string rest() const {
    std::string text;
    char buffer[4096];
    for (;;) {
      const auto size = ::read(read_.get(), buffer, sizeof buffer);
      if (size <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(size));
    }
  }

  host::UniqueFd read_;
  host::UniqueFd write_;
};

TEST_F(LogPipe, what_is_told_is_the_line_of_the_same_fields) {
  {
    Log log(config::LogLevel::info, config::LogFormat::text, write_.get());
    for (const std::string& why : {std::string("two words"), std::string(300 * 1024, 'x')}) {
      const auto tell = [&](auto add) {
        add("pod", "a");
        add("why", why);
        add("end", "z");
      };
      log.tell(config::LogLevel::info, "e", tell);
      log.tell(config::LogLevel::debug, "not written", tell);
    }
  }
  write_.reset();
  const auto lines = rest();
  EXPECT_THAT(lines, HasSubstr("info e pod=a why=\"two words\" end=z\n"));
  EXPECT_THAT(lines, HasSubstr("xxx… (307200 bytes)\" end=z\n"));
  EXPECT_THAT(lines, Not(HasSubstr("not written")));
}

TEST_F(LogPipe, what_was_written_before_an_early_end_comes_out) {
  {
    Log(config::LogLevel::info, config::LogFormat::text, write_.get())
        .write(config::LogLevel::error, "cannot start");
  }
  write_.reset();
  EXPECT_THAT(rest(), EndsWith(" error cannot start\n"));
}

TEST_F(LogPipe, lines_that_nobody_reads_hold_nobody_up_and_are_counted) {
  std::string got;
  std::uint64_t dropped = 0;
  {
    Log log(config::LogLevel::info, config::LogFormat::json, write_.get());
    for (int i = 0; i < 100; ++i) {
      log.write(config::LogLevel::warn, "container", {{"why", std::string(300 * 1024, 'x')}});
    }
    for (int i = 0; i < 10000; ++i) log.write(config::LogLevel::info, "container", {{"pod", "a"}});
    dropped = log.dropped();
    EXPECT_GT(dropped, 0U);
    std::thread reader([&] { got = rest(); });
    EXPECT_TRUE(log.flush(std::chrono::seconds(10)));
    write_.reset();
    reader.join();
  }
  EXPECT_THAT(got, StartsWith("{\"time\":\""));
  const auto last = data::Json::parse(got.substr(got.rfind('\n', got.size() - 2) + 1));
  EXPECT_EQ(last["event"], "log lines dropped");
  EXPECT_EQ(last["lines"], std::to_string(dropped));
}

TEST_F(LogPipe, below_its_level_it_says_nothing) {
  {
    Log log(config::LogLevel::info, config::LogFormat::text, write_.get());
    log.set_level(config::LogLevel::warn);
    log.write(config::LogLevel::info, "unheard");
  }
  write_.reset();
  EXPECT_EQ(rest(), "");
}

}  // namespace
}  // namespace railhead::agent
