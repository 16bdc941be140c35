// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/result.h"

namespace railhead::metrics {

/// Where a TCP listener listens.
struct HttpAddress {
  std::string text;  ///< as it was said
  boost::asio::ip::tcp::endpoint endpoint;
  bool is_any = false;  ///< no host was named: IPv6 and IPv4, or IPv4 where there is no IPv6
};

/// "HOST:PORT": "127.0.0.1:9479", "[::1]:0", "localhost:9479", ":9479". The error quotes it.
Result<HttpAddress> parse_http_address(const std::string& text);

/// "127.0.0.1:9479", "[::1]:9479".
std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace railhead::metrics
