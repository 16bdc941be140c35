// SPDX-License-Identifier: Apache-2.0
#include "wire/ttrpc_envelope.h"

#include <gtest/gtest.h>

#include "hex.h"

namespace railhead::wire {
namespace {

TEST(TtrpcEnvelope, reads_a_request_with_a_timeout_and_skips_metadata) {
  const std::string data = bytes({0x0a, 1}) + "S" + bytes({0x12, 2}) + "Me" + bytes({0x1a, 3}) +
                           "pay" + bytes({0x20, 0x80, 0x94, 0xeb, 0xdc, 0x03}) +
                           bytes({0x2a, 6, 0x0a, 1}) + "k" + bytes({0x12, 1}) + "v";
  const auto request = decode_request(data);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->service, "S");
  EXPECT_EQ(request->method, "Me");
  EXPECT_EQ(request->payload, "pay");
  EXPECT_EQ(request->timeout_nano, 1'000'000'000);
}

TEST(TtrpcEnvelope, a_truncated_request_is_malformed) {
  const auto request = decode_request(bytes({0x0a, 5}) + "S");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, ErrorCode::malformed);
}

TEST(TtrpcEnvelope, writes_a_request) {
  EXPECT_EQ(encode_request({"S", "Me", "pay", 0}),
            bytes({0x0a, 1}) + "S" + bytes({0x12, 2}) + "Me" + bytes({0x1a, 3}) + "pay");
}

TEST(TtrpcEnvelope, nothing_to_say_is_an_empty_response_and_means_success) {
  EXPECT_EQ(encode_response(""), "");
  const auto response = decode_response("");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->code, StatusCode::ok);
  EXPECT_EQ(response->payload, "");
}

TEST(TtrpcEnvelope, a_payload_is_field_two) {
  EXPECT_EQ(encode_response("ab"), bytes({0x12, 2}) + "ab");
}

TEST(TtrpcEnvelope, a_failure_is_a_status_with_code_and_message) {
  const std::string golden = bytes({0x0a, 6, 0x08, 9, 0x12, 2}) + "no";
  EXPECT_EQ(encode_status(StatusCode::failed_precondition, "no"), golden);
  const auto response = decode_response(golden);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->code, StatusCode::failed_precondition);
  EXPECT_EQ(response->message, "no");
}

TEST(TtrpcEnvelope, a_message_cut_inside_a_character_stays_readable_for_go) {
  EXPECT_EQ(encode_status(StatusCode::unknown, "\xE2\x82"),
            bytes({0x0a, 6, 0x08, 2, 0x12, 2}) + "??");
}

TEST(TtrpcEnvelope, a_malformed_status_is_a_malformed_response) {
  EXPECT_FALSE(decode_response(bytes({0x0a, 1, 0x08})));
  EXPECT_FALSE(decode_response(bytes({0x12, 9})));
}

}  // namespace
}  // namespace railhead::wire
