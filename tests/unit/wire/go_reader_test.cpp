// SPDX-License-Identifier: Apache-2.0
// Our writer against a model of the runtime's reader, and the model against what was seen of the
// real one (NRI 0.8.0 and 0.12.2).
#include "go_reader.h"

#include <gtest/gtest.h>

#include "hex.h"
#include "wire/mux.h"

namespace railhead::wire {
namespace {

std::string frame(const std::string& payload) {
  return be32(1) + be32(static_cast<std::uint32_t>(payload.size())) + payload;
}

std::string message(std::size_t data_bytes) {
  return be32(static_cast<std::uint32_t>(data_bytes)) + bytes({0, 0, 0, 1, 2, 0}) +
         std::string(data_bytes, 'd');
}

std::string ours(std::uint32_t stream, std::string body) {
  const auto framed =
      frame_message(kPluginConnection, stream, MessageType::response, std::move(body));
  return std::string(framed->head()) + framed->body;
}

std::string body_of(std::size_t size) {
  std::string body(size, '\0');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 31 + i / 4096);
  return body;
}

TEST(GoReaderModel, loses_a_single_frame_above_4096_bytes_as_the_real_one) {
  GoReader go;
  go.arrive(frame(message(4087)));
  EXPECT_FALSE(go.read());
  EXPECT_EQ(go.broken(), "ENOMEM: frame of 4097 for 4096");
}

TEST(GoReaderModel, takes_frames_as_go_itself_writes_them) {
  const std::string whole = message(100'000);
  GoReader go;
  go.arrive(frame(whole.substr(0, 4096)) + frame(whole.substr(4096)));
  const auto read = go.read();
  ASSERT_TRUE(read) << go.broken();
  EXPECT_EQ(read->data.size(), 100'000U);
}

TEST(GoReaderModel, overflows_at_257_frames) {
  GoReader go;
  for (int i = 0; i < 257; ++i) go.arrive(frame("x"));
  EXPECT_EQ(go.broken(), "queue overflow");
}

TEST(GoReaderConformance, reads_every_body_up_to_100_kilobytes) {
  GoReader go;
  for (std::size_t size = 0; size <= 100'000; size += size < 9000 ? 1 : 97) {
    const std::string body = body_of(size);
    go.arrive(ours(static_cast<std::uint32_t>(size), body));
    const auto read = go.read();
    ASSERT_TRUE(read) << size << ": " << go.broken();
    ASSERT_EQ(read->stream, size);
    ASSERT_EQ(read->type, 2U);
    ASSERT_EQ(read->data, body) << size;
  }
}

TEST(GoReaderConformance, reads_the_largest_message) {
  GoReader go;
  go.arrive(ours(1, body_of(kTtrpcMaxDataBytes)));
  const auto read = go.read();
  ASSERT_TRUE(read) << go.broken();
  EXPECT_EQ(read->data.size(), kTtrpcMaxDataBytes);
}

TEST(GoReaderConformance, reads_a_backlog_of_mixed_sizes_in_order) {
  GoReader go;
  const std::size_t sizes[] = {0, 1, 4086, 4087, 0, 10, 4095, 4096, 4097, 70'000, 3};
  std::uint32_t stream = 0;
  for (const std::size_t size : sizes) go.arrive(ours(stream++, body_of(size)));
  stream = 0;
  for (const std::size_t size : sizes) {
    const auto read = go.read();
    ASSERT_TRUE(read) << size << ": " << go.broken();
    EXPECT_EQ(read->stream, stream++);
    EXPECT_EQ(read->data, body_of(size));
  }
}

TEST(GoReaderConformance, a_burst_of_128_large_answers_fits_its_queue) {
  GoReader go;
  for (std::uint32_t i = 0; i < 128; ++i) go.arrive(ours(i, body_of(5000)));
  for (std::uint32_t i = 0; i < 128; ++i) ASSERT_TRUE(go.read()) << go.broken();
}

}  // namespace
}  // namespace railhead::wire
