// SPDX-License-Identifier: Apache-2.0
#include "nri/synchronize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording_handler.h"
#include "runtime_bytes.h"

namespace railhead::nri {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SynchronizeTest : public ::testing::Test {
 protected:
  /// A chunk in one piece, and the last one's end.
  Result<bool> add(const std::string& payload) {
    state_.take(payload);
    const auto more = state_.end_chunk();
    if (more && !*more) state_.finish();
    return more;
  }

  RecordingHandler handler_;
  Synchronize state_{handler_};
};

const std::string kMore = peer::number(3, 1);
const std::string kBad("\x0a\x09x", 3);

std::string one_of_everything() {
  return peer::text(8, "") + peer::text(8, "NVIDIA_VISIBLE_DEVICES=void") +
         peer::entry(6, "allocation.railhead.io/rdma.io/hca", "0000:18:00.0") +
         peer::text(9, peer::text(1, "/data") + peer::text(2, "bind") + peer::text(3, "/srv") +
                           peer::text(4, "rbind") + peer::text(4, "rw")) +
         peer::text(9, "") +
         peer::text(11, peer::text(1, peer::text(1, "ipc")) + peer::text(2, "") +
                            peer::text(2, peer::text(1, "/dev/nvidia0") + peer::text(2, "c") +
                                              peer::number(3, 195))) +
         peer::text(13, peer::text(1, "RLIMIT_MEMLOCK") + peer::number(2, 65536)) +
         peer::text(20, peer::text(1, "nvidia.com/gpu=0"));
}

TEST_F(SynchronizeTest, hands_on_each_container_with_its_pod_then_the_counts) {
  const auto more =
      add(peer::text(1, peer::pod("p2", "two")) + peer::text(1, peer::pod("p1", "one")) +
          peer::text(2, peer::container("a", "p1")) + peer::text(2, peer::container("b", "p2")));
  ASSERT_TRUE(more);
  EXPECT_FALSE(*more);
  EXPECT_EQ(handler_.log, "existing one/a;existing two/b;synchronized 2+2;");
}

TEST_F(SynchronizeTest, an_empty_node_is_synchronized_too) {
  ASSERT_TRUE(add(""));
  EXPECT_EQ(handler_.log, "synchronized 0+0;");
}

TEST_F(SynchronizeTest, a_container_of_a_known_pod_is_handed_on_at_once) {
  state_.take(peer::text(1, peer::pod("p1", "one")) + peer::text(2, peer::container("a", "p1")));
  EXPECT_EQ(handler_.log, "existing one/a;");
}

TEST_F(SynchronizeTest, a_container_may_come_chunks_before_its_pod) {
  EXPECT_TRUE(add(peer::text(2, peer::container("a", "p1")) + kMore).value());
  EXPECT_TRUE(add(peer::text(1, peer::pod("p2", "two")) + kMore).value());
  EXPECT_EQ(handler_.log, "");
  state_.take(peer::text(1, peer::pod("p1", "one")));
  EXPECT_EQ(handler_.log, "existing one/a;");
  EXPECT_FALSE(add("").value());
  EXPECT_EQ(handler_.log, "existing one/a;synchronized 2+1;");
}

TEST_F(SynchronizeTest, what_waits_for_its_pod_loses_nothing) {
  const std::string pod = peer::text(1, peer::pod("p1", "one"));
  const std::string container = peer::text(2, peer::container("a", "p1", one_of_everything()));
  ASSERT_TRUE(add(pod + container));
  ASSERT_TRUE(add(container + pod));
  ASSERT_EQ(handler_.seen.size(), 2U);
  EXPECT_EQ(handler_.seen[0], handler_.seen[1]);
  EXPECT_THAT(handler_.seen[0], HasSubstr("rdma.railhead.io/pod=required"));
}

TEST_F(SynchronizeTest, a_container_without_its_pod_is_still_handed_on) {
  ASSERT_TRUE(
      add(peer::text(2, peer::container("a", "gone")) + peer::text(2, peer::container("b", ""))));
  EXPECT_EQ(handler_.log, "existing /b;existing /a;synchronized 0+2;");
}

TEST_F(SynchronizeTest, of_pods_with_equal_ids_the_first_counts) {
  ASSERT_TRUE(add(peer::text(2, peer::container("a", "p1")) +
                  peer::text(1, peer::pod("p1", "one")) + peer::text(1, peer::pod("p1", "two")) +
                  peer::text(2, peer::container("b", "p1"))));
  EXPECT_EQ(handler_.log, "existing one/a;existing one/b;synchronized 2+2;");
}

TEST_F(SynchronizeTest, borders_of_pieces_may_be_anywhere) {
  const std::string chunk =
      peer::text(2, peer::container("a", "p1", one_of_everything())) + peer::text(99, "future") +
      std::string(
          "\xf9\x01"
          "8 bytes.",
          10) +
      std::string(
          "\xfd\x01"
          "four",
          6) +
      peer::text(1, "") + peer::text(1, peer::pod("p1", std::string(200, 'n'))) +
      peer::text(2, peer::container("b", "p1")) + kMore;
  ASSERT_TRUE(add(chunk + peer::number(3, 0)));
  const auto expected = handler_.seen;
  ASSERT_EQ(expected.size(), 2U);
  for (std::size_t border = 0; border <= chunk.size(); ++border) {
    handler_.seen.clear();
    state_.take(std::string_view(chunk).substr(0, border));
    state_.take(std::string_view(chunk).substr(border));
    const auto more = state_.end_chunk();
    ASSERT_TRUE(more) << border;
    EXPECT_TRUE(*more);
    EXPECT_EQ(handler_.seen, expected) << border;
    state_.clear();
  }
  handler_.seen.clear();
  for (const char byte : chunk) state_.take({&byte, 1});
  ASSERT_TRUE(state_.end_chunk());
  EXPECT_EQ(handler_.seen, expected);
}

TEST_F(SynchronizeTest, a_malformed_chunk_is_not_kept) {
  for (const std::string& payload :
       {kBad, peer::text(1, kBad), peer::text(2, peer::text(6, kBad)), std::string("\x0b"),
        std::string(11, '\x80'), std::string("\x18"),
        std::string("\x0d"
                    "abc"),
        peer::text(2, peer::container("a", "p1")) + peer::text(2, peer::text(9, kBad))}) {
    handler_.log.clear();
    const auto more = add(payload);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::malformed);
    EXPECT_EQ(state_.kept_bytes(), 0U);
    ASSERT_TRUE(add(""));
    EXPECT_EQ(handler_.log, "synchronized 0+0;");
  }
}

