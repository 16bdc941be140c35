// SPDX-License-Identifier: Apache-2.0
#include "bench/session.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "bench/messages.h"

namespace railhead::bench {
namespace {

constexpr const char* kSessionKey = "0123456789abcdef";

/// A side without NICs: its lanes end at once, as they are told to.
class FakeEndpoint : public Endpoint {
 public:
  Outcome opens;
  Status valid = Status();
  Status ring_is_valid = Status();
  std::optional<Error> lane_fails;
  bool never_ends = false;
  std::uint64_t messages = 10;
  unsigned stops = 0;

  Outcome make_lanes(const Plan& plan, const std::vector<std::string>& wanted) override {
    wanted_ = wanted;
    lanes_ = plan.lanes;
    return opens;
  }

  [[nodiscard]] std::vector<LaneAddress> addresses() const override {
    LaneAddress address;
    address.pairs = {{17, 1}};
    return std::vector(lanes_, address);
  }

  Status connect(const std::vector<LaneAddress>&) override { return {}; }

  Status prepare(const Step&, Part) override { return {}; }

  void start(const Step&, Part) override {
    if (!never_ends) end();
  }

  [[nodiscard]] int done_descriptor() const override { return done_.get(); }

  void stop() override { ++stops; }

  Result<std::vector<LaneResult>> finish() override {
    std::uint64_t count = 0;
    (void)!::read(done_.get(), &count, sizeof count);
    if (lane_fails) return *lane_fails;
    LaneResult lane;
    lane.messages = messages;
    return std::vector(lanes_, lane);
  }

  [[nodiscard]] std::uint64_t moved_bytes() const override { return 0; }

  Status validate(const Step& step, Part) override { return step.ring ? ring_is_valid : valid; }

  [[nodiscard]] data::Json evidence() override { return {{"host", "fake"}}; }

  std::vector<std::string> wanted_;

 private:
  void end() {
    const std::uint64_t one = 1;
    (void)!::write(done_.get(), &one, sizeof one);
  }

