// SPDX-License-Identifier: Apache-2.0
#include "metrics/bearer.h"

#include <gtest/gtest.h>

namespace railhead::metrics {
namespace {

TEST(Bearer, the_token_alone_is_accepted) {
  EXPECT_TRUE(is_bearer("Bearer secret", "secret"));
  EXPECT_TRUE(is_bearer("bearer  secret ", "secret"));
  for (const char* wrong : {"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets",
                            "Bearer secretsecret", "Bearer SECRET", "Basic secret"}) {
    EXPECT_FALSE(is_bearer(wrong, "secret")) << wrong;
  }
}

TEST(Bearer, an_empty_token_opens_nothing) {
  EXPECT_FALSE(is_bearer("Bearer ", ""));
  EXPECT_FALSE(is_bearer("", ""));
}

TEST(Bearer, pods_are_shown_on_the_socket_and_for_the_token_only) {
  EXPECT_TRUE(may_read_pods({"/pods", "", true}, ""));
  EXPECT_TRUE(may_read_pods({"/pods", "Bearer secret", false}, "secret"));
  EXPECT_FALSE(may_read_pods({"/pods", "", false}, "secret"));
  EXPECT_FALSE(may_read_pods({"/pods", "Bearer ", false}, ""));
}

}  // namespace
}  // namespace railhead::metrics
