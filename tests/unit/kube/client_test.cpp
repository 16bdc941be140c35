// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <gmock/gmock.h>

#include "unit/kube/https_server.h"
#include "unit/without_threads.h"

namespace railhead::test {
namespace {

using namespace std::chrono_literals;
using kube::ask;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kNode = "/api/v1/nodes/a";

std::string status_of(int code, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
         R"(","code":)" + std::to_string(code) + "}";
}

class ClientTest : public testing::Test {
 protected:
  kube::Access access(const HttpsServer& server, const std::string& host = "127.0.0.1") const {
    kube::Access access;
    access.host = host;
    access.port = server.port();
    access.server_name = host;
    access.authorities = authority_.pem();
    access.token = "secret";
    return access;
  }

  /// What comes of one request to a server that always replies so.
  Result<kube::Answer> outcome(Reply reply, kube::AnswerLimits limits = {}) {
    HttpsServer server(certificate_, [&](const auto&) { return reply; });
    return ask(access(server), kube::get(kNode), limits);
  }

  /// The message of a refusal.
  Error refused(Reply reply) {
    const auto answer = outcome(std::move(reply));
    EXPECT_TRUE(answer) << answer.error().message;
    return kube::object_in(kube::get(kNode), answer.value_or(kube::Answer{})).error();
  }

  Certificate authority_{""};
  Certificate certificate_{"DNS:localhost,IP:127.0.0.1", &authority_};
};

TEST_F(ClientTest, a_request_says_who_asks_for_what) {
  HttpsServer server(certificate_, [](const auto&) { return reply(200, R"({"kind":"Node"})"); });
  const auto answer = ask(access(server), kube::get(kNode));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200U);
  EXPECT_EQ(kube::object_in(kube::get(kNode), *answer)->find("kind")->scalar, "Node");
  const auto request = server.requests().at(0);
  EXPECT_THAT(request, StartsWith("GET /api/v1/nodes/a HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Host: 127.0.0.1:" + server.port() + "\r\n"));
  EXPECT_THAT(request, HasSubstr("Authorization: Bearer secret\r\n"));
  EXPECT_THAT(request, HasSubstr("Accept: application/json\r\n"));
}

