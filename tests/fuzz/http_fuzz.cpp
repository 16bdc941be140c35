// SPDX-License-Identifier: Apache-2.0
// Anything a client could send to the agent's pages. The first byte chooses the pieces. At most one
// answer comes back, and the connection is closed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "metrics/bearer.h"
#include "metrics/http_server.h"

using namespace railhead;

namespace {

using Local = boost::asio::local::stream_protocol;

void require(bool condition) {
  if (!condition) std::abort();
}

metrics::HttpAnswer answer(const metrics::HttpRequest& request) {
  require(request.target.find('?') == std::string_view::npos);
  require(request.target.size() + request.authorization.size() <= 8192);
  return {metrics::is_bearer(request.authorization, "token") ? 200U : 403U, "page\n"};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  boost::asio::io_context loop;
  metrics::HttpServer server(loop, {}, answer);
  Local::socket client(loop);
  Local::socket served(loop);
  boost::asio::local::connect_pair(client, served);
  server.take(std::move(served), true);
  client.non_blocking(true);
  boost::system::error_code failure;
  while (!text.empty() && !failure) {
    const auto sent = client.write_some(boost::asio::buffer(text.substr(0, piece)), failure);
    text.remove_prefix(sent);
    loop.poll();
  }
  failure = {};
  client.shutdown(Local::socket::shutdown_send, failure);
  loop.poll();
  std::string received;
  char buffer[4096];
  failure = {};
  while (!failure) received.append(buffer, client.read_some(boost::asio::buffer(buffer), failure));
  require(failure != boost::asio::error::would_block);  // closed
  require(received.empty() || received.starts_with("HTTP/1."));
  require(received.find("HTTP/1.", 1) == std::string::npos);
  return 0;
}
