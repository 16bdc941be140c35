// SPDX-License-Identifier: Apache-2.0
#include "nri/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include "fake_runtime.h"
#include "recording_handler.h"

namespace railhead::nri {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.socket_path = runtime_.path();
    options_.backoff_min = milliseconds(1);
    options_.backoff_max = milliseconds(4);
  }

  void start() {
    session_ = std::make_unique<Session>(loop_, options_, handler_);
    session_->start();
  }

  void accept() {
    ASSERT_TRUE(run_until(loop_, [this] { return runtime_.accept(); }));
    ASSERT_TRUE(run_until(loop_, [this] {
      runtime_.receive();
      return !runtime_.received().empty();
    })) << "no RegisterPlugin";
    runtime_.received().clear();
  }

  void synchronize() {
    accept();
    runtime_.send(peer::registered() + peer::call(1, "Configure", peer::configure()) +
                  peer::call(3, "Synchronize", ""));
    ASSERT_TRUE(run_until(loop_, [this] { return session_->stats().connected; }));
    runtime_.receive();
    runtime_.received().clear();
  }

  bool disconnects(std::size_t times) {
    return run_until(loop_, [&] { return handler_.errors.size() >= times; });
  }

  boost::asio::io_context loop_;
  FakeRuntime runtime_{loop_};
  SessionOptions options_;
  RecordingHandler handler_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, registers_and_answers_a_container) {
  runtime_.listen();
  start();
  synchronize();
  ASSERT_EQ(handler_.peers.size(), 1U);
  EXPECT_EQ(handler_.peers[0].name, "containerd");
  EXPECT_EQ(handler_.peers[0].pid, ::getpid());
  handler_.answer.adjustment = sample_adjustment();
  runtime_.send(peer::call(5, "CreateContainer", peer::create("c1")));
  ASSERT_TRUE(run_until(loop_, [this] {
    runtime_.receive();
    return !runtime_.received().empty();
  }));
  EXPECT_EQ(peer::take_replies(runtime_.received()).at(0).stream, 5U);
  EXPECT_EQ(session_->stats().registrations, 1U);
}

TEST_F(SessionTest, an_answer_is_timed_by_the_clock_that_it_is_given) {
  std::chrono::steady_clock::time_point now{};
  options_.now = [&now] { return now += milliseconds(3); };
  runtime_.listen();
  start();
  synchronize();
  runtime_.send(peer::call(5, "CreateContainer", peer::create("c1")));
  ASSERT_TRUE(run_until(loop_, [this] { return !handler_.times.empty(); }));
  EXPECT_THAT(handler_.times, testing::ElementsAre(milliseconds(3)));
}

TEST_F(SessionTest, waits_for_a_socket_that_is_not_there_yet) {
  start();
  ASSERT_TRUE(disconnects(3));
  EXPECT_THAT(handler_.errors[0].message, HasSubstr("No such file or directory"));
  runtime_.listen();
  synchronize();
  EXPECT_TRUE(session_->stats().connected);
}

TEST_F(SessionTest, pauses_grow_and_are_told) {
  start();
  ASSERT_TRUE(disconnects(4));
  EXPECT_EQ(handler_.pauses[0], milliseconds(2));
  EXPECT_EQ(handler_.pauses[1], milliseconds(4));
  EXPECT_EQ(handler_.pauses[3], milliseconds(4));
}

TEST_F(SessionTest, registers_from_scratch_after_the_runtime_restarted) {
  runtime_.listen();
  start();
  for (std::size_t round = 1; round <= 3; ++round) {
    synchronize();
    runtime_.hang_up();
    runtime_.stop_listening();
    ASSERT_TRUE(disconnects(round));
    EXPECT_FALSE(session_->stats().connected);
    EXPECT_EQ(handler_.pauses.back(), milliseconds(2)) << "synchronized: the first pause again";
    runtime_.listen();
    // Attempts while nobody listened count for the next round.
    handler_.errors.resize(round);
  }
  EXPECT_EQ(session_->stats().registrations, 3U);
}

