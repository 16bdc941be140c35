// SPDX-License-Identifier: Apache-2.0
#include "nri/connection.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <functional>

#include "fake_runtime.h"

namespace railhead::nri {
namespace {

class ConnectionTest : public ::testing::Test, public Connection::Events {
 protected:
  void opened(std::optional<int> peer_pid) override {
    opened_ = true;
    pid_ = peer_pid;
  }

  void received(std::string_view bytes) override {
    received_ += bytes;
    if (answers_) connection_->send(message(1));
    if (on_received_) on_received_();
  }

  void lost(const Error& why) override { lost_.push_back(why); }

  void connect() {
    runtime_.listen();
    connection_->connect(runtime_.path());
    ASSERT_TRUE(run_until(loop_, [this] { return opened_; }));
    ASSERT_TRUE(runtime_.accept());
  }

  wire::FramedMessage message(std::size_t body_bytes) {
    auto framed = wire::frame_message(1, stream_++, wire::MessageType::response,
                                      std::string(body_bytes, 'b'));
    return std::move(framed).value();
  }

  boost::asio::io_context loop_;
  FakeRuntime runtime_{loop_};
  std::shared_ptr<Connection> connection_ = std::make_shared<Connection>(loop_, *this);
  std::uint32_t stream_ = 0;
  bool opened_ = false;
  std::optional<int> pid_;
  bool answers_ = false;
  std::function<void()> on_received_;
  std::string received_;
  std::vector<Error> lost_;
};

TEST_F(ConnectionTest, knows_the_process_at_the_other_end) {
  connect();
  EXPECT_EQ(pid_, ::getpid());
}

TEST_F(ConnectionTest, an_answer_is_on_its_way_before_the_loop_turns) {
  connect();
  connection_->send(message(100));
  runtime_.receive();
  EXPECT_EQ(runtime_.received().size(), 118U);
}

TEST_F(ConnectionTest, what_the_socket_does_not_take_at_once_follows_in_order) {
  connect();
  for (int i = 0; i < 8; ++i) connection_->send(message(1U << 20U));
  std::vector<peer::Reply> replies;
  ASSERT_TRUE(run_until(loop_, [&] {
    runtime_.receive();
    return runtime_.received().size() == 8 * ((1U << 20U) + 26U);
  }));
  replies = peer::take_replies(runtime_.received());
  ASSERT_EQ(replies.size(), 8U);
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(replies[i].stream, i);
    EXPECT_EQ(replies[i].data, std::string(1U << 20U, 'b'));
  }
  EXPECT_TRUE(lost_.empty());
}

TEST_F(ConnectionTest, a_runtime_that_does_not_read_is_given_up) {
  connect();
  for (int i = 0; i < 200; ++i) connection_->send(message(1U << 20U));
  EXPECT_TRUE(lost_.empty()) << "never from within send()";
  ASSERT_TRUE(run_until(loop_, [this] { return !lost_.empty(); }));
  EXPECT_EQ(lost_[0].code, ErrorCode::too_large);
}

TEST_F(ConnectionTest, a_queue_of_many_small_messages_is_bounded_too) {
  connect();
  connection_->send(message(4U << 20U));
  for (int i = 0; i < 300; ++i) connection_->send(message(1));
  ASSERT_TRUE(run_until(loop_, [this] { return !lost_.empty(); }));
  EXPECT_EQ(lost_[0].code, ErrorCode::too_large);
}

TEST_F(ConnectionTest, a_closed_trunk_is_reported_once) {
  connect();
  runtime_.hang_up();
  for (int i = 0; i < 3; ++i) connection_->send(message(1));
  ASSERT_TRUE(run_until(loop_, [this] { return !lost_.empty(); }));
  loop_.poll();
  EXPECT_EQ(lost_.size(), 1U);
  EXPECT_EQ(lost_[0].code, ErrorCode::unavailable);
}

TEST_F(ConnectionTest, requests_are_read_in_turn_with_and_without_answers) {
  connect();
  std::string sent;
  for (int i = 0; i < 20; ++i) {
    answers_ = i % 3 != 0;
    sent += std::to_string(i) + ";";
    runtime_.send(std::to_string(i) + ";");
    ASSERT_TRUE(run_until(loop_, [&] { return received_ == sent; })) << i;
  }
}

TEST_F(ConnectionTest, what_comes_while_an_answer_is_written_is_not_missed) {
  connect();
  answers_ = true;
  on_received_ = [this] {
    if (received_.size() < 10) runtime_.send("x");
  };
  runtime_.send("x");
  ASSERT_TRUE(run_until(loop_, [this] { return received_.size() == 10; }));
}

TEST_F(ConnectionTest, more_than_a_buffer_is_read_to_the_end) {
  connect();
  answers_ = true;
  const std::string many(200'000, 'x');
  std::size_t sent = 0;
  ASSERT_TRUE(run_until(loop_, [&] {
    sent += runtime_.send(many.substr(sent));
    return received_.size() == many.size();
  }));
}

TEST_F(ConnectionTest, a_hang_up_after_an_answer_is_reported) {
  connect();
  answers_ = true;
  runtime_.send("x");
  ASSERT_TRUE(run_until(loop_, [this] { return received_ == "x"; }));
  loop_.poll();
  runtime_.hang_up();
  ASSERT_TRUE(run_until(loop_, [this] { return !lost_.empty(); }));
}

TEST_F(ConnectionTest, a_hang_up_together_with_the_last_bytes_is_reported) {
  for (const bool answers : {false, true}) {
    opened_ = false;
    lost_.clear();
    received_.clear();
    connection_ = std::make_shared<Connection>(loop_, *this);
    connect();
    answers_ = answers;
    runtime_.send("x");
    runtime_.hang_up();
    ASSERT_TRUE(run_until(loop_, [this] { return !lost_.empty(); })) << answers;
    EXPECT_EQ(received_, "x");
  }
}

TEST_F(ConnectionTest, a_runtime_that_only_stops_sending_is_noticed_too) {
  connect();
  answers_ = true;
  runtime_.send("x");
  runtime_.stop_sending();
  ASSERT_TRUE(run_until(loop_, [this] { return !lost_.empty(); }));
  EXPECT_EQ(received_, "x");
}

TEST_F(ConnectionTest, nothing_is_left_of_one_that_is_closed_while_it_waits) {
  connect();
  answers_ = true;
  runtime_.send("x");
  ASSERT_TRUE(run_until(loop_, [this] { return received_ == "x"; }));
  loop_.poll();
  const std::weak_ptr<Connection> left = connection_;
  connection_->close();
  connection_.reset();
  loop_.restart();
  loop_.run();
  EXPECT_TRUE(left.expired());
}

TEST_F(ConnectionTest, a_missing_socket_and_an_impossible_path_are_named) {
  connection_->connect("/nonexistent/nri.sock");
  ASSERT_TRUE(run_until(loop_, [this] { return !lost_.empty(); }));
  EXPECT_EQ(lost_[0].message,
            "nri: connecting to /nonexistent/nri.sock: No such file or directory");
  const auto other = std::make_shared<Connection>(loop_, *this);
  other->connect(std::string(200, 'x'));
  ASSERT_TRUE(run_until(loop_, [this] { return lost_.size() == 2; }));
  EXPECT_EQ(lost_[1].code, ErrorCode::usage);
}

TEST_F(ConnectionTest, nothing_is_told_after_close) {
  connect();
  runtime_.send("hello");
  connection_->close();
  runtime_.hang_up();
  loop_.run();
  EXPECT_EQ(received_, "");
  EXPECT_TRUE(lost_.empty());
}

}  // namespace
}  // namespace railhead::nri
