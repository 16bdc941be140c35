// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_places.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

namespace railhead::metrics {
namespace {

namespace asio = boost::asio;

HttpPeer peer(const char* address) {
  return peer_of(asio::ip::tcp::endpoint(asio::ip::make_address(address), 4711));
}

TEST(HttpPeer, is_an_ipv4_address_however_it_is_written) {
  EXPECT_EQ(peer("10.0.0.1"), peer("::ffff:10.0.0.1"));
  EXPECT_NE(peer("10.0.0.1"), peer("10.0.0.2"));
}

TEST(HttpPeer, is_the_network_of_an_ipv6_address) {
  EXPECT_EQ(peer("2001:db8::1"), peer("2001:db8::2:1"));
  EXPECT_NE(peer("2001:db8::1"), peer("2001:db8:0:1::1"));
}

TEST(HttpPeer, is_the_same_for_all_on_the_unix_socket) {
  EXPECT_EQ(peer_of(asio::local::stream_protocol::endpoint("/a")), HttpPeer());
  EXPECT_EQ(peer_of({}), HttpPeer());
}

}  // namespace
}  // namespace railhead::metrics
