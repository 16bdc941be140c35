// SPDX-License-Identifier: Apache-2.0
#include "kube/event.h"

#include <gmock/gmock.h>

namespace railhead::kube {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::MatchesRegex;

/// As the API server checks it (DNS-1123 subdomain).
constexpr const char* kSubdomain =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

const EventObject kJobPod{"Pod", "train", "job-0", "1b4e28ba"};
const EventObject kGpuNode{"Node", "", "gpu-a", "gpu-a"};

Event event(const EventObject& about) {
  const std::chrono::system_clock::time_point when(1700000000s);
  return {about, "RdmaRequiredNotMet", "container main: no usable NIC", 3, when, when + 60s};
}

std::string at(const data::Value& json, std::initializer_list<const char*> path) {
  const data::Value* value = &json;
  for (const auto* key : path) {
    if (value != nullptr) value = value->find(key);
  }
  return value == nullptr ? "absent" : value->scalar;
}

TEST(Event, of_a_pod_is_made_in_its_namespace) {
  const auto request = create_event(event(kJobPod), "job-0.17", "gpu-a");
  EXPECT_EQ(request.verb, Verb::post);
  EXPECT_EQ(request.target, "/api/v1/namespaces/train/events");
  const auto json = data::parse_json(request.body).value();
  EXPECT_EQ(at(json, {"metadata", "name"}), "job-0.17");
  EXPECT_EQ(at(json, {"metadata", "namespace"}), "train");
  EXPECT_EQ(at(json, {"involvedObject", "kind"}), "Pod");
  EXPECT_EQ(at(json, {"involvedObject", "uid"}), "1b4e28ba");
  EXPECT_EQ(at(json, {"type"}), "Warning");
  EXPECT_EQ(at(json, {"count"}), "3");
  EXPECT_EQ(at(json, {"firstTimestamp"}), "2023-11-14T22:13:20Z");
  EXPECT_EQ(at(json, {"lastTimestamp"}), "2023-11-14T22:14:20Z");
  EXPECT_EQ(at(json, {"source", "host"}), "gpu-a");
}

TEST(Event, of_a_node_is_in_default_as_that_of_the_kubelet) {
  const auto request = create_event(event(kGpuNode), "gpu-a.17", "gpu-a");
  EXPECT_EQ(request.target, "/api/v1/namespaces/default/events");
  const auto json = data::parse_json(request.body).value();
  EXPECT_EQ(at(json, {"involvedObject", "namespace"}), "absent");
  EXPECT_EQ(at(json, {"metadata", "namespace"}), "default");
}

TEST(Event, again_is_a_patch_of_count_time_and_message) {
  const auto request = repeat_event(event(kJobPod), "job-0.17");
  EXPECT_EQ(request.verb, Verb::patch);
  EXPECT_EQ(request.target, "/api/v1/namespaces/train/events/job-0.17");
  EXPECT_EQ(request.content_type, "application/strategic-merge-patch+json");
  const auto json = data::parse_json(request.body).value();
  EXPECT_EQ(json.entries.size(), 3U);
  EXPECT_EQ(at(json, {"count"}), "3");
}

TEST(Event, a_name_is_one_of_kubernetes_whatever_the_pod_is_called) {
  EXPECT_EQ(event_name(kJobPod, 0x17F3), "job-0.00000000000017f3");
  std::string longest;
  while (longest.size() < 253) longest += "abcdefghi.-"[longest.size() % 9];
  for (std::size_t size = 230; size <= longest.size(); ++size) {
    auto pod = kJobPod;
    pod.name = longest.substr(0, size);
    pod.name[size > 235 ? 235 : 0] = size % 2 == 0 ? 'x' : 'y';
    const auto name = event_name(pod, ~std::uint64_t{0});
    EXPECT_LE(name.size(), 253U);
    EXPECT_THAT(name, MatchesRegex(kSubdomain));
  }
  auto dashes = kJobPod;
  dashes.name = "a" + std::string(240, '-') + "b";
  EXPECT_EQ(event_name(dashes, 1), "a.0000000000000001");
}

TEST(Event, a_long_message_is_cut_between_characters) {
  for (std::size_t before = 0; before < 4; ++before) {
    auto one = event(kJobPod);
    one.message = std::string(before, 'a');
    for (int i = 0; i < 600; ++i) one.message += "é";
    const auto json = data::parse_json(repeat_event(one, "n").body);
    ASSERT_TRUE(json);
    const auto message = at(*json, {"message"});
    EXPECT_LE(message.size(), 1024U);
    EXPECT_GE(message.size(), 1020U);
    EXPECT_THAT(message, EndsWith("é…"));
  }
}

}  // namespace
}  // namespace railhead::kube
