// SPDX-License-Identifier: Apache-2.0
#include "bench/handshake.h"

#include <gtest/gtest.h>

#include "bench/frame.h"

namespace railhead::bench {
namespace {

constexpr const char* kKey = "0123456789abcdef";

Nonce nonce_of(std::uint8_t first) {
  Nonce nonce{};
  nonce[0] = first;
  return nonce;
}

struct Sides {
  Handshake client;
  Handshake server;
};

Sides sides(const std::string& client_key, const std::string& server_key) {
  return {Handshake(Role::client, client_key, nonce_of(1)),
          Handshake(Role::server, server_key, nonce_of(2))};
}

TEST(Handshake, two_sides_with_one_key_get_the_same_session_keys) {
  auto [client, server] = sides(kKey, kKey);
  const auto hello = server.feed(client.opening());
  const auto proof = client.feed(hello.value());
  const auto verdict = server.feed(proof.value());
  ASSERT_TRUE(client.feed(verdict.value()));
  ASSERT_TRUE(client.keys() && server.keys());
  EXPECT_EQ(client.keys()->client_to_server, server.keys()->client_to_server);
  EXPECT_EQ(client.keys()->server_to_client, server.keys()->server_to_client);
  EXPECT_NE(client.keys()->server_to_client, server.keys()->client_to_server);
}

TEST(Handshake, bytes_may_come_one_by_one) {
  auto [client, server] = sides(kKey, kKey);
  std::string hello;
  for (const char byte : client.opening()) hello += server.feed({&byte, 1}).value();
  EXPECT_EQ(hello.size(), kHelloBytes);
  EXPECT_EQ(server.wants(), kProofBytes);
}

TEST(Handshake, a_server_tells_a_stranger_nothing_that_depends_on_the_key) {
  auto [client, server] = sides(kKey, kKey);
  Handshake other(Role::server, "another key of 16+ bytes", nonce_of(2));
  EXPECT_EQ(server.feed(client.opening()).value(), other.feed(client.opening()).value());
}

TEST(Handshake, a_wrong_key_is_denied_on_both_sides) {
  auto [client, server] = sides(kKey, "fedcba9876543210");
  const auto proof = client.feed(server.feed(client.opening()).value());
  const auto verdict = server.feed(proof.value());
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::denied);
  EXPECT_FALSE(server.keys());
  const auto end = client.feed(server.farewell());
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "the server does not accept this key");
}

TEST(Handshake, a_server_that_only_says_yes_is_denied) {
  auto [client, server] = sides(kKey, kKey);
  ASSERT_TRUE(client.feed(server.feed(client.opening()).value()));
  const auto end = client.feed(std::string(1, '\1') + std::string(32, 'x'));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::denied);
}

TEST(Handshake, a_proof_is_of_no_use_with_another_nonce) {
  auto [client, server] = sides(kKey, kKey);
  const auto proof = client.feed(server.feed(client.opening()).value());
  Handshake later(Role::server, kKey, nonce_of(3));
  ASSERT_TRUE(later.feed(client.opening()));
  EXPECT_FALSE(later.feed(proof.value()));
}

TEST(Handshake, a_clients_proof_does_not_pass_as_a_servers) {
  auto [client, server] = sides(kKey, kKey);
  const auto proof = client.feed(server.feed(client.opening()).value());
  EXPECT_FALSE(client.feed(std::string(1, '\1') + proof.value()));
}

TEST(Handshake, another_version_is_named_and_told_ours) {
  auto [client, server] = sides(kKey, kKey);
  auto hello = client.opening();
  hello[5] = 9;
  const auto end = server.feed(hello);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::unsupported);
  EXPECT_EQ(end.error().message,
            "the other side speaks version 9 of the protocol, this program version 1");
  EXPECT_EQ(server.farewell().size(), kHelloBytes);
}

TEST(Handshake, a_stranger_is_known_by_its_first_byte) {
  Handshake server(Role::server, kKey, nonce_of(2));
  EXPECT_EQ(server.feed("G").error().code, ErrorCode::malformed);
}

TEST(Handshake, bytes_behind_its_end_are_an_error) {
  auto [client, server] = sides(kKey, kKey);
  const auto proof = client.feed(server.feed(client.opening()).value());
  EXPECT_FALSE(server.feed(proof.value() + "x"));
}

TEST(Frame, arrives_whole_whatever_the_pieces) {
  const Mac key = make_mac(kKey, "a");
  FrameWriter writer(key);
  FrameReader reader(key);
  const auto bytes = writer.frame("{\"type\":\"bye\"}").value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(reader.next().value());
    EXPECT_GT(reader.wants(), 0U);
    reader.feed(bytes.substr(i, 1));
  }
  EXPECT_EQ(reader.next().value(), "{\"type\":\"bye\"}");
}

TEST(Frame, changed_repeated_and_foreign_ones_are_denied) {
  const Mac key = make_mac(kKey, "a");
  FrameWriter writer(key);
  auto bytes = writer.frame("hello").value();
  FrameReader twice(key);
  twice.feed(bytes + bytes);
  EXPECT_TRUE(twice.next().value());
  EXPECT_EQ(twice.next().error().code, ErrorCode::denied);
  FrameReader foreign(make_mac(kKey, "b"));
  foreign.feed(bytes);
  EXPECT_FALSE(foreign.next());
  bytes[5] = 'u';
  FrameReader changed(key);
  changed.feed(bytes);
  EXPECT_FALSE(changed.next());
}

TEST(Frame, a_length_above_the_limit_is_refused_before_its_body) {
  FrameReader reader(make_mac(kKey, "a"));
  reader.feed(std::string("\x7f\xff\xff\xff", 4));
  EXPECT_EQ(reader.next().error().code, ErrorCode::too_large);
  EXPECT_LE(reader.wants(), kMaxBody + 36);
}

TEST(Crypto, hmac_is_that_of_rfc_4231) {
  // RFC 4231, test case 2.
  const auto mac = make_mac("Jefe", "what do ya want for nothing?");
  EXPECT_EQ(mac[0], 0x5b);
  EXPECT_EQ(mac[1], 0xdc);
  EXPECT_EQ(mac[31], 0x43);
}

TEST(Crypto, a_short_key_is_refused) {
  EXPECT_FALSE(check_key("123456789012345\n"));
  EXPECT_EQ(check_key(" 1234567890123456\n").value(), "1234567890123456");
}

}  // namespace
}  // namespace railhead::bench
