// SPDX-License-Identifier: Apache-2.0
// The conversation without a socket: bytes of a runtime in, bytes for it out.
#include "nri/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <malloc.h>

#include "recording_handler.h"
#include "runtime_bytes.h"

namespace railhead::nri {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ConversationTest : public ::testing::Test {
 protected:
  void begin() {
    conversation_ = std::make_shared<Conversation>(SessionParts{loop_, options_, handler_, stats_},
                                                   [this](const wire::FramedMessage& message) {
                                                     trunk_ +=
                                                         std::string(message.head()) + message.body;
                                                   });
    conversation_->begin(std::nullopt);
  }

  void SetUp() override {
    begin();
    trunk_.clear();
  }

  std::vector<peer::Reply> reply_to(const std::string& bytes) {
    const auto status = conversation_->receive(bytes);
    EXPECT_TRUE(status) << status.error().message;
    return peer::take_replies(trunk_);
  }

  void handshake() {
    reply_to(peer::registered() + peer::call(1, "Configure", peer::configure()) +
             peer::call(3, "Synchronize", ""));
    handler_.log.clear();
  }

  boost::asio::io_context loop_;
  SessionOptions options_;
  RecordingHandler handler_;
  SessionStats stats_;
  std::string trunk_;
  std::shared_ptr<Conversation> conversation_;
};

TEST_F(ConversationTest, begins_with_register_plugin_on_connection_2_stream_1) {
  begin();
  const std::string payload =
      peer::text(1, "railhead") + peer::text(2, "90") + peer::text(3, "v0.12.5");
  const std::string request = peer::text(1, "nri.pkg.api.v1alpha1.Runtime") +
                              peer::text(2, "RegisterPlugin") + peer::text(3, payload);
  EXPECT_EQ(trunk_, peer::frame(2, peer::message(1, 1, request)));
}

TEST_F(ConversationTest, is_configured_and_synchronized) {
  EXPECT_TRUE(reply_to(peer::registered()).empty());
  const auto configured = reply_to(peer::call(1, "Configure", peer::configure()));
  ASSERT_EQ(configured.size(), 1U);
  EXPECT_EQ(configured[0],
            (peer::Reply{1, 1, 2, peer::text(2, std::string("\x10\x09\x1a\x02\x10\x01", 6))}));
  EXPECT_FALSE(conversation_->synchronized());
  const auto synchronized = reply_to(peer::call(3, "Synchronize", ""));
  ASSERT_EQ(synchronized.size(), 1U);
  EXPECT_EQ(synchronized[0], (peer::Reply{1, 3, 2, ""}));
  EXPECT_TRUE(conversation_->synchronized());
  EXPECT_EQ(handler_.log, "configured;synchronized 0+0;");
}

TEST_F(ConversationTest, configure_may_overtake_the_answer_to_register_plugin) {
  EXPECT_EQ(reply_to(peer::call(1, "Configure", peer::configure())).size(), 1U);
  EXPECT_TRUE(reply_to(peer::registered()).empty());
  EXPECT_EQ(handler_.log, "configured;");
}

TEST_F(ConversationTest, a_refused_registration_ends_it_with_the_runtimes_words) {
  const std::string status = peer::text(1, peer::number(1, 2) + peer::text(2, "invalid index"));
  const auto ended = conversation_->receive(peer::frame(2, peer::message(1, 2, status)));
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("refused plugin 90-railhead: \"invalid index\""));
}

TEST_F(ConversationTest, responses_nobody_waits_for_are_dropped) {
  const std::string status = peer::text(1, peer::number(1, 2));
  EXPECT_TRUE(reply_to(peer::frame(2, peer::message(7, 2, status))).empty());
  EXPECT_TRUE(reply_to(peer::registered()).empty());
  EXPECT_TRUE(reply_to(peer::frame(2, peer::message(1, 2, status))).empty());
}

TEST_F(ConversationTest, each_chunk_of_a_synchronize_is_echoed_without_updates) {
  const auto first = reply_to(
      peer::call(1, "Synchronize", peer::text(2, peer::container("a", "p1")) + peer::number(3, 1)));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0], (peer::Reply{1, 1, 2, peer::text(2, std::string("\x10\x01", 2))}));
  EXPECT_EQ(handler_.log, "");
  const auto last = reply_to(peer::call(3, "Synchronize", peer::text(1, peer::pod("p1", "one"))));
  EXPECT_EQ(last.at(0), (peer::Reply{1, 3, 2, ""}));
  EXPECT_EQ(handler_.log, "existing one/a;synchronized 1+1;");
}

