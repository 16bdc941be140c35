// SPDX-License-Identifier: Apache-2.0
#include "setup/lease_turn.h"

#include <deque>
#include <map>

#include <gmock/gmock.h>

#include "data/json.h"
#include "unit/manual_clock.h"

namespace railhead::setup::test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Leases of an API server, with its versions: a patch of another one is refused.
class LeaseServer {
 public:
  struct Object {
    std::string holder;
    unsigned version = 1;
  };

  Result<kube::Answer> ask(const kube::Request& request) {
    requests.push_back(std::string(kube::to_string(request.verb)));
    if (before) before();
    if (!next.empty()) {
      const auto answer = next.front();
      next.pop_front();
      if (answer) return *answer;
    }
    const auto name = request.target.substr(request.target.rfind('/') + 1);
    const auto at = leases.find(name);
    if (at == leases.end()) return kube::Answer{404, "", {}};
    auto& lease = at->second;
    if (request.verb == kube::Verb::patch) {
      const auto patch = data::Json::parse(request.body);
      if (patch["metadata"]["resourceVersion"] != std::to_string(lease.version))
        return kube::Answer{409, "", {}};
      const auto& holder = patch["spec"]["holderIdentity"];
      lease = {holder.is_null() ? "" : holder.get<std::string>(), lease.version + 1};
      if (loses_answer) {
        loses_answer = false;
        return Error{ErrorCode::timeout, "no whole answer"};
      }
    }
    const data::Json object = {
        {"kind", "Lease"},
        {"metadata", {{"resourceVersion", std::to_string(lease.version)}}},
        {"spec",
         {{"holderIdentity", lease.holder}, {"acquireTime", "2026-11-28T12:00:00.000000Z"}}}};
    return kube::Answer{200, object.dump(), {}};
  }

  void hold(const std::string& name, const std::string& holder) {
    leases[name] = {holder, leases[name].version + 1};
  }

  std::map<std::string, Object> leases{{"turn-0", {}}};
  /// In place of what it would say, one a request; absent: it says that.
  std::deque<std::optional<Result<kube::Answer>>> next;
  bool loses_answer = false;  ///< of the next patch, which is done all the same
  std::function<void()> before;
  std::vector<std::string> requests;
};

class LeaseTurnTest : public testing::Test {
 protected:
  LeaseTurn turn(const std::string& node = "a", bool beside_gpu_pods = false) {
    LeaseTurn::Outside outside;
    outside.ask = [this](const kube::Request& request) { return server_.ask(request); };
    outside.gpu_pods = [this] { return gpu_pods_; };
    outside.node_answers = [this] { return node_ ? node_() : Status(); };
    outside.say = [this](const std::string& text) {
      said_.push_back(text);
      if (on_said_) on_said_();
    };
    return {{leases_, node, beside_gpu_pods}, std::move(outside), clock_};
  }

  [[nodiscard]] std::string holder(const std::string& name = "turn-0") const {
    return server_.leases.at(name).holder;
  }

  seconds waited() { return std::chrono::duration_cast<seconds>(clock_.now().time_since_epoch()); }

  std::vector<kube::LeaseName> leases_{{"ns", "turn-0"}};
  LeaseServer server_;
  Result<std::vector<std::string>> gpu_pods_{std::vector<std::string>()};
  std::function<Status()> node_;
  std::vector<std::string> said_;
  std::function<void()> on_said_;
  railhead::test::ManualClock clock_;
};

