// SPDX-License-Identifier: Apache-2.0
#include "kube/taint.h"

#include <gtest/gtest.h>

namespace railhead::test {
namespace {

std::string removal(const std::string& node) {
  const auto operations = kube::taint_removal(data::parse_json(node).value(), "r.io/not-ready");
  return operations ? operations->dump() : "absent";
}

TEST(TaintRemoval, tests_for_the_taint_in_its_place) {
  EXPECT_EQ(removal(R"({"spec":{"taints":[{"key":"a"},{"key":"r.io/not-ready","value":"x",
                        "effect":"NoSchedule"},{"key":"b"}]}})"),
            R"([{"op":"test","path":"/spec/taints/1/key","value":"r.io/not-ready"},)"
            R"({"op":"remove","path":"/spec/taints/1"}])");
}

TEST(TaintRemoval, takes_every_effect_from_the_end) {
  EXPECT_EQ(removal(R"({"spec":{"taints":[{"key":"r.io/not-ready","effect":"NoSchedule"},
                        {"key":"r.io/not-ready","effect":"NoExecute"}]}})"),
            R"([{"op":"test","path":"/spec/taints/1/key","value":"r.io/not-ready"},)"
            R"({"op":"remove","path":"/spec/taints/1"},)"
            R"({"op":"test","path":"/spec/taints/0/key","value":"r.io/not-ready"},)"
            R"({"op":"remove","path":"/spec/taints/0"}])");
}

TEST(TaintRemoval, is_absent_where_there_is_none) {
  for (const auto* node :
       {"{}", R"({"spec":{}})", R"({"spec":[1]})", R"({"spec":{"taints":null}})",
        R"({"spec":{"taints":"x"}})", R"({"spec":{"taints":[1,null,{"effect":"NoSchedule"}]}})",
        R"({"spec":{"taints":[{"key":"r.io/not-ready-yet"},{"key":["r.io/not-ready"]}]}})"}) {
    EXPECT_EQ(removal(node), "absent") << node;
  }
}

}  // namespace
}  // namespace railhead::test