TEST_F(ConversationTest, an_old_runtimes_synchronize_above_ttrpcs_limit_is_taken) {
  const std::string padding = peer::text(99, std::string(5U << 20U, 'x'));
  const auto replies =
      reply_to(peer::call(1, "Synchronize", padding + peer::text(2, peer::container("a", "p1"))));
  EXPECT_EQ(replies.at(0), (peer::Reply{1, 1, 2, ""}));
  EXPECT_EQ(handler_.log, "existing /a;synchronized 0+1;");
}

// More than a message that is put together before it is looked at.
std::string large_state() {
  std::string state = peer::text(1, peer::pod("p1", "one"));
  const std::string filler = peer::text(8, std::string(1000, 'x'));
  for (int i = 0; i < 200; ++i) {
    state += peer::text(2, peer::container("c" + std::to_string(i), "p1", filler));
  }
  return state;
}

TEST_F(ConversationTest, a_large_state_is_read_while_it_arrives) {
  const std::string call = peer::call(1, "Synchronize", large_state());
  EXPECT_TRUE(reply_to(call.substr(0, call.size() / 2)).empty());
  EXPECT_THAT(handler_.log, HasSubstr("existing one/c50;"));
  EXPECT_THAT(handler_.log, Not(HasSubstr("synchronized")));
  EXPECT_EQ(reply_to(call.substr(call.size() / 2)).at(0), (peer::Reply{1, 1, 2, ""}));
  EXPECT_THAT(handler_.log, HasSubstr("existing one/c199;synchronized 1+200;"));
}