  host::UniqueFd done_ = host::UniqueFd(::eventfd(0, EFD_NONBLOCK));
  std::size_t lanes_ = 1;
};

struct Ended {
  SessionResult client;
  Outcome server;
};

std::array<host::UniqueFd, 2> connected_sockets() {
  std::array<int, 2> sockets{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  return {host::UniqueFd(sockets[0]), host::UniqueFd(sockets[1])};
}

Ended run(FakeEndpoint& client, std::unique_ptr<FakeEndpoint> server,
          const std::vector<Step>& steps = {Step()}, const Plan& plan = {}) {
  auto sockets = connected_sockets();
  host::SystemClock clock;
  Ended ended;
  std::thread other([&] {
    auto channel = Channel::open(std::move(sockets[1]), Role::server, kSessionKey, clock, -1);
    ended.server = serve(*channel, [&] { return std::move(server); });
  });
  {
    auto channel = Channel::open(std::move(sockets[0]), Role::client, kSessionKey, clock, -1);
    ended.client = run_client(*channel, client, plan, {}, steps, [](const Step&, std::uint64_t) {});
  }
  other.join();
  return ended;
}

TEST(Session, ends_well_with_the_evidence_of_both_sides) {
  FakeEndpoint client;
  Step send;
  send.operation = Operation::send;
  const auto ended = run(client, std::make_unique<FakeEndpoint>(), {Step(), send});
  EXPECT_EQ(ended.client.outcome.state, State::ok) << ended.client.outcome.why;
  EXPECT_EQ(ended.server.state, State::ok) << ended.server.why;
  EXPECT_EQ(ended.client.steps.size(), 2U);
  EXPECT_EQ(ended.client.there["host"], "fake");
}

TEST(Session, after_each_step_messages_are_compared_one_by_one) {
  FakeEndpoint client;
  auto server = std::make_unique<FakeEndpoint>();
  server->ring_is_valid = Error{ErrorCode::malformed, "message 3: byte 7 is not what was sent"};
  const auto wrong = run(client, std::move(server));
  EXPECT_EQ(wrong.client.outcome.state, State::data_mismatch);
  const auto right = run(client, std::make_unique<FakeEndpoint>());
  EXPECT_EQ(right.client.steps.at(0).messages_compared, 40U);  // four passes
}

TEST(Session, a_nic_in_use_at_the_server_is_named_at_the_client) {
  FakeEndpoint client;
  auto server = std::make_unique<FakeEndpoint>();
  server->opens = {State::in_use, "mlx5_0 is in use"};
  const auto ended = run(client, std::move(server));
  EXPECT_EQ(ended.client.outcome.state, State::in_use);
  EXPECT_EQ(ended.client.outcome.why, "the other side: mlx5_0 is in use");
}

TEST(Session, wrong_bytes_at_the_server_are_a_data_mismatch_at_the_client) {
  FakeEndpoint client;
  auto server = std::make_unique<FakeEndpoint>();
  server->valid = Error{ErrorCode::malformed, "byte 7 is not what was sent"};
  const auto ended = run(client, std::move(server));
  EXPECT_EQ(ended.client.outcome.state, State::data_mismatch);
  EXPECT_EQ(exit_code(ended.client.outcome.state), 1);
  EXPECT_EQ(ended.server.state, State::data_mismatch);
  EXPECT_TRUE(ended.client.steps.empty());
}

TEST(Session, messages_that_did_not_arrive_are_a_data_mismatch) {
  FakeEndpoint client;
  client.messages = 11;
  Step send;
  send.operation = Operation::send;
  const auto ended = run(client, std::make_unique<FakeEndpoint>(), {send});
  EXPECT_EQ(ended.client.outcome.state, State::data_mismatch);
}

TEST(Session, a_queue_pair_in_error_at_the_client_ends_both_sides) {
  FakeEndpoint client;
  client.lane_fails = Error{ErrorCode::unavailable, "rxe0: queue pair 17: retry exceeded"};
  const auto ended = run(client, std::make_unique<FakeEndpoint>());
  EXPECT_EQ(ended.client.outcome.state, State::transfer_failed);
  EXPECT_EQ(ended.server.state, State::transfer_failed);
}

TEST(Session, a_lane_that_fails_at_the_server_stops_the_client) {
  FakeEndpoint client;
  client.never_ends = true;
  auto server = std::make_unique<FakeEndpoint>();
  server->lane_fails = Error{ErrorCode::unavailable, "rxe1: queue pair 18: flushed"};
  Step send;
  send.operation = Operation::send;
  const auto ended = run(client, std::move(server), {send});
  EXPECT_EQ(ended.client.outcome.state, State::transfer_failed);
  EXPECT_EQ(client.stops, 1U);
}

TEST(Session, a_peer_that_dies_in_a_transfer_is_lost_and_the_lanes_stop) {
  auto sockets = connected_sockets();
  host::SystemClock clock;
  FakeEndpoint client;
  client.never_ends = true;
  std::thread other([&] {
    auto channel = Channel::open(std::move(sockets[1]), Role::server, kSessionKey, clock, -1);
    (void)channel->receive();
    (void)channel->send(addresses_message({LaneAddress()}));
    (void)channel->receive();
    (void)channel->send(message("connected"));
    (void)channel->receive();
    (void)channel->send(message("go"));
  });
  auto channel = Channel::open(std::move(sockets[0]), Role::client, kSessionKey, clock, -1);
  const auto result =
      run_client(*channel, client, {}, {}, {Step()}, [](const Step&, std::uint64_t) {});
  other.join();
  EXPECT_EQ(result.outcome.state, State::peer_lost);
  EXPECT_EQ(exit_code(result.outcome.state), 2);
  EXPECT_EQ(client.stops, 1U);
}

TEST(Session, a_signal_stops_the_lanes) {
  auto sockets = connected_sockets();
  host::SystemClock clock;
  FakeEndpoint client;
  client.never_ends = true;
  const host::UniqueFd signal(::eventfd(0, EFD_NONBLOCK));
  Outcome server;
  std::thread other([&] {
    auto channel = Channel::open(std::move(sockets[1]), Role::server, kSessionKey, clock, -1);
    server = serve(*channel, [] { return std::make_unique<FakeEndpoint>(); });
  });
  auto channel =
      Channel::open(std::move(sockets[0]), Role::client, kSessionKey, clock, signal.get());
  const auto result =
      run_client(*channel, client, {}, {}, {Step()}, [&](const Step&, std::uint64_t) {
        const std::uint64_t one = 1;
        (void)!::write(signal.get(), &one, sizeof one);
      });
  other.join();
  EXPECT_EQ(result.outcome.state, State::interrupted);
  EXPECT_EQ(server.state, State::interrupted);
}

TEST(Session, a_client_goes_on_after_a_kind_of_memory_that_is_not_there) {
  auto sockets = connected_sockets();
  host::SystemClock clock;
  unsigned made = 0;
  Outcome server;
  std::thread other([&] {
    auto channel = Channel::open(std::move(sockets[1]), Role::server, kSessionKey, clock, -1);
    server = serve(*channel, [&] {
      auto endpoint = std::make_unique<FakeEndpoint>();
      if (made++ == 0) endpoint->opens = {State::unsupported, "no DMA-BUF"};
      return endpoint;
    });
  });
  {
    auto channel = Channel::open(std::move(sockets[0]), Role::client, kSessionKey, clock, -1);
    const auto session = [&] {
      FakeEndpoint endpoint;
      return run_client(*channel, endpoint, {}, {}, {Step()}, [](const Step&, std::uint64_t) {})
          .outcome.state;
    };
    EXPECT_EQ(session(), State::unsupported);
    EXPECT_EQ(session(), State::ok);
  }
  other.join();
  EXPECT_EQ(server.state, State::ok);
}

TEST(Messages, an_offer_above_a_limit_is_refused) {
  Plan plan;
  plan.queue_pairs = kMaxQueuePairs;
  plan.max_size_bytes = kMaxSize;
  const auto value = data::parse_json(data::to_json_text(offer_message(plan)));
  EXPECT_FALSE(parse_offer(*value));
}

TEST(Messages, what_is_written_is_what_is_read) {
  Plan plan;
  plan.remote_nics = {"mlx5_0", "mlx5_1:2"};
  plan.lanes = 2;
  plan.memory = Memory::gpu_dmabuf;
  EXPECT_EQ(parse_offer(*data::parse_json(data::to_json_text(offer_message(plan)))).value(), plan);
  LaneAddress lane;
  lane.pairs = {{17, 5}, {18, 0xffffff}};
  lane.gid = GidBytes{0xfe, 0x80};
  lane.address = ~std::uint64_t{0};
  lane.length = 128;
  lane.needs_gid = true;
  auto spare = lane;
  spare.needs_gid = false;
  auto none = spare;
  none.gid.reset();
  const std::vector<LaneAddress> lanes{lane, spare, none};
  EXPECT_EQ(
      parse_addresses(*data::parse_json(data::to_json_text(addresses_message(lanes)))).value(),
      lanes);
  Step step;
  step.operation = Operation::send;
  step.seed = ~std::uint64_t{0};
  step.rate_cap_bps = 10'000'000'000;
  EXPECT_EQ(parse_step(*data::parse_json(data::to_json_text(step_message(step)))).value(), step);
}

}  // namespace
}  // namespace railhead::bench
