// SPDX-License-Identifier: Apache-2.0
#include "kubelet/registrar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>

#include "host/input_file.h"
#include "pluginregistration.grpc.pb.h"
#include "unit/host/temporary_directory.h"
#include "unit/kubelet/fake_kubelet.h"
#include "unit/manual_clock.h"

namespace railhead::kubelet {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* kName = "rdma.io/hca";

using Kubelet = test::FakeKubelet;

class NoDecision final : public Resource {
 public:
  std::vector<std::string> prefer(const Preference& /*preference*/) override { return {}; }

  Result<Grant> allocate(const std::vector<std::string>& /*ids*/) override { return Grant{}; }

  Status pre_start(const std::vector<std::string>& /*ids*/) override { return {}; }
};

/// Where a kubelet finds the sockets of plugins.
std::string registry_beside(const std::string& plugin_folder) {
  return plugin_folder.substr(0, plugin_folder.rfind('/')) + "/plugins_registry";
}

/// What a kubelet says to a plugin that it found and does not take.
void refuse_found(const std::string& socket, const std::string& why) {
  const auto channel = grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  pluginregistration::RegistrationStatus status;
  status.set_error(why);
  pluginregistration::RegistrationStatusResponse heard;
  const auto stub = pluginregistration::Registration::NewStub(channel);
  EXPECT_TRUE(stub->NotifyRegistrationStatus(&context, status, &heard).ok());
}

/// An agent whose thread is the test's.
class Agent {
 public:
  explicit Agent(const std::string& folder, Route route = Route::enrol)
      : box_(std::move(loop::Mailbox::open()).value()),
        pod_resources_(folder + "/kubelet.sock", *box_),
        registrar_(std::in_place, options(folder, route),
                   Registrar::Links{*box_, clock_, pod_resources_},
                   [this](const ResourceStatus& status) { last_ = status; }) {
    registrar_->offer({kName}, decision_, {{"rdma-0", true, {}}, {"rdma-1", true, {}}});
  }

  /// Lets time pass and messages arrive until this is so.
  bool until(const std::function<bool()>& so) {
    for (int round = 0; round < 2000 && !so(); ++round) {
      clock_.advance(std::chrono::milliseconds(100));
      registrar_->tick();
      // Messages come from real threads: on a busy machine the clock must not run away from them.
      pollfd wanted{box_->descriptor(), POLLIN, 0};
      ::poll(&wanted, 1, 1);
      box_->run();
    }
    return so();
  }

  bool until(RegistrationState state) {
    return until([&] { return last_.state == state; });
  }

  void end() { registrar_.reset(); }

  [[nodiscard]] std::chrono::steady_clock::time_point now() { return clock_.now(); }

  Registrar& registrar() { return *registrar_; }

  [[nodiscard]] const ResourceStatus& last() const { return last_; }

 private:
  static RegistrarOptions options(const std::string& folder, Route route) {
    RegistrarOptions options;
    options.plugin_folder = folder;
    options.registry_folder = registry_beside(folder);
    options.route = route;
    return options;
  }

  railhead::test::ManualClock clock_;
  NoDecision decision_;
  ResourceStatus last_;
  std::unique_ptr<loop::Mailbox> box_;
  PodResources pod_resources_;
  std::optional<Registrar> registrar_;
};

class RegistrarTest : public testing::Test {
 protected:
  railhead::test::TemporaryDirectory directory_;
  std::string folder_ = directory_ / "device-plugins";

  RegistrarTest() { std::filesystem::create_directory(folder_); }
};

TEST_F(RegistrarTest, waits_for_a_kubelet_and_is_enrolled_when_it_comes) {
  Agent agent(folder_);
  EXPECT_TRUE(agent.until(RegistrationState::no_kubelet));
  Kubelet kubelet(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled)) << agent.last().detail;
  EXPECT_EQ(kubelet.registrations, 1);
  EXPECT_TRUE(agent.until([&] { return kubelet.devices(kName) == 2; }));
}

