// SPDX-License-Identifier: Apache-2.0
#include "nri/synchronize.h"

#include <gtest/gtest.h>

#include "recording_handler.h"
#include "runtime_bytes.h"

namespace railhead::nri {
namespace {

Result<bool> add(Synchronize& state, const std::string& payload) {
  wire::Bytes body(payload.begin(), payload.end());
  return state.add(body, wire::view_of(body));
}

TEST(Synchronize, hands_on_each_container_with_its_pod_then_the_counts) {
  Synchronize state;
  RecordingHandler handler;
  const auto more =
      add(state, peer::text(1, peer::pod("p2", "two")) + peer::text(1, peer::pod("p1", "one")) +
                     peer::text(2, peer::container("a", "p1")) +
                     peer::text(2, peer::container("b", "p2")));
  ASSERT_TRUE(more);
  EXPECT_FALSE(*more);
  state.deliver(handler);
  EXPECT_EQ(handler.log, "existing one/a;existing two/b;synchronized 2+2;");
}

TEST(Synchronize, an_empty_node_is_synchronized_too) {
  Synchronize state;
  RecordingHandler handler;
  ASSERT_TRUE(add(state, ""));
  state.deliver(handler);
  EXPECT_EQ(handler.log, "synchronized 0+0;");
}

TEST(Synchronize, a_container_may_come_chunks_before_its_pod) {
  Synchronize state;
  RecordingHandler handler;
  EXPECT_TRUE(add(state, peer::text(2, peer::container("a", "p1")) + peer::number(3, 1)).value());
  EXPECT_TRUE(add(state, peer::text(1, peer::pod("p2", "two")) + peer::number(3, 1)).value());
  EXPECT_EQ(handler.log, "");
  EXPECT_FALSE(add(state, peer::text(1, peer::pod("p1", "one"))).value());
  state.deliver(handler);
  EXPECT_EQ(handler.log, "existing one/a;synchronized 2+1;");
}

TEST(Synchronize, a_container_without_its_pod_is_still_told) {
  Synchronize state;
  RecordingHandler handler;
  ASSERT_TRUE(add(state, peer::text(2, peer::container("a", "gone"))));
  state.deliver(handler);
  EXPECT_EQ(handler.log, "existing /a;synchronized 0+1;");
}

TEST(Synchronize, a_malformed_chunk_is_not_kept) {
  const std::string bad("\x0a\x09x", 3);
  for (const std::string& payload :
       {bad, peer::text(1, bad), peer::text(2, peer::text(6, bad)),
        peer::text(2, peer::container("a", "p1")) + peer::text(2, peer::text(9, bad))}) {
    Synchronize state;
    RecordingHandler handler;
    const auto more = add(state, payload);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::malformed);
    state.deliver(handler);
    EXPECT_EQ(handler.log, "synchronized 0+0;");
  }
}

TEST(Synchronize, keeps_64_mebibytes_and_no_more) {
  Synchronize state;
  const std::string chunk =
      peer::text(1, peer::text(99, std::string(8U << 20U, 'x'))) + peer::number(3, 1);
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(add(state, chunk)) << i;
  const auto more = add(state, chunk);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::too_large);
}

TEST(Synchronize, a_handler_may_give_up_in_the_middle) {
  Synchronize state;
  RecordingHandler handler;
  handler.on_existing = [&state] { state.clear(); };
  ASSERT_TRUE(add(
      state, peer::text(2, peer::container("a", "p")) + peer::text(2, peer::container("b", "p"))));
  state.deliver(handler);
  EXPECT_EQ(handler.log, "existing /a;");
}

TEST(Synchronize, starts_from_nothing_each_time) {
  Synchronize state;
  RecordingHandler handler;
  for (int i = 0; i < 2; ++i) {
    handler.log.clear();
    ASSERT_TRUE(add(state, peer::text(2, peer::container("a", "p"))));
    state.deliver(handler);
    EXPECT_EQ(handler.log, "existing /a;synchronized 0+1;");
  }
}

}  // namespace
}  // namespace railhead::nri