TEST_F(SynchronizeTest, malformed_in_the_middle_ends_it_there) {
  const std::string good =
      peer::text(1, peer::pod("p1", "one")) + peer::text(2, peer::container("a", "p1"));
  EXPECT_FALSE(add(good + peer::text(1, kBad) + peer::text(2, peer::container("b", "p1"))));
  EXPECT_EQ(handler_.log, "existing one/a;");
  ASSERT_TRUE(add(good));
  EXPECT_EQ(handler_.log, "existing one/a;existing one/a;synchronized 1+1;");
}

TEST_F(SynchronizeTest, a_large_state_that_nobody_reads_is_no_trouble) {
  const std::string chunk = peer::text(1, peer::text(99, std::string(8U << 20U, 'x'))) + kMore;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(add(chunk)) << i;
  ASSERT_TRUE(add(""));
  EXPECT_EQ(handler_.log, "synchronized 20+0;");
}

TEST_F(SynchronizeTest, of_containers_without_their_pod_16_mebibytes_are_kept) {
  const std::string variable = peer::text(8, std::string(1U << 20U, 'x'));
  for (int i = 0; i < 17; ++i) {
    const auto waiting = peer::container("c" + std::to_string(i), "later", variable);
    ASSERT_TRUE(add(peer::text(2, waiting) + kMore)) << i;
  }
  EXPECT_LE(state_.kept_bytes(), kSynchronizeMaxKeptBytes);
  handler_.seen.clear();
  ASSERT_TRUE(add(peer::text(1, peer::pod("later", "late"))));
  EXPECT_EQ(handler_.seen.size(), 15U);
  EXPECT_THAT(handler_.log, HasSubstr("synchronized 1+17-2;"));
  EXPECT_EQ(state_.kept_bytes(), 0U);
}

