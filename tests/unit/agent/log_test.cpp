// SPDX-License-Identifier: Apache-2.0
#include "agent/log.h"

#include <gtest/gtest.h>

namespace railhead {
namespace {

TEST(Log, text_quotes_only_what_needs_it) {
  EXPECT_EQ(format_event(LogFormat::text, "container",
                         {{"pod", "default/a"}, {"why", "two words"}, {"x", ""}}),
            "container pod=default/a why=\"two words\" x=\"\"");
}

TEST(Log, hostile_values_cannot_forge_a_line) {
  EXPECT_EQ(format_event(LogFormat::text, "container", {{"pod", "a\n2026 error x"}}),
            "container pod=\"a\\n2026 error x\"");
  EXPECT_EQ(format_event(LogFormat::json, "container", {{"pod", "a\n\"}"}}),
            R"("event":"container","pod":"a\n\"}"})");
}

}  // namespace
}  // namespace railhead