TEST_F(ConversationTest, each_chunk_of_a_large_state_is_echoed) {
  const std::string filler = peer::text(99, std::string(100'000, 'x'));
  const auto more = reply_to(peer::call(1, "Synchronize", large_state() + peer::number(3, 1)));
  EXPECT_EQ(more.at(0), (peer::Reply{1, 1, 2, peer::text(2, std::string("\x10\x01", 2))}));
  EXPECT_FALSE(conversation_->synchronized());
  EXPECT_EQ(reply_to(peer::call(3, "Synchronize", filler)).at(0), (peer::Reply{1, 3, 2, ""}));
  EXPECT_TRUE(conversation_->synchronized());
}

TEST_F(ConversationTest, a_large_malformed_state_is_refused_and_may_come_again) {
  const std::string bad = large_state() + std::string("\x0a\x09x", 3);
  EXPECT_EQ(peer::status_code(reply_to(peer::call(1, "Synchronize", bad)).at(0).data), 3);
  const std::string twice =
      peer::envelope("Synchronize", large_state()) + peer::text(3, large_state());
  EXPECT_EQ(peer::status_code(reply_to(peer::frame(1, peer::message(3, 1, twice))).at(0).data), 3);
  const std::string renamed =
      peer::envelope("Synchronize", large_state()) + peer::text(2, "CreateContainer");
  EXPECT_EQ(peer::status_code(reply_to(peer::frame(1, peer::message(5, 1, renamed))).at(0).data),
            3);
  EXPECT_THAT(handler_.log, Not(HasSubstr("synchronized")));
  EXPECT_EQ(reply_to(peer::call(7, "Synchronize", large_state())).at(0).data, "");
  EXPECT_THAT(handler_.log, HasSubstr("synchronized 1+200;"));
}

TEST_F(ConversationTest, a_large_state_on_a_stale_stream_is_refused_unread) {
  EXPECT_EQ(reply_to(peer::call(5, "StateChange", "")).size(), 1U);
  const auto replies = reply_to(peer::call(5, "Synchronize", large_state()));
  EXPECT_EQ(peer::status_code(replies.at(0).data), 3);
  EXPECT_EQ(handler_.log, "");
}

TEST_F(ConversationTest, a_large_state_with_its_payload_first_is_taken_too) {
  const std::string envelope = peer::text(3, large_state()) +
                               peer::text(1, "nri.pkg.api.v1alpha1.Plugin") +
                               peer::text(2, "Synchronize");
  EXPECT_EQ(reply_to(peer::frame(1, peer::message(1, 1, envelope))).at(0).data, "");
  EXPECT_THAT(handler_.log, HasSubstr("synchronized 1+200;"));
}

TEST_F(ConversationTest, a_large_container_request_lies_in_one_piece) {
  handshake();
  const std::string variable(300'000, 'v');
  handler_.on_create = [&](const container::Request& request, const RecordingHandler::Done& done) {
    EXPECT_EQ(request.env.back(), variable);
    done({});
  };
  const auto call = peer::call(5, "CreateContainer", peer::create("c1", peer::text(8, variable)));
  EXPECT_EQ(reply_to(call).at(0), (peer::Reply{1, 5, 2, ""}));
}

TEST_F(ConversationTest, a_large_container_request_is_not_kept) {
  handshake();
  const auto in_use = [] {
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  handler_.on_create = [](const container::Request& /*request*/,
                          const RecordingHandler::Done& done) { done({}); };
  constexpr std::size_t kLarge = std::size_t{2} << 20U;
  for (std::uint32_t stream = 5; stream < 11; stream += 2) {
    const auto call = peer::call(stream, "CreateContainer",
                                 peer::create("c1", peer::text(8, std::string(kLarge, 'v'))));
    const auto before = in_use();
    reply_to(call);
    EXPECT_LT(in_use(), before + kLarge / 2) << stream;
  }
}

TEST_F(ConversationTest, a_handler_may_close_it_in_the_middle_of_a_large_state) {
  handler_.on_existing = [this] { conversation_->close(); };
  EXPECT_TRUE(reply_to(peer::call(1, "Synchronize", large_state())).empty());
  EXPECT_EQ(handler_.log, "existing one/c0;");
  EXPECT_FALSE(conversation_->synchronized());
}

TEST_F(ConversationTest, an_adjustment_is_answered_on_the_stream_of_its_request) {
  handshake();
  handler_.answer.adjustment = sample_adjustment();
  const auto replies = reply_to(peer::call(9, "CreateContainer", peer::create("c1")));
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].stream, 9U);
  EXPECT_THAT(replies[0].data, HasSubstr("/dev/infiniband/uverbs0"));
  EXPECT_EQ(handler_.log, "create c1;");
  EXPECT_EQ(stats_.requests, 1U);
}

TEST_F(ConversationTest, nothing_to_add_is_an_empty_response) {
  handshake();
  EXPECT_EQ(reply_to(peer::call(5, "CreateContainer", peer::create("c1"))).at(0),
            (peer::Reply{1, 5, 2, ""}));
  handler_.answer.adjustment = container::Adjustment{};
  EXPECT_EQ(reply_to(peer::call(7, "CreateContainer", peer::create("c1"))).at(0),
            (peer::Reply{1, 7, 2, ""}));
}

TEST_F(ConversationTest, a_large_answer_is_a_header_frame_and_a_body_frame) {
  handshake();
  handler_.answer.adjustment = container::Adjustment{
      .devices = {}, .mounts = {}, .env = {{"K", std::string(4100, 'v')}}, .memlock_bytes = {}};
  ASSERT_TRUE(conversation_->receive(peer::call(5, "CreateContainer", peer::create("c1"))));
  const std::string variable = peer::text(1, "K") + peer::text(2, std::string(4100, 'v'));
  const std::string body = peer::text(2, peer::text(1, peer::text(4, variable)));
  const std::string header =
      peer::be32(static_cast<std::uint32_t>(body.size())) + std::string("\0\0\0\5\2\0", 6);
  EXPECT_EQ(trunk_, peer::frame(1, header) + peer::frame(1, body));
}

TEST_F(ConversationTest, an_answer_above_4_mebibytes_becomes_an_error) {
  handshake();
  handler_.answer.adjustment = container::Adjustment{.devices = {},
                                                     .mounts = {},
                                                     .env = {{"K", std::string(4U << 20U, 'v')}},
                                                     .memlock_bytes = {}};
  const auto replies = reply_to(peer::call(5, "CreateContainer", peer::create("c1")));
  EXPECT_EQ(peer::status_code(replies.at(0).data), 8);
}

TEST_F(ConversationTest, a_refusal_is_failed_precondition_with_its_text) {
  handshake();
  handler_.answer.refusal = "railhead: no usable NIC";
  const auto replies = reply_to(peer::call(5, "CreateContainer", peer::create("c1")));
  EXPECT_EQ(replies.at(0).data,
            peer::text(1, peer::number(1, 9) + peer::text(2, "railhead: no usable NIC")));
}

TEST_F(ConversationTest, the_own_deadline_answers_for_a_handler_that_does_not) {
  handshake();
  RecordingHandler::Done late;
  handler_.on_create = [&late](const container::Request&, RecordingHandler::Done done) {
    late = std::move(done);
  };
  EXPECT_TRUE(reply_to(peer::call(5, "CreateContainer", peer::create("c1"), 1'000'000)).empty());
  loop_.run();
  EXPECT_EQ(handler_.log, "create c1;deadline c1;");
  EXPECT_EQ(peer::take_replies(trunk_).at(0), (peer::Reply{1, 5, 2, ""}));
  EXPECT_EQ(stats_.deadlines_missed, 1U);
  late(CreateAnswer{sample_adjustment(), {}});
  EXPECT_EQ(trunk_, "");
}

TEST_F(ConversationTest, the_deadline_is_a_share_of_the_configured_timeout_too) {
  reply_to(peer::call(1, "Configure", peer::configure("v2.4.2", 4)));
  handler_.on_create = [](const container::Request&, RecordingHandler::Done) {};
  reply_to(peer::call(3, "CreateContainer", peer::create("c1")));
  loop_.run();
  EXPECT_THAT(handler_.log, HasSubstr("deadline c1;"));
}

TEST_F(ConversationTest, an_answer_in_time_cancels_the_deadline) {
  handshake();
  RecordingHandler::Done later;
  handler_.on_create = [&later](const container::Request&, RecordingHandler::Done done) {
    later = std::move(done);
  };
  reply_to(peer::call(5, "CreateContainer", peer::create("c1")));
  later({});
  later({});
  EXPECT_EQ(peer::take_replies(trunk_).size(), 1U);
  loop_.run();
  EXPECT_EQ(handler_.log, "create c1;");
}

TEST_F(ConversationTest, requests_in_flight_keep_their_own_views) {
  handshake();
  std::vector<std::pair<const container::Request*, RecordingHandler::Done>> open;
  handler_.on_create = [&open](const container::Request& request, RecordingHandler::Done done) {
    open.emplace_back(&request, std::move(done));
  };
  for (std::uint32_t i = 0; i < 20; ++i) {
    reply_to(peer::call(5 + 2 * i, "CreateContainer", peer::create("c" + std::to_string(i))));
  }
  for (std::size_t i = 20; i-- > 0;) {
    EXPECT_EQ(open[i].first->id, "c" + std::to_string(i));
    open[i].second({});
    EXPECT_EQ(peer::take_replies(trunk_).at(0).stream, 5 + 2 * i);
  }
  conversation_->close();
  loop_.run();
}

TEST_F(ConversationTest, a_request_outlives_its_conversation_as_long_as_its_done) {
  handshake();
  const container::Request* request = nullptr;
  RecordingHandler::Done done;
  handler_.on_create = [&](const container::Request& r, RecordingHandler::Done d) {
    request = &r;
    done = std::move(d);
  };
  reply_to(peer::call(5, "CreateContainer", peer::create("c1")));
  conversation_->close();
  conversation_.reset();
  loop_.run();
  EXPECT_EQ(request->id, "c1");
  done({});
  EXPECT_EQ(trunk_, "");
  EXPECT_EQ(handler_.log, "create c1;");
}

TEST_F(ConversationTest, more_unanswered_requests_than_any_runtime_sends_get_nothing) {
  handshake();
  std::vector<RecordingHandler::Done> open;
  handler_.on_create = [&open](const container::Request&, RecordingHandler::Done done) {
    open.push_back(std::move(done));
  };
  for (std::uint32_t i = 0; i < 256; ++i) {
    reply_to(peer::call(5 + 2 * i, "CreateContainer", peer::create("c")));
  }
  const auto replies = reply_to(peer::call(9999, "CreateContainer", peer::create("c")));
  EXPECT_EQ(replies.at(0), (peer::Reply{1, 9999, 2, ""})) << "an error would fail the container";
  EXPECT_THAT(handler_.log, HasSubstr("not understood: nri: too many"));
  conversation_->close();
}

TEST_F(ConversationTest, every_other_event_succeeds_by_request_and_by_state_change) {
  handshake();
  std::uint32_t stream = 5;
  for (const char* method :
       {"StateChange", "UpdatePodSandbox", "PostUpdatePodSandbox", "StopPodSandbox",
        "RemovePodSandbox", "PostCreateContainer", "StartContainer", "PostStartContainer",
        "UpdateContainer", "PostUpdateContainer", "StopContainer", "RemoveContainer",
        "ValidateContainerAdjustment"}) {
    const auto replies = reply_to(peer::call(stream, method, peer::create("c1")));
    EXPECT_EQ(replies.at(0), (peer::Reply{1, stream, 2, ""})) << method;
    stream += 2;
  }
  EXPECT_EQ(handler_.log, "");
}

TEST_F(ConversationTest, a_sandbox_that_runs_is_told_after_its_answer) {
  handshake();
  const auto pod = peer::pod("p1", "one");
  std::string answered;
  handler_.on_sandbox = [&] { answered = trunk_; };
  const std::string event = peer::number(1, 1) + peer::text(2, pod);
  for (const auto& call :
       {peer::call(5, "RunPodSandbox", peer::text(1, pod)), peer::call(7, "StateChange", event)}) {
    EXPECT_EQ(reply_to(call).size(), 1U);
    EXPECT_EQ(handler_.log, "runs default/one uid-one;");
    EXPECT_FALSE(answered.empty()) << "the runtime does not wait for what is done about it";
    handler_.log.clear();
    answered.clear();
  }
  const std::string stopped = peer::number(1, 2) + peer::text(2, pod);
  EXPECT_EQ(reply_to(peer::call(9, "StateChange", stopped)).size(), 1U);
  EXPECT_EQ(handler_.log, "");
}

TEST_F(ConversationTest, an_event_that_is_no_message_fails_no_pod) {
  handshake();
  const std::string bad("\x0a\x09x", 3);
  for (const std::uint32_t stream : {5U, 7U}) {
    const auto* method = stream == 5 ? "RunPodSandbox" : "StateChange";
    EXPECT_EQ(reply_to(peer::call(stream, method, bad)).at(0), (peer::Reply{1, stream, 2, ""}));
  }
  EXPECT_EQ(handler_.log, "");
}

TEST_F(ConversationTest, unknown_methods_and_services_are_unimplemented) {
  EXPECT_EQ(peer::status_code(reply_to(peer::call(1, "RequestFailure", "")).at(0).data), 12);
  const std::string other = peer::text(1, "grpc.health.v1.Health") + peer::text(2, "Configure");
  const auto replies = reply_to(peer::frame(1, peer::message(3, 1, other)));
  EXPECT_EQ(peer::status_code(replies.at(0).data), 12);
  EXPECT_EQ(stats_.protocol_errors, 0U);
}

TEST_F(ConversationTest, malformed_requests_are_invalid_arguments_and_end_no_session) {
  const std::string bad("\x0a\x09x", 3);
  EXPECT_EQ(peer::status_code(reply_to(peer::frame(1, peer::message(1, 1, bad))).at(0).data), 3);
  std::uint32_t stream = 3;
  for (const char* method : {"Configure", "Synchronize"}) {
    const auto replies = reply_to(peer::call(stream, method, bad));
    EXPECT_EQ(peer::status_code(replies.at(0).data), 3) << method;
    stream += 2;
  }
  EXPECT_EQ(stats_.protocol_errors, 3U);
  EXPECT_EQ(reply_to(peer::call(99, "CreateContainer", peer::create("c1"))).at(0).data, "");
  EXPECT_EQ(handler_.log, "create c1;");
}

TEST_F(ConversationTest, a_container_that_cannot_be_read_starts_without_anything) {
  handshake();
  const auto replies = reply_to(peer::call(5, "CreateContainer", std::string("\x0a\x09x", 3)));
  EXPECT_EQ(replies.at(0), (peer::Reply{1, 5, 2, ""})) << "an error would fail the container";
  EXPECT_EQ(stats_.protocol_errors, 1U);
  EXPECT_EQ(handler_.log, "not understood: nri: malformed container request;");
}

TEST_F(ConversationTest, annotations_of_any_size_do_not_keep_it_from_the_runtime) {
  reply_to(peer::registered() + peer::call(1, "Configure", peer::configure()));
  const auto annotation = peer::entry(6, "nics.railhead.io/pod", std::string(255'000, 'x'));
  std::uint32_t stream = 3;
  for (int i = 0; i < 70; ++i, stream += 2) {
    const auto id = "p" + std::to_string(i);
    reply_to(peer::call(stream, "Synchronize",
                        peer::text(1, peer::pod(id, id) + annotation) + peer::number(3, 1)));
  }
  EXPECT_EQ(reply_to(peer::call(stream, "Synchronize", "")).at(0).data, "");
  EXPECT_TRUE(conversation_->synchronized());
  const auto replies = reply_to(peer::call(stream + 2, "CreateContainer", peer::create("c1")));
  EXPECT_EQ(replies.size(), 1U);
  EXPECT_THAT(handler_.log, HasSubstr("create c1;"));
}

TEST_F(ConversationTest, stream_ids_that_are_even_or_do_not_increase_are_invalid) {
  EXPECT_EQ(peer::status_code(reply_to(peer::call(2, "StateChange", "")).at(0).data), 3);
  EXPECT_EQ(peer::status_code(reply_to(peer::call(7, "StateChange", "")).at(0).data), 0);
  EXPECT_EQ(peer::status_code(reply_to(peer::call(7, "StateChange", "")).at(0).data), 3);
  EXPECT_EQ(peer::status_code(reply_to(peer::call(5, "StateChange", "")).at(0).data), 3);
  EXPECT_EQ(peer::status_code(reply_to(peer::call(9, "StateChange", "")).at(0).data), 0);
}

TEST_F(ConversationTest, a_request_above_16_mebibytes_is_refused_and_passed_over) {
  const std::string header = peer::be32((16U << 20U) + 1) + std::string("\0\0\0\1\1\0", 6);
  EXPECT_EQ(peer::status_code(reply_to(peer::frame(1, header)).at(0).data), 8);
  EXPECT_TRUE(reply_to(peer::frame(1, std::string(16U << 20U, 'x'))).empty());
  EXPECT_EQ(reply_to(peer::frame(1, "x") + peer::call(3, "StateChange", "")).size(), 1U);
}

TEST_F(ConversationTest, streams_unknown_types_and_unknown_connections_are_ignored) {
  const std::string request = peer::message(1, 1, peer::envelope("StateChange", ""));
  EXPECT_TRUE(reply_to(peer::frame(1, peer::message(1, 3, "data"))).empty());
  EXPECT_TRUE(reply_to(peer::frame(1, peer::message(1, 200, "future"))).empty());
  EXPECT_TRUE(reply_to(peer::frame(1, peer::message(1, 2, ""))).empty());
  EXPECT_TRUE(reply_to(peer::frame(0, request) + peer::frame(17, request)).empty());
  EXPECT_TRUE(reply_to(peer::frame(1, "")).empty());
  EXPECT_EQ(reply_to(peer::frame(1, request)).size(), 1U);
}

TEST_F(ConversationTest, bytes_may_come_one_by_one) {
  const std::string bytes = peer::registered() + peer::call(1, "Configure", peer::configure()) +
                            peer::call(3, "Synchronize", "") +
                            peer::call(5, "CreateContainer", peer::create("c1"));
  for (const char byte : bytes) ASSERT_TRUE(conversation_->receive({&byte, 1}));
  EXPECT_EQ(handler_.log, "configured;synchronized 0+0;create c1;");
  EXPECT_EQ(peer::take_replies(trunk_).size(), 3U);
}

TEST_F(ConversationTest, a_frame_that_claims_4_gigabytes_ends_it) {
  const auto ended = conversation_->receive(peer::be32(1) + peer::be32(0xFFFFFFFFU));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::malformed);
}

TEST_F(ConversationTest, garbage_ends_it_or_is_ignored_but_calls_nobody) {
  std::string garbage;
  std::uint32_t state = 1;
  for (int i = 0; i < 100'000; ++i) {
    state = state * 1664525U + 1013904223U;
    garbage.push_back(static_cast<char>(state >> 24U));
  }
  EXPECT_FALSE(conversation_->receive(garbage));
  EXPECT_EQ(handler_.log, "");
}

TEST_F(ConversationTest, a_shutdown_is_answered_and_ends_it) {
  handshake();
  const auto ended = conversation_->receive(peer::call(5, "Shutdown", ""));
  EXPECT_FALSE(ended);
  EXPECT_EQ(peer::take_replies(trunk_).size(), 1U);
}

TEST_F(ConversationTest, fail_request_is_asked_for_by_option) {
  options_.fail_request = true;
  const auto replies = reply_to(peer::call(1, "Configure", peer::configure()));
  EXPECT_EQ(replies.at(0).data, peer::text(2, std::string("\x10\x09\x1a\x04\x08\x01\x10\x01", 8)));
}

}  // namespace
}  // namespace railhead::nri
