// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_server.h"

#include <gtest/gtest.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

namespace railhead {
namespace {

using boost::asio::ip::tcp;

/// Sends raw bytes and returns all that comes back until the server closes.
std::string ask(boost::asio::io_context& loop, const HttpServer& server, const std::string& text) {
  const auto address = server.address();
  const auto port = address.substr(address.rfind(':') + 1);
  tcp::socket client(loop);
  client.connect(
      {boost::asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(std::stoi(port))});
  boost::asio::write(client, boost::asio::buffer(text));
  std::string received;
  char buffer[512];
  boost::system::error_code failure;
  client.non_blocking(true);
  for (int turn = 0; turn < 100000; ++turn) {
    loop.poll_one();
    const auto size = client.read_some(boost::asio::buffer(buffer), failure);
    received.append(buffer, size);
    if (failure && failure != boost::asio::error::would_block) break;
  }
  return received;
}

class HttpServerTest : public testing::Test {
 protected:
  boost::asio::io_context loop_;
  std::unique_ptr<HttpServer> server_ =
      HttpServer::listen(loop_, "127.0.0.1:0", [](std::string_view target) {
        return target == "/metrics" ? HttpAnswer{200, "a 1\n"} : HttpAnswer{404, "no such page\n"};
      }).value();
};

TEST_F(HttpServerTest, answers_a_page) {
  const auto answer = ask(loop_, *server_, "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(answer.rfind("HTTP/1.1 200", 0), 0U) << answer;
  EXPECT_NE(answer.find("\r\n\r\na 1\n"), std::string::npos) << answer;
}

TEST_F(HttpServerTest, says_404_and_405) {
  EXPECT_NE(ask(loop_, *server_, "GET / HTTP/1.1\r\n\r\n").find(" 404 "), std::string::npos);
  EXPECT_NE(ask(loop_, *server_, "DELETE /metrics HTTP/1.1\r\n\r\n").find(" 405 "),
            std::string::npos);
}

TEST_F(HttpServerTest, drops_an_endless_header) {
  const auto answer = ask(loop_, *server_, "GET / HTTP/1.1\r\nA: " + std::string(9000, 'x'));
  EXPECT_EQ(answer, "");
}

TEST(HttpServer, an_address_in_use_or_wrong_is_a_clear_error) {
  boost::asio::io_context loop;
  const auto handler = [](std::string_view) { return HttpAnswer{}; };
  auto first = HttpServer::listen(loop, "127.0.0.1:0", handler).value();
  const auto second = HttpServer::listen(loop, first->address(), handler);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(first->address()), std::string::npos);
  for (const char* bad : {"", "9479", "localhost:99999", "example:1", "::1:x"}) {
    EXPECT_FALSE(HttpServer::listen(loop, bad, handler)) << bad;
  }
}

}  // namespace
}  // namespace railhead
