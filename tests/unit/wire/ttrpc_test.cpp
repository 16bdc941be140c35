// SPDX-License-Identifier: Apache-2.0
#include "wire/ttrpc.h"

#include <gtest/gtest.h>

#include "hex.h"

namespace railhead::wire {
namespace {

std::string message_bytes(std::uint32_t stream, unsigned type, const std::string& data) {
  return be32(static_cast<std::uint32_t>(data.size())) + be32(stream) + bytes({type, 0}) + data;
}

TEST(Ttrpc, a_header_is_length_stream_type_flags) {
  const std::string golden = bytes({0, 0, 1, 2, 0, 0, 0, 3, 1, 2});
  std::array<char, kTtrpcHeaderBytes> header{};
  std::copy(golden.begin(), golden.end(), header.begin());
  const MessageHeader expected{258, 3, MessageType::request, 2};
  EXPECT_EQ(decode_header(header), expected);
  EXPECT_EQ(encode_header(expected), header);
}

TEST(Ttrpc, messages_come_out_whole_whatever_the_pieces) {
  const std::string stream =
      message_bytes(1, 1, "first") + message_bytes(3, 2, "") + message_bytes(5, 1, "third one");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    MessageReader reader;
    std::string seen;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      std::string_view input = std::string_view(stream).substr(at, piece);
      while (reader.feed(input)) {
        seen += std::to_string(reader.message().header.stream) + ":" +
                std::string(view_of(reader.message().body)) + ";";
      }
      EXPECT_TRUE(input.empty());
    }
    EXPECT_EQ(seen, "1:first;3:;5:third one;") << piece;
  }
}

TEST(Ttrpc, the_limit_is_inclusive) {
  MessageReader reader(5);
  const std::string stream = message_bytes(1, 1, "12345");
  std::string_view input = stream;
  ASSERT_TRUE(reader.feed(input));
  EXPECT_FALSE(reader.message().oversized);
  EXPECT_EQ(view_of(reader.message().body), "12345");
}

TEST(Ttrpc, an_oversized_message_is_reported_at_once_and_dropped) {
  MessageReader reader(5);
  const std::string stream = message_bytes(1, 1, "123456") + message_bytes(3, 1, "ok");
  std::string_view input = std::string_view(stream).substr(0, kTtrpcHeaderBytes);
  ASSERT_TRUE(reader.feed(input));
  EXPECT_TRUE(reader.message().oversized);
  EXPECT_EQ(reader.message().header.stream, 1U);
  input = std::string_view(stream).substr(kTtrpcHeaderBytes);
  ASSERT_TRUE(reader.feed(input));
  EXPECT_FALSE(reader.message().oversized);
  EXPECT_EQ(view_of(reader.message().body), "ok");
}

TEST(Ttrpc, a_claim_of_four_gigabytes_takes_no_memory) {
  MessageReader reader;
  const std::string stream = bytes({255, 255, 255, 255, 0, 0, 0, 1, 1, 0}) + std::string(1000, 'x');
  std::string_view input = stream;
  ASSERT_TRUE(reader.feed(input));
  EXPECT_TRUE(reader.message().oversized);
  EXPECT_FALSE(reader.feed(input));
  EXPECT_EQ(reader.message().body.capacity(), 0U);
}

TEST(Ttrpc, a_large_buffer_is_not_kept) {
  MessageReader reader;
  const std::string stream =
      message_bytes(1, 1, std::string(1U << 20U, 'x')) + message_bytes(3, 1, "s");
  std::string_view input = stream;
  ASSERT_TRUE(reader.feed(input));
  EXPECT_EQ(reader.message().body.size(), 1U << 20U);
  ASSERT_TRUE(reader.feed(input));
  EXPECT_LT(reader.message().body.capacity(), 1U << 16U);
}

TEST(Ttrpc, a_body_may_be_taken_and_views_into_it_survive) {
  MessageReader reader;
  const std::string stream = message_bytes(1, 1, "abc") + message_bytes(3, 1, "d");
  std::string_view input = stream;
  ASSERT_TRUE(reader.feed(input));
  const std::string_view view = view_of(reader.message().body);
  const Bytes taken = std::move(reader.message().body);
  ASSERT_TRUE(reader.feed(input));
  EXPECT_EQ(view, "abc");
  EXPECT_EQ(view_of(reader.message().body), "d");
}

class RecordingSink : public MessageSink {
 public:
  bool wants(const MessageHeader& header, std::string_view beginning) override {
    EXPECT_EQ(beginning.size(), kOfferedBytes);
    return header.stream == wanted;
  }

  void take(std::string_view piece) override { data += piece; }

  std::uint32_t wanted = 3;
  std::string data;
};

TEST(Ttrpc, the_data_of_a_large_message_goes_to_a_sink_that_wants_it) {
  std::string large(kStreamAboveBytes + 1, 'x');
  large.back() = '!';
  const std::string stream =
      message_bytes(1, 1, large) + message_bytes(3, 1, large) + message_bytes(5, 1, "small");
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{511}, std::size_t{1000}, stream.size()}) {
    RecordingSink sink;
    MessageReader reader(kTtrpcMaxDataBytes, &sink);
    std::string seen;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      std::string_view input = std::string_view(stream).substr(at, piece);
      while (reader.feed(input)) {
        const Message& message = reader.message();
        seen += std::to_string(message.header.stream) + (message.streamed ? " streamed " : " ") +
                std::to_string(message.body.size()) + ";";
        EXPECT_LE(message.body.capacity(), message.streamed ? 2 * kOfferedBytes : large.size());
      }
    }
    EXPECT_EQ(seen, "1 65537;3 streamed 0;5 5;");
    EXPECT_EQ(sink.data, large);
  }
}

TEST(Ttrpc, a_message_that_fits_a_kept_buffer_is_never_offered) {
  RecordingSink sink;
  MessageReader reader(kTtrpcMaxDataBytes, &sink);
  const std::string stream = message_bytes(3, 1, std::string(kStreamAboveBytes, 'x'));
  std::string_view input = stream;
  ASSERT_TRUE(reader.feed(input));
  EXPECT_FALSE(reader.message().streamed);
  EXPECT_EQ(reader.message().body.size(), kStreamAboveBytes);
}

TEST(Ttrpc, an_oversized_message_is_never_offered) {
  RecordingSink sink;
  MessageReader reader(kStreamAboveBytes, &sink);
  const std::string stream = message_bytes(3, 1, std::string(kStreamAboveBytes + 1, 'x'));
  std::string_view input = stream;
  ASSERT_TRUE(reader.feed(input));
  EXPECT_TRUE(reader.message().oversized);
  EXPECT_EQ(sink.data, "");
}

}  // namespace
}  // namespace railhead::wire