TEST_F(SynchronizeTest, containers_of_a_pod_that_does_not_fit_are_passed_over) {
  const auto annotation = peer::entry(6, "nics.railhead.io/pod", std::string(250'000, 'x'));
  for (int i = 0; i < 80; ++i) {
    const auto id = "p" + std::to_string(i);
    ASSERT_TRUE(add(peer::text(1, peer::pod(id, id) + annotation) +
                    peer::text(2, peer::container("c" + id, id)) + kMore));
  }
  EXPECT_LE(state_.kept_bytes(), kSynchronizeMaxKeptBytes);
  ASSERT_TRUE(add(""));
  const auto judged = handler_.seen.size();
  EXPECT_GT(judged, 60U);
  EXPECT_LT(judged, 80U);
  EXPECT_THAT(handler_.log, Not(HasSubstr("existing /"))) << "not as though it had no pod";
  EXPECT_THAT(handler_.log, HasSubstr("synchronized 80+80-" + std::to_string(80 - judged) + ";"));
}

TEST_F(SynchronizeTest, a_million_pods_without_an_id_cost_nothing) {
  std::string pods;
  for (int i = 0; i < 1'000'000; ++i) pods += std::string("\x0a\x00", 2);
  state_.take(pods);
  EXPECT_EQ(state_.kept_bytes(), 0U);
  ASSERT_TRUE(state_.end_chunk());
  state_.finish();
  EXPECT_EQ(handler_.log, "synchronized 1000000+0;");
}

TEST_F(SynchronizeTest, a_pod_is_kept_without_what_nobody_reads) {
  const std::string filler(100'000, 'x');
  state_.take(peer::text(1, peer::pod("p1", "one") + peer::entry(5, "label", filler) +
                                peer::entry(6, "unread/key", filler) + peer::text(99, filler)));
  EXPECT_LT(state_.kept_bytes(), 400U);
  state_.take(peer::text(2, peer::container("a", "p1")));
  ASSERT_EQ(handler_.seen.size(), 1U);
  EXPECT_THAT(handler_.seen[0], HasSubstr("rdma.railhead.io/pod=required"));
  EXPECT_THAT(handler_.seen[0], Not(HasSubstr("unread")));
}

TEST_F(SynchronizeTest, what_waited_is_not_kept_when_its_pod_has_come) {
  state_.take(peer::text(2, peer::container("a", "p1", peer::text(8, std::string(5000, 'x')))));
  EXPECT_GT(state_.kept_bytes(), 5000U);
  state_.take(peer::text(1, peer::pod("p1", "one")));
  EXPECT_LT(state_.kept_bytes(), 400U);
}

TEST_F(SynchronizeTest, a_handler_may_give_up_in_the_middle) {
  handler_.on_existing = [this] { state_.clear(); };
  const std::string pod = peer::text(1, peer::pod("p", "one"));
  const std::string two =
      peer::text(2, peer::container("a", "p")) + peer::text(2, peer::container("b", "p"));
  state_.take(pod + two);
  EXPECT_EQ(handler_.log, "existing one/a;");
  for (const std::string& late : {two + pod, two}) {
    state_.clear();
    handler_.log.clear();
    ASSERT_TRUE(add(late));
    EXPECT_THAT(handler_.log, HasSubstr("/a;"));
    EXPECT_THAT(handler_.log, Not(HasSubstr("b")));
    EXPECT_THAT(handler_.log, Not(HasSubstr("synchronized")));
  }
}

TEST_F(SynchronizeTest, starts_from_nothing_each_time) {
  for (int i = 0; i < 2; ++i) {
    handler_.log.clear();
    ASSERT_TRUE(add(peer::text(2, peer::container("a", "p"))));
    EXPECT_EQ(handler_.log, "existing /a;synchronized 0+1;");
  }
}

}  // namespace
}  // namespace railhead::nri