TEST_F(ClientTest, each_kind_of_change_has_its_content_type) {
  HttpsServer server(certificate_, [](const auto&) { return reply(201, "{}"); });
  const data::Json body{{"a", 1}};
  for (const auto& request : {kube::create("/x", body), kube::json_patch("/x", body),
                              kube::strategic_merge_patch("/x", body)}) {
    ASSERT_TRUE(ask(access(server), request));
  }
  const auto seen = server.requests();
  EXPECT_THAT(seen.at(0), StartsWith("POST /x HTTP"));
  EXPECT_THAT(seen.at(0), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(seen.at(1), StartsWith("PATCH /x HTTP"));
  EXPECT_THAT(seen.at(1), HasSubstr("Content-Type: application/json-patch+json\r\n"));
  EXPECT_THAT(seen.at(2), HasSubstr("Content-Type: application/strategic-merge-patch+json\r\n"));
  EXPECT_THAT(seen.at(2), testing::EndsWith("{\n  \"a\": 1\n}\n"));
}

TEST(KubeMessages, a_text_is_one_segment_of_a_path) {
  EXPECT_EQ(kube::encoded("rail head/a="), "rail%20head%2fa%3d");
}

TEST_F(ClientTest, a_path_before_the_api_is_kept) {
  HttpsServer server(certificate_, [](const auto&) { return reply(200, "{}"); });
  auto behind = access(server);
  behind.prefix = "/k8s/clusters/c-1";
  ASSERT_TRUE(ask(behind, kube::get(kNode)));
  EXPECT_THAT(server.requests().at(0), StartsWith("GET /k8s/clusters/c-1/api/v1/nodes/a HTTP"));
}

TEST_F(ClientTest, refusals_name_path_status_and_the_servers_words) {
  struct Case {
    int status;
    ErrorCode code;
    std::string begins;
  };

  for (const auto& [status, code, begins] :
       {Case{401, ErrorCode::denied, "401 Unauthorized"},
        {403, ErrorCode::denied, "403 Forbidden"},
        {404, ErrorCode::usage, "404 Not Found"},
        {409, ErrorCode::unavailable, "409 Conflict"},
        {429, ErrorCode::unavailable, "429 Too Many Requests"},
        {500, ErrorCode::unavailable, "500 Internal Server Error"},
        {418, ErrorCode::unavailable, "418"}}) {
    const auto error = refused(reply(status, status_of(status, "the \\\"words\\\"")));
    EXPECT_EQ(error.message, "GET /api/v1/nodes/a: " + begins + ": the \\\"words\\\"");
    EXPECT_EQ(error.code, code) << status;
  }
}

TEST_F(ClientTest, what_is_no_status_is_quoted_and_cut) {
  const auto error = refused(reply(502, "<html>\x1b[31m" + std::string(5000, 'x')));
  EXPECT_THAT(error.message, StartsWith("GET /api/v1/nodes/a: 502: \"<html>\\x1b[31mxxx"));
  EXPECT_LT(error.message.size(), 600U);
}

TEST_F(ClientTest, a_redirect_is_not_followed) {
  HttpsServer other(certificate_, [](const auto&) { return reply(200, "{}"); });
  const auto error =
      refused(reply(302, "", "Location: https://127.0.0.1:" + other.port() + "/\r\n"));
  EXPECT_EQ(error.message, "GET /api/v1/nodes/a: 302");
  EXPECT_TRUE(other.requests().empty());
}

TEST_F(ClientTest, retry_after_is_read_where_it_is_a_number) {
  EXPECT_EQ(outcome(reply(429, "", "Retry-After: 7\r\n"))->retry_after, 7s);
  EXPECT_EQ(outcome(reply(429, "", "Retry-After: Wed, 21 Oct\r\n"))->retry_after, std::nullopt);
  EXPECT_EQ(outcome(reply(429, "", "Retry-After: 99999999\r\n"))->retry_after, 86400s);
}

TEST_F(ClientTest, an_answer_that_is_no_object_is_malformed) {
  for (const auto* body : {"", "[1]", "{\"a\":", "hello"}) {
    const auto answer = outcome(reply(200, body));
    const auto object = kube::object_in(kube::get(kNode), *answer);
    ASSERT_FALSE(object) << body;
    EXPECT_EQ(object.error().code, ErrorCode::malformed) << body;
    EXPECT_THAT(object.error().message, StartsWith("GET /api/v1/nodes/a: the answer"));
  }
}

TEST_F(ClientTest, an_answer_that_is_cut_is_no_answer) {
  using Then = Reply::Then;
  const auto half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{";
  EXPECT_THAT(outcome({half, Then::cut}).error().message,
              StartsWith("GET /api/v1/nodes/a at 127.0.0.1:"));
  EXPECT_FALSE(outcome({half, Then::close}));
  // Without a length only TLS says where the body ends.
  EXPECT_FALSE(outcome({"HTTP/1.1 200 OK\r\n\r\n{}", Then::cut}));
  EXPECT_TRUE(outcome({"HTTP/1.1 200 OK\r\n\r\n{}", Then::close}));
  EXPECT_FALSE(outcome({"", Then::close}));
  EXPECT_FALSE(outcome({"SSH-2.0-OpenSSH_9.2\r\n", Then::close}));
}

TEST_F(ClientTest, an_endless_answer_ends_at_the_limit) {
  using Then = Reply::Then;
  const kube::AnswerLimits limits{20s, 100000};
  const auto endless = outcome({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                Then::repeat, "8000\r\n" + std::string(0x8000, 'x') + "\r\n"},
                               limits);
  EXPECT_EQ(endless.error().code, ErrorCode::too_large);
  const auto long_head = outcome({"HTTP/1.1 200 OK\r\n", Then::repeat, "X: y\r\n"}, limits);
  EXPECT_EQ(long_head.error().code, ErrorCode::too_large);
  const auto announced = outcome({"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"}, limits);
  EXPECT_EQ(announced.error().code, ErrorCode::too_large);
}

TEST_F(ClientTest, a_server_that_says_nothing_is_left_in_time) {
  using Then = Reply::Then;
  const kube::AnswerLimits limits{300ms};
  const auto silent = outcome({"", Then::hang}, limits);
  EXPECT_EQ(silent.error().code, ErrorCode::timeout);
  EXPECT_THAT(silent.error().message, testing::EndsWith(": no whole answer within 300 ms"));
  const auto stuck = outcome({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", Then::hang}, limits);
  EXPECT_EQ(stuck.error().code, ErrorCode::timeout);
}

TEST_F(ClientTest, without_a_thread_for_names_is_an_error) {
  EXPECT_TRUE(test::without_threads([] {
    kube::Access named;
    named.host = named.server_name = "nohost.invalid";
    named.port = "6443";
    const auto answer = ask(named, kube::get(kNode));
    return !answer && answer.error().message.starts_with(
                          "GET /api/v1/nodes/a at nohost.invalid:6443: name lookup: ");
  }));
}

TEST_F(ClientTest, nobody_listens) {
  std::string port;
  {
    const HttpsServer server(certificate_, [](const auto&) { return reply(200, "{}"); });
    port = server.port();
  }
  kube::Access nowhere;
  nowhere.host = nowhere.server_name = "127.0.0.1";
  nowhere.port = port;
  const auto answer = ask(nowhere, kube::get(kNode));
  EXPECT_EQ(answer.error().message,
            "GET /api/v1/nodes/a at 127.0.0.1:" + port + ": connect: Connection refused");
}

TEST_F(ClientTest, a_certificate_of_another_authority_is_refused) {
  HttpsServer server(certificate_, [](const auto&) { return reply(200, "{}"); });
  auto wrong = access(server);
  wrong.authorities = Certificate("").pem();
  const auto answer = ask(wrong, kube::get(kNode));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("TLS: certificate for 127.0.0.1: "));
  wrong.authorities = "";  // the system's know nothing of it either
  EXPECT_FALSE(ask(wrong, kube::get(kNode)));
  EXPECT_TRUE(server.requests().empty()) << "the token has not left";
  wrong.authorities = "no pem";
  EXPECT_THAT(ask(wrong, kube::get(kNode)).error().message, HasSubstr("certificate authorities"));
}

TEST_F(ClientTest, a_certificate_for_another_name_is_refused) {
  const Certificate other("DNS:kubernetes.default,IP:10.0.0.1", &authority_);
  HttpsServer server(other, [](const auto&) { return reply(200, "{}"); });
  const auto by_address = ask(access(server), kube::get(kNode));
  EXPECT_THAT(by_address.error().message,
              HasSubstr("certificate for 127.0.0.1: IP address mismatch"));
  const auto by_name = ask(access(server, "localhost"), kube::get(kNode));
  EXPECT_THAT(by_name.error().message, HasSubstr("certificate for localhost: hostname mismatch"));
  EXPECT_TRUE(server.requests().empty());
  auto right = access(server);
  right.server_name = "kubernetes.default";
  EXPECT_TRUE(ask(right, kube::get(kNode)));
}

TEST_F(ClientTest, a_common_name_proves_nothing) {
  const Certificate no_names("", &authority_);  // its subject is CN=server
  HttpsServer server(no_names, [](const auto&) { return reply(200, "{}"); });
  auto access = this->access(server);
  access.server_name = "server";
  EXPECT_FALSE(ask(access, kube::get(kNode)));
}

TEST_F(ClientTest, a_server_is_found_by_name_and_by_a_bundle) {
  HttpsServer server(certificate_, [](const auto&) { return reply(200, "{}"); });
  auto bundle = access(server, "localhost");
  bundle.authorities = Certificate("").pem() + bundle.authorities;
  const auto answer = ask(bundle, kube::get(kNode));
  EXPECT_TRUE(answer) << answer.error().message;
  bundle.host = "no-such-host.invalid";
  EXPECT_THAT(ask(bundle, kube::get(kNode)).error().message, HasSubstr(": name lookup: "));
}

TEST_F(ClientTest, a_client_certificate_is_shown) {
  HttpsServer server(
      certificate_, [](const auto&) { return reply(200, "{}"); }, &authority_);
  const Certificate mine("", &authority_);
  auto access = this->access(server);
  EXPECT_FALSE(ask(access, kube::get(kNode)));
  access.certificate = mine.pem();
  access.key = mine.key_pem();
  const auto shown = ask(access, kube::get(kNode));
  EXPECT_TRUE(shown) << shown.error().message;
  access.key = "no key";
  EXPECT_THAT(ask(access, kube::get(kNode)).error().message, HasSubstr("client key"));
}

TEST_F(ClientTest, without_an_access_there_is_an_error) {
  boost::asio::io_context loop{1};
  kube::Client client(loop, [] { return Result<kube::Access>(Error{ErrorCode::denied, "no"}); });
  std::string why;
  client.send(kube::get(kNode), [&](const auto& answer) { why = answer.error().message; });
  EXPECT_EQ(why, "") << "never from within send()";
  loop.run_for(5s);
  EXPECT_EQ(why, "no");
}

TEST_F(ClientTest, a_client_that_has_ended_hears_nothing) {
  HttpsServer server(certificate_, [](const auto&) { return reply(200, "{}"); });
  boost::asio::io_context loop{1};
  bool heard = false;
  {
    kube::Client client(loop, [&] { return access(server); });
    client.send(kube::get(kNode), [&](const auto&) { heard = true; });
  }
  loop.run_for(5s);
  EXPECT_FALSE(heard);
}

}  // namespace
}  // namespace railhead::test
