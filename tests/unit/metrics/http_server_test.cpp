// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <fstream>
#include <list>

#include "loop/mail_loop.h"
#include "unit/few_descriptors.h"
#include "unit/host/temporary_directory.h"

namespace railhead::metrics {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kAsk = "GET /page HTTP/1.1\r\nHost: a\r\n\r\n";

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    options_.address = parse_http_address("127.0.0.1:0").value();
    options_.times = {1ms, 2ms, 1ms, 2ms};
    options_.report = [this](const HttpNews& news) { news_.push_back(news); };
  }

  HttpServer& open() {
    server_ = std::make_unique<HttpServer>(loop_, options_, [this](const HttpRequest& request) {
      if (request.target != "/page") return HttpAnswer{404, "no such page\n"};
      if (!answer_.empty()) return HttpAnswer{200, answer_};
      const std::string where = request.is_local ? "local" : "remote";
      return HttpAnswer{200, where + " " + std::string(request.authorization) + "\n"};
    });
    return *server_;
  }

  tcp::endpoint endpoint() const {
    const auto address = server_->address();
    const auto port = address.substr(address.rfind(':') + 1);
    return {asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(std::stoi(port))};
  }

  /// A connection from this address of the machine itself.
  tcp::socket connected(const char* from = "127.0.0.1") {
    tcp::socket client(loop_, tcp::endpoint(asio::ip::make_address(from), 0));
    client.connect(endpoint());
    return client;
  }

  /// Connections that the server has taken, one after the other; each has sent this.
  std::list<tcp::socket> many(std::size_t count, std::string_view text = "") {
    std::list<tcp::socket> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(connected());
      asio::write(clients.back(), asio::buffer(text));
      settle();
    }
    return clients;
  }

  /// The same, who ask and whose kernel takes hardly any of the answer.
  std::list<tcp::socket> lazy_readers(std::size_t count) {
    std::list<tcp::socket> readers;
    for (std::size_t i = 0; i < count; ++i) {
      tcp::socket& reader = readers.emplace_back(loop_, tcp::v4());
      reader.set_option(asio::socket_base::receive_buffer_size(1));  // as little as there is
      reader.connect(endpoint());
      asio::write(reader, asio::buffer(std::string(kAsk)));
      settle();
    }
    return readers;
  }

  /// Runs the loop until it has nothing to do at once.
  void settle() {
    while (loop_.poll() > 0) {
    }
  }

  /// Lets the server see who has taken his answer, which it looks at every 50 ms.
  void look_again() {
    loop_.run_for(100ms);
    settle();  // also where the machine stood still
  }

  template <typename Condition>
  bool until(Condition condition) {
    for (int turn = 0; turn < 10000; ++turn) {
      if (condition()) return true;
      loop_.run_one_for(10s);
    }
    return false;
  }

  /// Sends raw bytes and returns all that comes back until the server closes.
  template <typename Socket>
  std::string ask(Socket client, const std::string& text) {
    asio::write(client, asio::buffer(text));
    return rest(client);
  }

  template <typename Socket>
  std::string rest(Socket& client) {
    std::string received;
    char buffer[512];
    boost::system::error_code failure;
    client.non_blocking(true);
    for (int turn = 0; turn < 100000; ++turn) {
      loop_.poll_one();
      const auto size = client.read_some(asio::buffer(buffer), failure);
      received.append(buffer, size);
      if (failure && failure != asio::error::would_block) break;
    }
    return received;
  }

  asio::io_context loop_;
  std::vector<HttpNews> news_;
  HttpOptions options_;
  std::string answer_;  ///< in place of what the page says
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, answers_a_page) {
  open();
  const auto answer = ask(connected(), "GET /page?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nremote \n"));
}

TEST_F(HttpServerTest, a_handler_sees_the_authorization) {
  open();
  EXPECT_THAT(ask(connected(), "GET /page HTTP/1.1\r\nauthorization: Bearer x\r\n\r\n"),
              HasSubstr("\r\n\r\nremote Bearer x\n"));
}

