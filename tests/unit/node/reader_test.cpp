// SPDX-License-Identifier: Apache-2.0
#include "node/reader.h"

#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using Kind = Problem::Kind;

/// A Reader over snapshot entries.
struct Fixture {
  explicit Fixture(const std::string& entries)
      : host(test::host_of(entries)),
        reader(*host) {}

  std::vector<Problem> problems() { return reader.take_problems(); }

  std::unique_ptr<host::Host> host;
  Reader reader;
};

TEST(Reader, an_absent_attribute_is_nothing_and_no_problem) {
  Fixture f("t /a 1\n");
  EXPECT_EQ(f.reader.text("/b"), std::nullopt);
  EXPECT_EQ(f.reader.number("/b", 9), std::nullopt);
  EXPECT_EQ(f.reader.link("/b"), std::nullopt);
  EXPECT_EQ(f.reader.list("/b"), std::nullopt);
  EXPECT_EQ(f.reader.device("/b"), std::nullopt);
  EXPECT_TRUE(f.problems().empty());
}

TEST(Reader, an_unreadable_attribute_is_nothing_and_a_problem) {
  Fixture f("e /a EACCES\n");
  EXPECT_EQ(f.reader.text("/a"), std::nullopt);
  const auto problems = f.problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].kind, Kind::unreadable);
  EXPECT_EQ(problems[0].path, "/a");
}

TEST(Reader, a_slot_whose_driver_answers_einval_is_empty) {
  Fixture f("e /a EINVAL\ne /b EACCES\n");
  EXPECT_EQ(f.reader.text_if_any("/a"), std::nullopt);
  EXPECT_TRUE(f.problems().empty());
  Fixture denied("e /b EACCES\n");
  EXPECT_EQ(denied.reader.text_if_any("/b"), std::nullopt);
  EXPECT_EQ(denied.problems().size(), 1U);
}

TEST(Reader, text_is_trimmed_and_empty_text_is_nothing) {
  Fixture f(test::file_entry("/a", "  two words \n") + "t /b\n" + test::file_entry("/c", ""));
  EXPECT_EQ(f.reader.text("/a"), "two words");
  EXPECT_EQ(f.reader.text("/b"), std::nullopt);
  EXPECT_EQ(f.reader.text("/c"), std::nullopt);
  EXPECT_TRUE(f.problems().empty());
}

TEST(Reader, nul_bytes_second_lines_bad_utf8_and_megabytes_are_malformed) {
  const std::vector<std::string> contents = {std::string("a\0b", 3),
                                             "one\ntwo",
                                             "\x1b[31mred",
                                             "\xff\xfe",
                                             "\xc0\xaf",
                                             "\xc2\x9b"
                                             "31m",
                                             "\xed\xa0\x80",
                                             std::string(1U << 20U, 'x')};
  for (const auto& content : contents) {
    Fixture f(test::file_entry("/a", content));
    EXPECT_EQ(f.reader.text("/a"), std::nullopt);
    const auto problems = f.problems();
    ASSERT_EQ(problems.size(), 1U) << content.substr(0, 10);
    EXPECT_EQ(problems[0].kind, Kind::malformed);
    EXPECT_LT(problems[0].what.size(), 400U);
  }
}

TEST(Reader, utf8_is_text) {
  Fixture f(test::file_entry("/a", "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x9a\x82\n"));
  EXPECT_EQ(f.reader.text("/a"), "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x9a\x82");
}

TEST(Reader, numbers_have_a_range) {
  Fixture f("t /a 0x1f\nt /b 32\nt /c -1\nt /d many\n");
  EXPECT_EQ(f.reader.number("/a", 31), 31U);
  EXPECT_EQ(f.reader.number("/b", 31), std::nullopt);
  EXPECT_EQ(f.reader.number("/c", 31), std::nullopt);
  EXPECT_EQ(f.reader.number("/d", 31), std::nullopt);
  EXPECT_EQ(f.problems().size(), 3U);
}

TEST(Reader, minus_one_is_none_and_other_negative_numbers_are_malformed) {
  Fixture f("t /a -1\nt /b -2\nt /c 3\nt /d 99999999\n");
  EXPECT_EQ(f.reader.number_or_minus_one("/a", 9), std::nullopt);
  EXPECT_TRUE(f.problems().empty());
  EXPECT_EQ(f.reader.number_or_minus_one("/b", 9), std::nullopt);
  EXPECT_EQ(f.reader.number_or_minus_one("/c", 9), 3);
  EXPECT_EQ(f.reader.number_or_minus_one("/d", 9), std::nullopt);
}

TEST(Reader, a_loop_of_links_is_a_problem_not_a_hang) {
  Fixture f("l /a -> b\nl /b -> a\n");
  EXPECT_EQ(f.reader.text("/a"), std::nullopt);
  EXPECT_EQ(f.problems().size(), 1U);
}

TEST(Reader, names_that_are_not_text_are_left_out) {
  Fixture f("t /d/good 1\nt /d/bad%0Aname 1\n");
  EXPECT_EQ(f.reader.names("/d"), std::vector<std::string>{"good"});
  EXPECT_EQ(f.problems().size(), 1U);
}

TEST(Reader, complaints_are_limited) {
  Fixture f("");
  for (int i = 0; i < 1000; ++i) f.reader.malformed("/a", "broken");
  const auto problems = f.problems();
  ASSERT_EQ(problems.size(), Reader::kMaxProblems + 1);
  EXPECT_NE(problems.back().what.find("more than 256"), std::string::npos);
}

TEST(Reader, numbered_names_have_both_parts) {
  EXPECT_EQ(parse_numbered_name("4: ACTIVE"), std::pair(std::uint64_t{4}, std::string("ACTIVE")));
  for (const auto* text : {"", "4", "4:", ": ACTIVE", "four: ACTIVE", "-4: ACTIVE"}) {
    EXPECT_EQ(parse_numbered_name(text), std::nullopt) << text;
  }
}

TEST(Reader, trailing_numbers_follow_their_prefix_directly) {
  EXPECT_EQ(trailing_number("uverbs12", "uverbs"), 12U);
  for (const auto* name : {"uverbs", "uverbs1x", "umad1", "uverbs-1", "uverbs99999999999"}) {
    EXPECT_EQ(trailing_number(name, "uverbs"), std::nullopt) << name;
  }
}

TEST(Reader, guids_are_groups_of_four_digits) {
  EXPECT_TRUE(is_hex_groups("a088:c203:00e1:1234", 4));
  for (const auto* text : {"", "a088c20300e11234", "a088:c203:00e1:123", "a088:c203:00e1:12345",
                           "a088:c203:00e1:123g", "a088-c203-00e1-1234"}) {
    EXPECT_FALSE(is_hex_groups(text, 4)) << text;
  }
}

}  // namespace
}  // namespace railhead::node
