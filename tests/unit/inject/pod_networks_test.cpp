// SPDX-License-Identifier: Apache-2.0
#include "inject/pod_networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> networks(std::string_view text) {
  const auto read = parse_networks(text, "default");
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : std::vector<std::string>{};
}

std::string refusal(std::string_view text) {
  const auto read = parse_networks(text, "default");
  return read ? "" : read.error().message;
}

TEST(PodNetworks, short_form_names_namespace_and_interface_or_not) {
  EXPECT_THAT(networks("hostdevice-net"), ElementsAre("default/hostdevice-net"));
  EXPECT_THAT(networks(" rails/a@net1 , b "), ElementsAre("rails/a", "default/b"));
  EXPECT_THAT(networks("a,a"), ElementsAre("default/a", "default/a"));
  EXPECT_THAT(networks(""), IsEmpty());
}

TEST(PodNetworks, json_list_is_read_by_name_and_namespace) {
  EXPECT_THAT(networks(R"([{"name":"a","interface":"net1"},{"name":"b","namespace":"rails",
                            "cni-args":{"x":[1]}}])"),
              ElementsAre("default/a", "rails/b"));
  EXPECT_THAT(networks("[]"), IsEmpty());
}

TEST(PodNetworks, what_multus_refuses_is_malformed) {
  for (const auto* text : {"a,,b", "A", "a b", "x/y/z", "/", "-a", "[{}]", "[1]",
                           "{\"name\":\"a\"}", "[{\"name\":\"a\"}"}) {
    EXPECT_NE(refusal(text), "") << text;
  }
  EXPECT_THAT(refusal("Rail"),
              HasSubstr("\"Rail\" is not a valid name of a NetworkAttachmentDefinition"));
}

TEST(PodNetworks, size_has_a_limit) {
  EXPECT_THAT(refusal(std::string(70000, 'a')), HasSubstr("64 KiB"));
  std::string many = "a";
  for (int i = 0; i < 1024; ++i) many += ",a";
  EXPECT_THAT(refusal(many), HasSubstr("1024"));
}

TEST(PodNetworks, what_replaces_the_first_network_counts_too) {
  test::ContainerBuilder pod;
  pod.pod_annotation("k8s.v1.cni.cncf.io/networks", "a")
      .pod_annotation("v1.multus-cni.io/default-network", "rails/b")
      .pod_annotation("k8s.v1.cni.cncf.io/network-status", "[{\"name\":\"old\"}]");
  EXPECT_THAT(pod_networks(pod.request()).asked, ElementsAre("default/a", "rails/b"));
}

TEST(PodNetworks, unreadable_is_not_none) {
  test::ContainerBuilder pod;
  pod.pod_annotation("k8s.v1.cni.cncf.io/networks", "[");
  const auto read = pod_networks(pod.request());
  EXPECT_TRUE(read.unreadable);
  EXPECT_THAT(test::codes(read.remarks), ElementsAre("annotation-malformed"));
}

}  // namespace
}  // namespace railhead::inject