TEST_F(RegistrarTest, a_folder_that_appears_later_is_waited_for) {
  std::filesystem::remove(folder_);
  Agent agent(folder_);
  EXPECT_TRUE(agent.until(RegistrationState::no_kubelet));
  std::filesystem::create_directory(folder_);
  Kubelet kubelet(folder_);
  EXPECT_TRUE(agent.until(RegistrationState::enrolled)) << agent.last().detail;
}

TEST_F(RegistrarTest, a_kubelet_that_restarts_is_told_again) {
  Agent agent(folder_);
  auto kubelet = std::make_unique<Kubelet>(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled));
  for (int round = 0; round < 5; ++round) {
    kubelet.reset();
    // As kubelets do: every socket in the folder goes, then comes theirs.
    std::filesystem::remove(socket_path(folder_, kName));
    ASSERT_TRUE(agent.until(RegistrationState::no_kubelet));
    kubelet = std::make_unique<Kubelet>(folder_);
    ASSERT_TRUE(agent.until(RegistrationState::enrolled)) << agent.last().detail;
    EXPECT_EQ(kubelet->registrations, 1);
  }
}

TEST_F(RegistrarTest, a_new_kubelet_is_registered_with_before_a_hung_one_answers) {
  Kubelet hung(folder_);
  hung.stall(true);
  Agent agent(folder_);
  ASSERT_TRUE(agent.until([&] { return hung.registrations == 1; }));
  std::filesystem::remove(folder_ + "/kubelet.sock");
  Kubelet fresh(folder_);
  ASSERT_TRUE(agent.until([&] { return fresh.registrations == 1; }));
  EXPECT_TRUE(agent.until(RegistrationState::enrolled)) << agent.last().detail;
}

TEST_F(RegistrarTest, a_refusal_is_shown_and_tried_again) {
  Kubelet kubelet(folder_);
  kubelet.refuses = true;
  Agent agent(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::refused));
  EXPECT_THAT(agent.last().detail, HasSubstr("not this name"));
  kubelet.refuses = false;
  EXPECT_TRUE(agent.until(RegistrationState::enrolled));
}

TEST_F(RegistrarTest, a_list_that_is_not_watched_any_more_is_no_registration) {
  Kubelet kubelet(folder_);
  Agent agent(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled));
  kubelet.close_lists();
  EXPECT_TRUE(agent.until([&] { return kubelet.registrations == 2; }));
  EXPECT_TRUE(agent.until(RegistrationState::enrolled));
}

TEST_F(RegistrarTest, a_kubelet_that_drops_each_list_is_told_ever_more_rarely) {
  Kubelet kubelet(folder_);
  Agent agent(folder_);
  for (int seconds_gone = 0; seconds_gone < 60; ++seconds_gone) {
    const auto before = agent.now();
    (void)agent.until([&] { return agent.now() - before >= seconds(1); });
    kubelet.close_lists();
  }
  EXPECT_GT(kubelet.registrations, 3);
  EXPECT_LT(kubelet.registrations, 20);
}

TEST_F(RegistrarTest, who_is_refused_serves_on_a_new_socket_at_the_next_try) {
  Kubelet kubelet(folder_);
  kubelet.refuses = true;  // as one does that cannot connect to us
  Agent agent(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::refused));
  const auto first = host::identity_of(socket_path(folder_, kName));
  EXPECT_TRUE(agent.until([&] {
    const auto now = host::identity_of(socket_path(folder_, kName));
    return now && now != first;
  }));
  kubelet.refuses = false;
  EXPECT_TRUE(agent.until(RegistrationState::enrolled));
}

TEST_F(RegistrarTest, who_was_not_found_is_there_to_be_found_again) {
  std::filesystem::create_directory(registry_beside(folder_));
  const auto socket = socket_path(registry_beside(folder_), kName);
  Agent agent(folder_, Route::found);
  ASSERT_TRUE(agent.until([&] { return host::identity_of(socket).has_value(); }));
  const auto first = host::identity_of(socket);
  EXPECT_TRUE(agent.until([&] {
    const auto now = host::identity_of(socket);
    return now && now != first;
  })) << "nobody has found it for half a minute";
}