TEST_F(LeaseTurnTest, is_taken_and_given_back) {
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  EXPECT_EQ(holder(), "a");
  ASSERT_TRUE(turn.take());
  ASSERT_TRUE(turn.give_back(""));
  EXPECT_EQ(holder(), "");
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(LeaseTurnTest, nothing_is_taken_by_who_gives_back_alone) {
  ASSERT_TRUE(turn().give_back(""));
  EXPECT_THAT(server_.requests, ElementsAre("GET"));
}

TEST_F(LeaseTurnTest, waits_while_another_node_has_it_and_says_who) {
  server_.hold("turn-0", "b");
  auto turn = this->turn();
  on_said_ = [this] { EXPECT_EQ(holder(), "b"); };
  int looks = 0;
  server_.before = [&] {
    if (++looks == 20) server_.hold("turn-0", "");
  };
  ASSERT_TRUE(turn.take());
  EXPECT_EQ(holder(), "a");
  ASSERT_THAT(said_, SizeIs(1));  // once
  for (const auto* part :
       {"\"b\"", "ns/turn-0", "2026-11-28T12:00:00.000000Z",
        R"(kubectl -n ns patch lease turn-0 --type=merge -p '{"spec":{"holderIdentity":null}}')"})
    EXPECT_THAT(said_[0], HasSubstr(part));
  EXPECT_GE(waited(), seconds(60));
}

TEST_F(LeaseTurnTest, a_node_that_does_not_come_back_stops_all_others_for_good) {
  node_ = [] { return Error{ErrorCode::unavailable, "nobody listens"}; };
  auto lost = turn("b");
  ASSERT_TRUE(lost.take());
  EXPECT_FALSE(lost.come_back());
  EXPECT_FALSE(lost.give_back(""));
  EXPECT_EQ(holder(), "b");
  const auto waited_for_it = waited();
  EXPECT_GE(waited_for_it, seconds(600));
  // Days later.
  int looks = 0;
  server_.before = [&] {
    ++looks;
    EXPECT_TRUE(looks > 10000 || holder() == "b");
    if (looks == 10000) server_.hold("turn-0", "");  // a person does
  };
  node_ = nullptr;
  auto other = turn("a");
  ASSERT_TRUE(other.take());
  EXPECT_GT(waited() - waited_for_it, std::chrono::hours(48));
}

TEST_F(LeaseTurnTest, goes_on_where_a_run_of_this_node_was_ended) {
  server_.hold("turn-0", "a");
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  EXPECT_THAT(server_.requests, ElementsAre("GET"));
  ASSERT_TRUE(turn.give_back(""));
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaseTurnTest, a_run_without_a_restart_gives_back_what_one_before_took) {
  server_.hold("turn-0", "a");
  ASSERT_TRUE(turn().give_back(""));
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaseTurnTest, is_kept_where_others_must_not_follow) {
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  EXPECT_FALSE(turn.give_back("a step failed"));
  EXPECT_EQ(holder(), "a");
  // Who has none keeps none.
  EXPECT_TRUE(this->turn("b").give_back("a step failed"));
}

TEST_F(LeaseTurnTest, of_two_who_take_it_at_once_one_has_it) {
  auto turn = this->turn();
  int request = 0;
  server_.before = [&] {
    if (++request == 2) server_.hold("turn-0", "b");  // between the look and the patch
    if (request == 5) server_.hold("turn-0", "");
  };
  ASSERT_TRUE(turn.take());
  EXPECT_THAT(server_.requests, ElementsAre("GET", "PATCH", "GET", "GET", "GET", "PATCH"));
  EXPECT_EQ(holder(), "a");
}

TEST_F(LeaseTurnTest, whose_answer_is_lost_is_found_as_ours) {
  server_.loses_answer = true;
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  EXPECT_EQ(holder(), "a");
  EXPECT_EQ(server_.leases["turn-0"].version, 2U);
}

TEST_F(LeaseTurnTest, whose_freeing_is_lost_is_not_taken_from_the_next) {
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  server_.loses_answer = true;
  int request = 0;
  server_.before = [&] {
    if (++request == 3) server_.hold("turn-0", "b");
  };
  ASSERT_TRUE(turn.give_back(""));
  EXPECT_EQ(holder(), "b");
}

TEST_F(LeaseTurnTest, somebody_took_it_away_meanwhile_and_it_stays_his) {
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  server_.hold("turn-0", "b");
  ASSERT_TRUE(turn.give_back(""));
  EXPECT_EQ(holder(), "b");
}

TEST_F(LeaseTurnTest, any_that_is_free_is_a_turn) {
  leases_ = {{"ns", "turn-0"}, {"ns", "gone"}, {"ns", "turn-1"}};
  server_.hold("turn-0", "b");
  server_.leases["turn-1"] = {};
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  EXPECT_EQ(holder("turn-1"), "a");
  EXPECT_EQ(holder("turn-0"), "b");
  // The one that it has counts, and not one that is free before it.
  server_.hold("turn-0", "");
  ASSERT_TRUE(this->turn().take());
  EXPECT_EQ(holder("turn-0"), "");
}

TEST_F(LeaseTurnTest, is_never_had_while_the_server_does_not_answer) {
  const Error away{ErrorCode::unavailable, "connection refused"};
  for (int i = 0; i < 50; ++i) server_.next.emplace_back(away);
  server_.next.emplace_back(kube::Answer{429, "", seconds(30)});
  server_.next.emplace_back(kube::Answer{503, "", {}});
  server_.next.emplace_back(std::nullopt);  // the look
  server_.next.emplace_back(away);          // the patch, which did not arrive
  on_said_ = [this] { EXPECT_EQ(holder(), ""); };
  auto turn = this->turn();
  ASSERT_TRUE(turn.take());
  EXPECT_EQ(holder(), "a");
  EXPECT_THAT(said_, SizeIs(4));
  EXPECT_GE(waited(), seconds(50 * 15));
}

TEST_F(LeaseTurnTest, is_not_had_by_who_has_no_right_to_it) {
  for (const unsigned status : {401U, 403U}) {
    server_.next.emplace_back(kube::Answer{status, "", {}});
    const auto refused = turn().take();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::denied);
    server_.next.emplace_back(std::nullopt);
    server_.next.emplace_back(kube::Answer{status, "", {}});
    EXPECT_FALSE(turn().take());
  }
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaseTurnTest, is_not_had_by_an_answer_that_is_none) {
  for (const auto* body : {"", "[]", "{}", "<html>", R"({"kind":"Lease","metadata":{}})",
                           R"({"kind":"Status","metadata":{"resourceVersion":"1"}})"}) {
    server_.next.emplace_back(kube::Answer{200, body, {}});
    const auto refused = turn().take();
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, ErrorCode::malformed) << body;
  }
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaseTurnTest, is_not_had_where_no_lease_is_there) {
  server_.leases.clear();
  EXPECT_FALSE(turn().take());
  EXPECT_TRUE(turn().give_back(""));  // nobody waits for it
}

