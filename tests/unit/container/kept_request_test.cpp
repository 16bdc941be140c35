// SPDX-License-Identifier: Apache-2.0
#include "container/kept_request.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace railhead::container {
namespace {

TEST(KeptRequest, outlives_the_message_and_may_be_moved) {
  std::vector<KeptRequest> kept;
  {
    std::string text = "NVIDIA_VISIBLE_DEVICES=0";
    std::string key = "rdma.railhead.io/pod";
    Request request;
    request.name = std::string_view(text).substr(0, 6);
    request.env = {text, ""};
    request.container_namespaces = {key};
    request.pod_annotations = {{key, text}};
    request.mounts = {{key, text, "", true}};
    kept.emplace_back(request);
    // Six of the identity, two of the environment, two and three of the pairs, and a namespace.
    EXPECT_EQ(kept[0].bytes(), 6U + 24U + 20U + 44U + 44U + 14 * sizeof(std::string_view));
    text.assign(text.size(), 'x');
    key.assign(key.size(), 'x');
  }
  for (int i = 0; i < 8; ++i) kept.emplace_back(Request{});
  const auto& request = kept[0].request();
  EXPECT_EQ(request.name, "NVIDIA");
  EXPECT_EQ(request.env[0], "NVIDIA_VISIBLE_DEVICES=0");
  EXPECT_EQ(request.container_namespaces[0], "rdma.railhead.io/pod");
  EXPECT_EQ(request.pod_annotations[0].first, "rdma.railhead.io/pod");
  EXPECT_TRUE(request.mounts[0].read_write);
}

TEST(KeptRequest, many_short_texts_are_not_small) {
  Request request;
  request.env.assign(240'000, "A=");
  EXPECT_GE(KeptRequest(request).bytes(), 240'000 * (2 + sizeof(std::string_view)));
}

}  // namespace
}  // namespace railhead::container