TEST_F(SessionTest, a_runtime_that_never_answers_the_registration_is_left) {
  options_.registration_wait = milliseconds(5);
  runtime_.listen();
  start();
  accept();
  ASSERT_TRUE(disconnects(1));
  EXPECT_EQ(handler_.errors[0].code, ErrorCode::timeout);
  accept();
}

TEST_F(SessionTest, a_runtime_that_stops_after_configure_is_left_too) {
  options_.registration_wait = milliseconds(5);
  runtime_.listen();
  start();
  accept();
  runtime_.send(peer::registered() + peer::call(1, "Configure", peer::configure()));
  ASSERT_TRUE(disconnects(1));
  EXPECT_EQ(handler_.log.substr(0, 24), "configured;disconnected;");
}

TEST_F(SessionTest, a_synchronized_session_is_not_left_for_being_quiet) {
  options_.registration_wait = milliseconds(2);
  runtime_.listen();
  start();
  synchronize();
  for (int i = 0; i < 10; ++i) loop_.run_one_for(milliseconds(1));
  EXPECT_TRUE(handler_.errors.empty());
}

TEST_F(SessionTest, a_protocol_error_is_counted_and_a_new_connection_follows) {
  runtime_.listen();
  start();
  accept();
  runtime_.send(peer::be32(1) + peer::be32(0xFFFFFFFFU));
  ASSERT_TRUE(disconnects(1));
  EXPECT_EQ(session_->stats().protocol_errors, 1U);
  synchronize();
}

TEST_F(SessionTest, a_refused_registration_is_tried_again) {
  runtime_.listen();
  start();
  accept();
  runtime_.send(peer::frame(2, peer::message(1, 2, peer::text(1, peer::number(1, 2)))));
  ASSERT_TRUE(disconnects(1));
  EXPECT_THAT(handler_.errors[0].message, HasSubstr("refused plugin 90-railhead"));
  synchronize();
}

TEST_F(SessionTest, requests_of_a_lost_connection_are_forgotten) {
  runtime_.listen();
  start();
  synchronize();
  RecordingHandler::Done late;
  handler_.on_create = [&late](const container::Request&, RecordingHandler::Done done) {
    late = std::move(done);
  };
  runtime_.send(peer::call(5, "CreateContainer", peer::create("c1"), 1'000'000));
  ASSERT_TRUE(run_until(loop_, [&late] { return static_cast<bool>(late); }));
  runtime_.hang_up();
  ASSERT_TRUE(disconnects(1));
  synchronize();
  late({});
  runtime_.receive();
  EXPECT_EQ(runtime_.received(), "");
}

TEST_F(SessionTest, a_stopped_session_leaves_nothing_on_the_loop) {
  runtime_.listen();
  start();
  synchronize();
  handler_.log.clear();
  session_->stop();
  session_->stop();
  loop_.restart();
  loop_.run();
  EXPECT_EQ(handler_.log, "");
  EXPECT_FALSE(runtime_.receive()) << "the connection is closed";
}

TEST_F(SessionTest, may_be_stopped_and_destroyed_from_within_a_callback) {
  runtime_.listen();
  handler_.on_existing = [this] { session_.reset(); };
  start();
  accept();
  runtime_.send(peer::call(
      1, "Synchronize",
      peer::text(2, peer::container("a", "p")) + peer::text(2, peer::container("b", "p"))));
  ASSERT_TRUE(run_until(loop_, [this] { return session_ == nullptr; }));
  loop_.restart();
  loop_.run();
  EXPECT_EQ(handler_.log, "existing /a;");
}

TEST_F(SessionTest, a_session_that_never_started_can_be_stopped) {
  Session session(loop_, options_, handler_);
  session.stop();
  loop_.run();
  EXPECT_EQ(handler_.log, "");
}

}  // namespace
}  // namespace railhead::nri
