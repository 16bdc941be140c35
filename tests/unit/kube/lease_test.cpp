// SPDX-License-Identifier: Apache-2.0
#include "kube/lease.h"

#include <gmock/gmock.h>

#include "data/json.h"

namespace railhead::kube {
namespace {

const LeaseName kName{"kube-system", "railhead-setup-0"};
constexpr const char* kTarget =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/railhead-setup-0";

Result<Lease> lease(const std::string& text) {
  return lease_in(data::parse_json(text).value());
}

TEST(Lease, is_read_by_its_name) {
  const auto request = get_lease(kName);
  EXPECT_EQ(request.verb, Verb::get);
  EXPECT_EQ(request.target, kTarget);
}

TEST(Lease, is_taken_as_it_was_seen) {
  const auto request =
      take_lease(kName, {"41"}, "gpu-a",
                 std::chrono::system_clock::time_point(std::chrono::seconds(1764336000)));
  EXPECT_EQ(request.verb, Verb::patch);
  EXPECT_EQ(request.target, kTarget);
  EXPECT_EQ(request.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(data::Json::parse(request.body),
            (data::Json{{"metadata", {{"resourceVersion", "41"}}},
                        {"spec",
                         {{"holderIdentity", "gpu-a"},
                          {"acquireTime", "2025-11-28T13:20:00.000000Z"},
                          {"renewTime", "2025-11-28T13:20:00.000000Z"}}}}));
}

TEST(Lease, is_freed_as_it_was_seen) {
  const auto request = free_lease(kName, {"42", "gpu-a"});
  EXPECT_EQ(request.verb, Verb::patch);
  EXPECT_EQ(data::Json::parse(request.body),
            (data::Json{{"metadata", {{"resourceVersion", "42"}}},
                        {"spec", {{"holderIdentity", nullptr}, {"acquireTime", nullptr}}}}));
}

TEST(Lease, that_nobody_holds_has_no_holder) {
  for (const auto* spec : {"", R"(,"spec":{})", R"(,"spec":{"holderIdentity":null})",
                           R"(,"spec":{"holderIdentity":""})"}) {
    const auto free =
        lease(R"({"kind":"Lease","metadata":{"resourceVersion":"7"})" + std::string(spec) + "}");
    ASSERT_TRUE(free) << spec;
    EXPECT_EQ(free->holder, "");
    EXPECT_EQ(free->version, "7");
  }
}

TEST(Lease, has_its_holder_and_since_when) {
  const auto held = lease(R"({"kind":"Lease","metadata":{"resourceVersion":"7"},
      "spec":{"holderIdentity":"gpu-a","acquireTime":"2026-11-28T12:00:00.000000Z"}})");
  ASSERT_TRUE(held);
  EXPECT_EQ(held->holder, "gpu-a");
  EXPECT_EQ(held->since, "2026-11-28T12:00:00.000000Z");
}

TEST(Lease, that_is_malformed_is_never_a_free_one) {
  for (const auto* text :
       {"{}", R"({"kind":"Lease"})", R"({"kind":"Lease","metadata":{"resourceVersion":[]}})",
        R"({"kind":"Pod","metadata":{"resourceVersion":"7"}})",
        R"({"kind":"Lease","metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":["a"]}})",
        R"({"kind":"Lease","metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":{}}})",
        R"({"kind":"Lease","metadata":{"resourceVersion":"7"},"spec":[]})",
        R"({"kind":"Lease","metadata":{"resourceVersion":"7"},"spec":"x"})"}) {
    const auto wrong = lease(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_EQ(wrong.error().code, ErrorCode::malformed) << text;
  }
}

}  // namespace
}  // namespace railhead::kube