TEST_F(HttpServerTest, says_404_and_405) {
  open();
  EXPECT_THAT(ask(connected(), "GET / HTTP/1.1\r\n\r\n"), HasSubstr(" 404 "));
  EXPECT_THAT(ask(connected(), "DELETE /page HTTP/1.1\r\n\r\n"), HasSubstr(" 405 "));
  EXPECT_THAT(ask(connected(), "POST /page HTTP/1.1\r\nContent-Length: 99999\r\n\r\n"),
              HasSubstr(" 405 "))
      << "of a body nothing is waited for";
}

TEST_F(HttpServerTest, drops_an_endless_header) {
  open();
  EXPECT_EQ(ask(connected(), "GET / HTTP/1.1\r\nA: " + std::string(9000, 'x')), "");
}

TEST_F(HttpServerTest, of_two_requests_in_one_only_the_first_is_answered) {
  open();
  const auto answer = ask(connected(), std::string(kAsk) + kAsk);
  EXPECT_EQ(answer.find("HTTP/1.1"), answer.rfind("HTTP/1.1"));
}

TEST_F(HttpServerTest, idle_connections_keep_no_probe_waiting) {
  open();
  auto idle = many(2 * HttpConnections::kMost, "GET /pa");
  EXPECT_THAT(ask(connected(), kAsk), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(rest(idle.front()), "") << "the oldest made room";
  EXPECT_THAT(ask(std::move(idle.back()), "ge HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, a_slow_probe_outlives_any_flood_from_another_address) {
  open();
  tcp::socket probe = connected("127.0.0.2");
  const auto flood = many(2 * HttpConnections::kMost);
  EXPECT_THAT(ask(std::move(probe), kAsk), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, a_slow_probe_survives_when_its_own_address_takes_all_places) {
  open();
  tcp::socket probe = connected();
  const auto flood = many(HttpConnections::kMost - 1);
  EXPECT_THAT(ask(std::move(probe), kAsk), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, who_has_asked_is_answered_before_idle_ones_are_kept) {
  open();
  tcp::socket first = connected();
  settle();
  asio::write(first, asio::buffer(std::string(kAsk)));
  std::list<tcp::socket> idle;
  for (std::size_t i = 0; i < HttpConnections::kMost; ++i) idle.push_back(connected());
  EXPECT_THAT(rest(first), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, answers_that_nobody_reads_make_room_for_each_other_alone) {
  answer_ = std::string(250'000, 'x');  // more than the kernel takes from a writer
  open();
  tcp::socket scrape = connected("127.0.0.2");
  asio::write(scrape, asio::buffer(std::string(kAsk)));
  settle();
  auto readers = many(HttpConnections::kMostAnswers, kAsk);
  EXPECT_THAT(rest(scrape), HasSubstr(answer_));
  EXPECT_LT(rest(readers.front()).size(), answer_.size()) << "the oldest made room";
  EXPECT_THAT(rest(readers.back()), HasSubstr(answer_));
}

TEST_F(HttpServerTest, an_answer_that_lies_unread_in_the_kernel_keeps_its_place) {
  answer_ = std::string(30'000, 'x');
  open();
  auto readers = lazy_readers(3 * HttpConnections::kMostAnswers);
  std::size_t whole = 0;
  for (auto& reader : readers) {
    if (rest(reader).ends_with(answer_)) ++whole;
  }
  EXPECT_LE(whole, HttpConnections::kMostAnswers)
      << "the others were dropped, the kernel's share too";
  EXPECT_GT(whole, 0U);
}

TEST_F(HttpServerTest, an_answer_that_was_taken_makes_room) {
  answer_ = std::string(30'000, 'x');
  open();
  auto slow = lazy_readers(1);
  for (int round = 0; round < 2; ++round) {
    auto readers = many(HttpConnections::kMostAnswers - 1, kAsk);
    for (auto& reader : readers) EXPECT_THAT(rest(reader), EndsWith(answer_));
    look_again();
  }
  EXPECT_THAT(rest(slow.front()), EndsWith(answer_)) << "the oldest had to give up its place";
}

TEST_F(HttpServerTest, a_reader_that_resets_its_connection_makes_room) {
  answer_ = std::string(30'000, 'x');
  open();
  auto slow = lazy_readers(1);
  for (int round = 0; round < 2; ++round) {
    for (auto& reader : lazy_readers(HttpConnections::kMostAnswers - 1)) {
      reader.set_option(asio::socket_base::linger(true, 0));
      reader.close();
    }
    look_again();
  }
  EXPECT_THAT(rest(slow.front()), EndsWith(answer_)) << "the oldest had to give up its place";
}

TEST_F(HttpServerTest, answers_together_are_bounded_by_their_bytes) {
  answer_ = std::string(HttpConnections::kMostAnswerBytes / 4, 'x');
  open();
  auto readers = many(6, kAsk);
  std::size_t whole = 0;
  for (auto& reader : readers) {
    if (rest(reader).ends_with(answer_)) ++whole;
  }
  EXPECT_EQ(whole, 4U);
  answer_ = std::string(2 * HttpConnections::kMostAnswerBytes, 'x');
  EXPECT_THAT(ask(connected(), kAsk), EndsWith(answer_)) << "one alone may be larger";
}

TEST_F(HttpServerTest, idle_connections_of_the_network_take_none_from_the_socket) {
  test::TemporaryDirectory directory;
  options_.socket = directory / "agent.sock";
  open();
  const auto idle = many(HttpConnections::kMost);
  asio::local::stream_protocol::socket client(loop_);
  client.connect(asio::local::stream_protocol::endpoint(options_.socket));
  EXPECT_THAT(ask(std::move(client), kAsk), HasSubstr("\r\n\r\nlocal \n"));
}

TEST_F(HttpServerTest, the_socket_goes_with_the_server) {
  test::TemporaryDirectory directory;
  options_.socket = directory / "agent.sock";
  open();
  EXPECT_TRUE(std::filesystem::exists(options_.socket));
  server_->stop();
  EXPECT_FALSE(std::filesystem::exists(options_.socket));
}

TEST_F(HttpServerTest, the_folder_of_the_socket_is_made) {
  test::TemporaryDirectory directory;
  options_.socket = directory / "run/railhead/agent.sock";
  open();
  EXPECT_EQ(server_->places().back().problem, "");

  struct stat facts {};

  ASSERT_EQ(::stat((directory / "run/railhead").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0755U);
}

TEST_F(HttpServerTest, a_folder_that_cannot_be_made_is_named_and_tried_again) {
  test::TemporaryDirectory directory;
  std::ofstream(directory / "run") << "a file";
  options_.socket = directory / "run/railhead/agent.sock";
  open();
  ASSERT_TRUE(until([&] { return news_.size() == 2; }));
  EXPECT_EQ(news_.back().kind, HttpNews::Kind::not_listening);
  EXPECT_THAT(news_.back().why, StartsWith(directory / "run/railhead: "));
  EXPECT_EQ(server_->places().back().problem, news_.back().why);
  std::filesystem::remove(directory / "run");
  ASSERT_TRUE(until([&] { return news_.size() == 3; }));
  EXPECT_EQ(news_.back().address, "unix:" + options_.socket);
  EXPECT_EQ(server_->places().back().problem, "");
}

/// With a thread for files that works when the test lets it.
class HttpServerFilesTest : public HttpServerTest {
 protected:
  HttpServerFilesTest() {
    options_.socket = directory_ / "agent.sock";
    options_.mail = &mail_.box();
    options_.files = files_.get();
  }

  ~HttpServerFilesTest() override { server_.reset(); }

  [[nodiscard]] bool is_folder_empty() const {
    return std::filesystem::is_empty(directory_.path());
  }

  test::TemporaryDirectory directory_;
  loop::MailLoop mail_{loop::Mailbox::open().value(), loop_};
  std::unique_ptr<loop::Mailbox> files_ = loop::Mailbox::open().value();
};

TEST_F(HttpServerFilesTest, another_thread_makes_and_removes_the_socket) {
  open();
  settle();
  EXPECT_EQ(server_->places().back().problem, "not yet");
  EXPECT_TRUE(is_folder_empty());
  files_->run();
  ASSERT_TRUE(until([&] { return server_->places().back().problem.empty(); }));
  server_.reset();
  settle();
  EXPECT_TRUE(std::filesystem::exists(options_.socket)) << "it was removed on the server's thread";
  files_->run();
  EXPECT_TRUE(is_folder_empty()) << "the lock is left";
}

TEST_F(HttpServerFilesTest, a_socket_that_comes_after_the_end_is_removed) {
  open();
  files_->run();  // and the server has not heard of it yet
  server_.reset();
  settle();
  files_->run();
  EXPECT_TRUE(is_folder_empty());
}

TEST_F(HttpServerTest, a_port_that_is_taken_is_tried_again_and_said_once) {
  HttpServer other(loop_, options_, [](const HttpRequest&) { return HttpAnswer{}; });
  news_.clear();
  options_.address = parse_http_address(other.address()).value();
  open();
  EXPECT_EQ(server_->address(), "");
  for (int turn = 0; turn < 5; ++turn) loop_.run_one_for(10s);
  ASSERT_EQ(news_.size(), 1U);
  EXPECT_EQ(news_[0].kind, HttpNews::Kind::not_listening);
  EXPECT_EQ(news_[0].address, options_.address->text);
  EXPECT_THAT(server_->places().front().problem, HasSubstr("in use"));
  other.stop();
  ASSERT_TRUE(until([&] { return !server_->address().empty(); }));
  EXPECT_EQ(server_->address(), options_.address->text);
  EXPECT_THAT(ask(connected(), kAsk), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, without_ipv6_all_addresses_are_those_of_ipv4) {
  options_.address = parse_http_address(":0").value();
  options_.has_ipv6 = false;
  open();
  EXPECT_THAT(server_->address(), StartsWith("0.0.0.0:"));
  EXPECT_THAT(ask(connected(), kAsk), StartsWith("HTTP/1.1 200"));
}

TEST(HttpAddress, an_address_that_is_none_is_a_clear_error) {
  for (const char* bad : {"9479", "localhost:99999", "example:1", "::1:x"}) {
    const auto address = parse_http_address(bad);
    ASSERT_FALSE(address) << bad;
    EXPECT_THAT(address.error().message, HasSubstr(bad));
  }
}

/// What boost and the sanitizers look up once, they look up with a descriptor: it has to have run
/// before none is left.
void look_up_errors() {
  using boost::system::error_code;
  (void)error_code(EMFILE, boost::system::system_category()).message();
  (void)error_code(EMFILE, asio::error::get_system_category()).default_error_condition();
  (void)(error_code(asio::error::eof) == error_code(asio::error::no_descriptors));
}

TEST_F(HttpServerTest, without_descriptors_it_pauses_and_refuses_waiting_clients) {
  options_.times = {1ms, 2ms, 1h, 1h};
  open();
  tcp::socket first(loop_);
  tcp::socket second(loop_);
  first.open(tcp::v4());
  second.open(tcp::v4());
  EXPECT_THAT(ask(connected(), kAsk), StartsWith("HTTP/1.1 200"));
  look_up_errors();
  const test::FewDescriptors none(0);
  first.connect(endpoint());
  second.connect(endpoint());
  std::size_t turns = 0;
  while (turns < 1000 && loop_.poll_one() > 0) ++turns;
  EXPECT_LT(turns, 10U) << "it spins";
  ASSERT_EQ(news_.size(), 2U);
  EXPECT_EQ(news_[1].kind, HttpNews::Kind::pausing);
  char byte = 0;
  boost::system::error_code failure;
  first.read_some(asio::buffer(&byte, 1), failure);
  EXPECT_TRUE(failure) << "refused, not left hanging";
  second.read_some(asio::buffer(&byte, 1), failure);
  EXPECT_TRUE(failure);
}

TEST_F(HttpServerTest, when_there_are_descriptors_again_it_accepts) {
  open();
  tcp::socket refused(loop_);
  refused.open(tcp::v4());
  EXPECT_THAT(ask(connected(), kAsk), StartsWith("HTTP/1.1 200"));
  {
    look_up_errors();
    const test::FewDescriptors none(0);
    refused.connect(endpoint());
    ASSERT_TRUE(until([&] { return news_.size() == 2; }));
  }
  EXPECT_THAT(ask(connected(), kAsk), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, after_its_end_nothing_is_asked_of_the_handler) {
  open();
  tcp::socket client = connected();
  settle();
  server_->stop();
  asio::write(client, asio::buffer(std::string(kAsk)));
  EXPECT_EQ(rest(client), "");
}

}  // namespace
}  // namespace railhead::metrics
