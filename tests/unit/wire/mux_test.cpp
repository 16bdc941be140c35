// SPDX-License-Identifier: Apache-2.0
#include "wire/mux.h"

#include <gtest/gtest.h>

#include "hex.h"

namespace railhead::wire {
namespace {

std::string all_bytes(const FramedMessage& message) {
  return std::string(message.head()) + message.body;
}

std::string frame(std::uint32_t connection, const std::string& payload) {
  return be32(connection) + be32(static_cast<std::uint32_t>(payload.size())) + payload;
}

FramedMessage framed(std::size_t body_bytes) {
  auto message =
      frame_message(kPluginConnection, 7, MessageType::response, std::string(body_bytes, 'b'));
  EXPECT_TRUE(message);
  return std::move(message).value();
}

std::string ttrpc_header(std::uint32_t length) {
  return be32(length) + bytes({0, 0, 0, 7, 2, 0});
}

TEST(Mux, an_empty_message_is_one_frame_with_the_header_alone) {
  EXPECT_EQ(all_bytes(framed(0)), frame(1, ttrpc_header(0)));
}

TEST(Mux, a_message_of_4096_bytes_is_one_frame) {
  const FramedMessage message = framed(4086);
  EXPECT_EQ(all_bytes(message), frame(1, ttrpc_header(4086) + std::string(4086, 'b')));
  EXPECT_EQ(message.frames, 1U);
}

TEST(Mux, a_message_of_4097_bytes_is_a_header_frame_and_a_body_frame) {
  const FramedMessage message = framed(4087);
  EXPECT_EQ(all_bytes(message), frame(1, ttrpc_header(4087)) + frame(1, std::string(4087, 'b')));
  EXPECT_EQ(message.frames, 2U);
}

TEST(Mux, four_mebibytes_are_written_and_no_more) {
  EXPECT_EQ(framed(kTtrpcMaxDataBytes).size(), 26U + kTtrpcMaxDataBytes);
  const auto more =
      frame_message(1, 1, MessageType::response, std::string(kTtrpcMaxDataBytes + 1, 'b'));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::too_large);
}

TEST(Mux, slices_keep_their_connection_whatever_the_pieces) {
  const std::string trunk = frame(1, "one") + frame(2, "two") + frame(1, "") + frame(9, "nine");
  for (std::size_t piece = 1; piece <= trunk.size(); ++piece) {
    FrameReader reader;
    std::string by_connection[10];
    for (std::size_t at = 0; at < trunk.size(); at += piece) {
      std::string_view input = std::string_view(trunk).substr(at, piece);
      for (;;) {
        const auto slice = reader.next(input);
        ASSERT_TRUE(slice);
        if (!slice->has_value()) break;
        by_connection[(*slice)->connection] += (*slice)->bytes;
      }
      EXPECT_TRUE(input.empty());
    }
    EXPECT_EQ(by_connection[1], "one") << piece;
    EXPECT_EQ(by_connection[2], "two") << piece;
    EXPECT_EQ(by_connection[9], "nine") << piece;
  }
}

TEST(Mux, a_frame_of_sixteen_mebibytes_and_a_header_is_read) {
  FrameReader reader;
  const std::string header = be32(1) + be32(16U * 1024U * 1024U + 10U) + "x";
  std::string_view input = header;
  const auto slice = reader.next(input);
  ASSERT_TRUE(slice);
  EXPECT_EQ((*slice)->bytes, "x");
}

TEST(Mux, a_frame_that_claims_more_ends_the_trunk) {
  for (const std::uint32_t claimed : {16U * 1024U * 1024U + 11U, 0xFFFFFFFFU}) {
    FrameReader reader;
    const std::string header = be32(1) + be32(claimed);
    std::string_view input = header;
    const auto slice = reader.next(input);
    ASSERT_FALSE(slice);
    EXPECT_EQ(slice.error().code, ErrorCode::malformed);
  }
}

}  // namespace
}  // namespace railhead::wire
