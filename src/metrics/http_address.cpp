// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_address.h"

#include <boost/asio/ip/address.hpp>

#include "base/text.h"

namespace railhead::metrics {

using tcp = boost::asio::ip::tcp;

Result<HttpAddress> parse_http_address(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto bad = [&](std::string_view why) {
    return Error{ErrorCode::usage, in_quotes(text) + ": " + std::string(why)};
  };
  if (colon == std::string::npos) return bad("expected HOST:PORT");
  const auto number = parse_unsigned(std::string_view(text).substr(colon + 1));
  if (!number || *number > 65535) return bad("the port is not 0 to 65535");
  const auto port = static_cast<std::uint16_t>(*number);
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return HttpAddress{text, tcp::endpoint(tcp::v6(), port), true};
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code failure;
  const auto address = boost::asio::ip::make_address(host, failure);
  if (failure) return bad("the host is not an IP address");
  return HttpAddress{text, tcp::endpoint(address, port), false};
}

std::string to_text(const tcp::endpoint& endpoint) {
  const auto host = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

}  // namespace railhead::metrics