TEST_F(RegistrarTest, a_lock_that_is_lost_ends_what_is_served) {
  Kubelet kubelet(folder_);
  Agent agent(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled));
  EXPECT_TRUE(agent.registrar().holds());
  std::filesystem::remove(folder_ + "/railhead.lock");
  std::filesystem::create_directory(folder_ + "/railhead.lock");
  ASSERT_TRUE(agent.until(RegistrationState::not_served));
  EXPECT_FALSE(agent.registrar().holds());
  EXPECT_FALSE(std::filesystem::exists(socket_path(folder_, kName)));
  std::filesystem::remove(folder_ + "/railhead.lock");
  EXPECT_TRUE(agent.until(RegistrationState::enrolled)) << agent.last().detail;
}

TEST_F(RegistrarTest, a_kubelet_that_does_not_count_the_resource_is_told_again) {
  Kubelet kubelet(folder_);
  Agent agent(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled));
  EXPECT_TRUE(agent.until([&] { return kubelet.accounts >= 2; }));
  EXPECT_EQ(kubelet.registrations, 1);
  kubelet.counts = false;
  EXPECT_TRUE(agent.until([&] { return kubelet.registrations >= 2; }));
  kubelet.counts = true;
  EXPECT_TRUE(agent.until(RegistrationState::enrolled));
}

TEST_F(RegistrarTest, a_pool_that_was_ill_at_the_count_is_not_registered_again) {
  Kubelet kubelet(folder_);
  NoDecision decision;
  Agent agent(folder_);
  agent.registrar().offer({"rdma.io/ill"}, decision, {{"a", false, {}}});
  kubelet.leave_out("rdma.io/ill");
  kubelet.hold_accounts(true);
  ASSERT_TRUE(agent.until([&] { return kubelet.accounts == 1; }));
  agent.registrar().publish("rdma.io/ill", {{"a", true, {}}});
  kubelet.leave_out("");
  kubelet.hold_accounts(false);
  ASSERT_TRUE(agent.until([&] { return kubelet.accounts >= 3; }));
  EXPECT_EQ(kubelet.registrations, 2) << "once for each";
}

TEST_F(RegistrarTest, a_pool_refused_for_good_does_not_stop_looking_after_others) {
  Kubelet kubelet(folder_);
  kubelet.refused = "rdma.io/refused";
  NoDecision decision;
  Agent agent(folder_);
  agent.registrar().offer({kubelet.refused}, decision, {{"a", true, {}}});
  ASSERT_TRUE(agent.until([&] { return kubelet.accounts >= 1; }));
  EXPECT_EQ(kubelet.registrations, 1);
  kubelet.counts = false;
  EXPECT_TRUE(agent.until([&] { return kubelet.registrations >= 2; }));
}

TEST_F(RegistrarTest, of_two_agents_one_stands_by_until_the_other_has_gone) {
  Kubelet kubelet(folder_);
  Agent first(folder_);
  ASSERT_TRUE(first.until(RegistrationState::enrolled));
  Agent second(folder_);
  ASSERT_TRUE(second.until(RegistrationState::standing_by));
  EXPECT_TRUE(second.registrar().stands_by());
  EXPECT_EQ(kubelet.registrations, 1);
  first.end();
  EXPECT_FALSE(std::filesystem::exists(socket_path(folder_, kName)));
  ASSERT_TRUE(second.until(RegistrationState::enrolled)) << second.last().detail;
  EXPECT_EQ(kubelet.registrations, 2);
}