TEST_F(LeaseTurnTest, is_refused_beside_pods_with_gpus_and_nothing_is_asked) {
  gpu_pods_ = std::vector<std::string>{"default/train-0"};
  const auto refused = turn().take();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("default/train-0"));
  EXPECT_THAT(server_.requests, IsEmpty());
  ASSERT_TRUE(turn("a", true).take());
}

TEST_F(LeaseTurnTest, is_refused_where_nobody_says_which_pods_hold_gpus) {
  gpu_pods_ = Error{ErrorCode::unavailable, "no kubelet"};
  EXPECT_FALSE(turn().take());
  EXPECT_THAT(server_.requests, IsEmpty());
}

TEST_F(LeaseTurnTest, a_pod_with_gpus_that_came_while_it_waited_counts) {
  server_.before = [this] {
    if (server_.requests.size() == 2) gpu_pods_ = std::vector<std::string>{"default/late"};
  };
  auto turn = this->turn();
  EXPECT_FALSE(turn.take());
  EXPECT_EQ(holder(), "a");
  ASSERT_TRUE(turn.give_back(""));
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaseTurnTest, the_node_is_back_when_it_answers_for_a_while) {
  int looks = 0;
  node_ = [&]() -> Status {
    ++looks;
    // It answers for a moment, and dies.
    if (looks == 3 || looks > 10) return {};
    return Error{ErrorCode::unavailable, "nobody listens"};
  };
  auto turn = this->turn();
  ASSERT_TRUE(turn.come_back());
  EXPECT_GE(looks, 15);
  EXPECT_THAT(said_, SizeIs(1));
}

TEST(PodsWithGpus, are_those_that_a_resource_or_a_claim_gave_one) {
  using container::PodHoldings;
  const std::vector<PodHoldings> pods = {
      {"b",
       "plugin",
       {{"main", {{"nvidia.com/gpu", {"GPU-1"}}}}, {"more", {{"amd.com/gpu", {"0"}}}}}},
      {"a", "claim", {{"main", {{"gpu.nvidia.com", {"node-1/gpu-0"}}}}}},
      {"a", "nic", {{"main", {{"rdma.io/hca", {"rdma-0"}}, {"dra.net", {"node-1/nic-0"}}}}}},
      {"a", "nothing", {{"main", {}}, {"side", {}}}},
      {"a", "mig", {{"main", {{"nvidia.com/mig-1g.5gb", {"MIG-1"}}}}}},
  };
  EXPECT_THAT(pods_with_gpus(pods, {"nvidia.com/gpu*", "nvidia.com/mig-*", "amd.com/gpu"}),
              ElementsAre("a/claim", "a/mig", "b/plugin"));
}

}  // namespace
}  // namespace railhead::setup::test