TEST_F(RegistrarTest, two_agents_to_be_found_need_no_plugin_folder) {
  std::filesystem::remove(folder_);
  std::filesystem::create_directory(registry_beside(folder_));
  const auto socket = socket_path(registry_beside(folder_), kName);
  Agent first(folder_, Route::found);
  ASSERT_TRUE(first.until([&] { return host::identity_of(socket).has_value(); }));
  const auto own = host::identity_of(socket);
  Agent second(folder_, Route::found);
  ASSERT_TRUE(second.until(RegistrationState::standing_by));
  EXPECT_EQ(host::identity_of(socket), own);
}

TEST_F(RegistrarTest, a_refusal_of_who_was_found_is_shown) {
  std::filesystem::create_directory(registry_beside(folder_));
  const auto socket = socket_path(registry_beside(folder_), kName);
  Agent agent(folder_, Route::found);
  ASSERT_TRUE(agent.until([&] { return host::identity_of(socket).has_value(); }));
  refuse_found(socket, "not this name");
  ASSERT_TRUE(agent.until(RegistrationState::refused));
  EXPECT_EQ(agent.last().detail, "not this name");
}

TEST_F(RegistrarTest, a_folder_that_was_made_anew_is_locked_anew) {
  auto kubelet = std::make_unique<Kubelet>(folder_);
  Agent agent(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled));
  kubelet.reset();
  std::filesystem::remove_all(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::no_kubelet));
  std::filesystem::create_directory(folder_);
  kubelet = std::make_unique<Kubelet>(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled)) << agent.last().detail;
  Agent second(folder_);
  EXPECT_TRUE(second.until(RegistrationState::standing_by));
}

TEST_F(RegistrarTest, who_lost_the_lock_with_its_folder_serves_nothing_there) {
  Agent agent(folder_);
  auto kubelet = std::make_unique<Kubelet>(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::enrolled));
  kubelet.reset();
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directory(folder_);
  const auto other = host::FileLock::try_take(folder_ + "/railhead.lock");
  ASSERT_TRUE(other && *other);
  kubelet = std::make_unique<Kubelet>(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::standing_by));
  EXPECT_EQ(kubelet->registrations, 0);
  EXPECT_FALSE(std::filesystem::exists(socket_path(folder_, kName)));
}

TEST_F(RegistrarTest, a_tick_is_far_away_only_where_all_is_quiet) {
  Agent agent(folder_);
  ASSERT_TRUE(agent.until(RegistrationState::no_kubelet));
  ASSERT_TRUE(agent.until([&] { return agent.registrar().until_tick() >= seconds(10); }));
  Kubelet kubelet(folder_);
  kubelet.refuses = true;
  ASSERT_TRUE(agent.until(RegistrationState::refused));
  EXPECT_LE(agent.registrar().until_tick(), seconds(1));
  kubelet.refuses = false;
  ASSERT_TRUE(agent.until(RegistrationState::enrolled));
  EXPECT_EQ(agent.registrar().until_tick(), seconds(10));
  Agent second(folder_);
  ASSERT_TRUE(second.until(RegistrationState::standing_by));
  EXPECT_EQ(second.registrar().until_tick(), seconds(1));
}

TEST_F(RegistrarTest, the_file_of_an_agent_that_was_killed_is_no_hindrance) {
  ASSERT_TRUE(host::write_file_atomic(folder_ + "/railhead.lock", ""));
  std::filesystem::create_symlink("nowhere", socket_path(folder_, kName));
  Kubelet kubelet(folder_);
  Agent agent(folder_);
  EXPECT_TRUE(agent.until(RegistrationState::enrolled)) << agent.last().detail;
}

TEST(SocketPath, names_the_resource_and_never_grows_too_long) {
  EXPECT_EQ(socket_path("/f", "rdma.io/hca"), "/f/railhead-rdma.io_hca.sock");
  const std::string folder(60, 'f');
  const auto one = socket_path(folder, std::string(100, 'a') + "/x");
  const auto other = socket_path(folder, std::string(100, 'a') + "/y");
  EXPECT_LE(one.size(), 107U);
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace railhead::kubelet
