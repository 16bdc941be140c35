// SPDX-License-Identifier: Apache-2.0
#include "kubelet/device_plugin.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>

#include "deviceplugin.grpc.pb.h"
#include "kubelet/watch_list.h"
#include "pluginregistration.grpc.pb.h"
#include "unit/host/temporary_directory.h"
#include "unit/kubelet/deaf_kubelet.h"
#include "unit/kubelet/loop.h"

namespace railhead::kubelet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class RecordingResource : public Resource {
 public:
  std::vector<std::string> prefer(const Preference& preference) override {
    asked = preference;
    return {"b"};
  }

  Result<Grant> allocate(const std::vector<std::string>& ids) override {
    if (ids == std::vector<std::string>{"bad"})
      return Error{ErrorCode::malformed, "no such device"};
    Grant grant;
    grant.env["IDS"] = ids.empty() ? "" : ids.front();
    grant.annotations["allocation.railhead.io/rdma.io/hca"] = "0000:18:00.0";
    grant.devices.push_back({"/dev/infiniband/uverbs0", "/dev/infiniband/uverbs0", "rw"});
    grant.cdi_devices.push_back("railhead.io/nic=0");
    return grant;
  }

  Status pre_start(const std::vector<std::string>& ids) override {
    if (ids == std::vector<std::string>{"bad"}) {
      return Error{ErrorCode::unavailable, "not connected to NRI"};
    }
    return {};
  }

  void watched(bool now) {
    is_watched = now;
    is_watched.notify_all();
  }

  Preference asked;
  std::atomic<bool> is_watched{false};
};

class DevicePluginTest : public testing::Test {
 protected:
  DevicePluginTest() {
    loop_.run([this] {
      auto served = DevicePlugin::serve(socket_, {"rdma.io/hca", true}, loop_.box(), resource_,
                                        tell(), [](const auto&) {});
      ASSERT_TRUE(served) << served.error().message;
      plugin_ = std::move(served).value();
    });
    channel_ = grpc::CreateChannel("unix:" + socket_, grpc::InsecureChannelCredentials());
    stub_ = v1beta1::DevicePlugin::NewStub(channel_);
  }

  ~DevicePluginTest() override {
    loop_.run([this] { plugin_.reset(); });
  }

  Watched tell() {
    return [this](bool now) { resource_.watched(now); };
  }

  /// What the kubelet beside it says to the registration.
  Status enrol() {
    std::atomic<bool> came{false};
    std::optional<Status> result;
    loop_.run([&] {
      plugin_->enrol(directory_ / "kubelet.sock", [&](const Status& answer) {
        result = answer;
        came = true;
        came.notify_one();
      });
    });
    came.wait(false);
    return *result;
  }

  railhead::test::TemporaryDirectory directory_;
  std::string socket_ = directory_ / "railhead.sock";
  RecordingResource resource_;
  test::Loop loop_;
  std::unique_ptr<DevicePlugin> plugin_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1beta1::DevicePlugin::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(DevicePluginTest, says_what_it_wants_by_the_call_that_counts) {
  v1beta1::DevicePluginOptions options;
  ASSERT_TRUE(stub_->GetDevicePluginOptions(&context_, {}, &options).ok());
  EXPECT_TRUE(options.pre_start_required());
  EXPECT_TRUE(options.get_preferred_allocation_available());
}

TEST_F(DevicePluginTest, answers_the_plugin_watcher_on_the_same_socket) {
  const auto registration = pluginregistration::Registration::NewStub(channel_);
  pluginregistration::PluginInfo info;
  ASSERT_TRUE(registration->GetInfo(&context_, {}, &info).ok());
  EXPECT_EQ(info.type(), "DevicePlugin");
  EXPECT_EQ(info.name(), "rdma.io/hca");
  EXPECT_EQ(info.endpoint(), "");
  EXPECT_THAT(info.supported_versions(), ElementsAre("v1beta1"));
}

/// The plugin watcher gives GetInfo one second (kubernetes pkg/kubelet/pluginmanager/
/// operationexecutor), so a machine that is being read must not keep it waiting.
TEST_F(DevicePluginTest, registration_and_options_do_not_wait_for_a_busy_agent) {
  std::atomic<bool> busy{true};
  loop_.box().post([&] { busy.wait(true); });
  const auto registration = pluginregistration::Registration::NewStub(channel_);
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(30);
  context_.set_deadline(deadline);
  pluginregistration::PluginInfo info;
  EXPECT_TRUE(registration->GetInfo(&context_, {}, &info).ok());
  grpc::ClientContext of_options;
  of_options.set_deadline(deadline);
  v1beta1::DevicePluginOptions options;
  EXPECT_TRUE(stub_->GetDevicePluginOptions(&of_options, {}, &options).ok());
  grpc::ClientContext of_refusal;
  of_refusal.set_deadline(deadline);
  pluginregistration::RegistrationStatus refused;
  refused.set_error("no room");
  pluginregistration::RegistrationStatusResponse heard;
  EXPECT_TRUE(registration->NotifyRegistrationStatus(&of_refusal, refused, &heard).ok());
  busy = false;
  busy.notify_all();
  loop_.run([] {});  // it has read that it is not busy any more
}

/// Kubelets before autumn 2022 send the socket's path (kubernetes #112597).
TEST_F(DevicePluginTest, a_kubelet_may_call_us_whatever_it_likes) {
  for (const char* authority : {"localhost", "/var/lib/kubelet/device-plugins/railhead.sock",
                                "%2Fvar%2Flib%2Fkubelet%2Fdevice-plugins%2Frailhead.sock"}) {
    grpc::ChannelArguments arguments;
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, authority);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1beta1::DevicePlugin::NewStub(grpc::CreateCustomChannel(
        "unix:" + socket_, grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    v1beta1::DevicePluginOptions options;
    EXPECT_TRUE(stub->GetDevicePluginOptions(&context, {}, &options).ok()) << authority;
  }
}

TEST_F(DevicePluginTest, a_watcher_gets_the_list_at_once_and_then_what_is_new) {
  auto stream = stub_->ListAndWatch(&context_, {});
  v1beta1::ListAndWatchResponse list;
  ASSERT_TRUE(stream->Read(&list));
  EXPECT_THAT(list.devices(), IsEmpty());
  resource_.is_watched.wait(false);
  loop_.run([this] { plugin_->publish({{"a", true, {0, 1}}, {"b", false, {}}}); });
  ASSERT_TRUE(stream->Read(&list));
  ASSERT_EQ(list.devices_size(), 2);
  EXPECT_EQ(list.devices(0).id(), "a");
  EXPECT_EQ(list.devices(0).health(), "Healthy");
  EXPECT_EQ(list.devices(0).topology().nodes(1).id(), 1);
  EXPECT_EQ(list.devices(1).health(), "Unhealthy");
  EXPECT_FALSE(list.devices(1).has_topology());
  loop_.run([this] { plugin_->publish({{"a", true, {0, 1}}, {"b", false, {}}}); });
  loop_.run([this] { plugin_->publish({{"c", true, {}}}); });
  ASSERT_TRUE(stream->Read(&list));
  ASSERT_EQ(list.devices_size(), 1) << "a list that is not new was sent";
  EXPECT_EQ(list.devices(0).id(), "c");
}

TEST_F(DevicePluginTest, a_kubelet_that_goes_is_forgotten) {
  {
    grpc::ClientContext context;
    auto stream = stub_->ListAndWatch(&context, {});
    v1beta1::ListAndWatchResponse list;
    ASSERT_TRUE(stream->Read(&list));
    resource_.is_watched.wait(false);
    context.TryCancel();
  }
  resource_.is_watched.wait(true);
  EXPECT_FALSE(resource_.is_watched);
}

TEST_F(DevicePluginTest, one_that_never_reads_holds_up_nobody) {
  grpc::ClientContext lazy;
  auto never_read = stub_->ListAndWatch(&lazy, {});
  std::vector<Device> many;
  for (int i = 0; i < 5000; ++i) many.push_back({"slot-" + std::to_string(i), true, {0}});
  for (int round = 0; round < 50; ++round) {
    many.front().healthy = round % 2 == 0;
    loop_.run([&] { plugin_->publish(many); });
  }
  auto stream = stub_->ListAndWatch(&context_, {});
  v1beta1::ListAndWatchResponse list;
  ASSERT_TRUE(stream->Read(&list));
  EXPECT_EQ(list.devices_size(), 5000);
  EXPECT_EQ(list.devices(0).health(), "Unhealthy");
  lazy.TryCancel();
}

TEST_F(DevicePluginTest, so_many_watch_and_one_more_is_refused) {
  struct Watch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1beta1::ListAndWatchResponse>> stream;
    v1beta1::ListAndWatchResponse list;
  };

  const auto watch = [this] {
    auto one = std::make_unique<Watch>();
    one->stream = stub_->ListAndWatch(&one->context, {});
    return one;
  };
  std::vector<std::unique_ptr<Watch>> watches;
  for (std::size_t i = 0; i < WatchList::kMaxWatches; ++i) {
    watches.push_back(watch());
    ASSERT_TRUE(watches.back()->stream->Read(&watches.back()->list)) << i;
  }
  const auto refused = watch();
  EXPECT_FALSE(refused->stream->Read(&refused->list));
  const auto why = refused->stream->Finish();
  EXPECT_EQ(why.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(why.error_message(), "railhead: 16 others watch this resource");
  loop_.run([this] { plugin_->publish({{"a", true, {}}}); });
  for (const auto& one : watches) EXPECT_TRUE(one->stream->Read(&one->list));

  watches.front()->context.TryCancel();
  EXPECT_EQ(watches.front()->stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  for (bool is_served = false; !is_served;) {  // the server hears of the end a moment later
    const auto next = watch();
    is_served = next->stream->Read(&next->list);
    if (is_served) {
      EXPECT_EQ(next->list.devices_size(), 1);
    }
    next->context.TryCancel();
    next->stream->Finish();
  }
  EXPECT_TRUE(resource_.is_watched);
}

TEST_F(DevicePluginTest, an_allocation_is_decided_by_the_resource) {
  v1beta1::AllocateRequest request;
  request.add_container_requests()->add_devices_ids("a");
  v1beta1::AllocateResponse answer;
  ASSERT_TRUE(stub_->Allocate(&context_, request, &answer).ok());
  const auto& container = answer.container_responses(0);
  EXPECT_THAT(container.envs(), ElementsAre(Pair("IDS", "a")));
  EXPECT_THAT(container.annotations(),
              ElementsAre(Pair("allocation.railhead.io/rdma.io/hca", "0000:18:00.0")));
  EXPECT_EQ(container.devices(0).container_path(), "/dev/infiniband/uverbs0");
  EXPECT_EQ(container.devices(0).permissions(), "rw");
  EXPECT_EQ(container.cdi_devices(0).name(), "railhead.io/nic=0");
}

TEST_F(DevicePluginTest, a_refusal_reaches_the_user_in_our_words) {
  v1beta1::AllocateRequest request;
  request.add_container_requests()->add_devices_ids("bad");
  v1beta1::AllocateResponse answer;
  const auto allocated = stub_->Allocate(&context_, request, &answer);
  EXPECT_EQ(allocated.error_message(), "railhead: no such device");
  grpc::ClientContext context;
  v1beta1::PreStartContainerRequest start;
  start.add_devices_ids("bad");
  v1beta1::PreStartContainerResponse nothing;
  const auto started = stub_->PreStartContainer(&context, start, &nothing);
  EXPECT_EQ(started.error_message(), "railhead: not connected to NRI");
}

TEST_F(DevicePluginTest, a_preference_is_passed_on_and_never_an_error) {
  v1beta1::PreferredAllocationRequest request;
  auto& one = *request.add_container_requests();
  one.add_available_deviceids("a");
  one.add_must_include_deviceids("b");
  one.set_allocation_size(-3);
  v1beta1::PreferredAllocationResponse answer;
  ASSERT_TRUE(stub_->GetPreferredAllocation(&context_, request, &answer).ok());
  EXPECT_THAT(answer.container_responses(0).deviceids(), ElementsAre("b"));
  EXPECT_EQ(resource_.asked.size, 0U);
}

/// The part of a kubelet that plugins register with.
class Registry final : public v1beta1::Registration::Service {
 public:
  explicit Registry(const std::string& socket) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  ~Registry() override {
    hang(false);
    server_->Shutdown();
  }

  grpc::Status Register(grpc::ServerContext* context, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*answer*/) override {
    seen = *request;
    const auto text = context->ExperimentalGetAuthority();
    authority.assign(text.data(), text.size());
    was_asked = true;
    was_asked.notify_all();
    hangs_.wait(true);
    if (refusal.empty()) return grpc::Status::OK;
    return {grpc::StatusCode::INVALID_ARGUMENT, refusal};
  }

  void hang(bool now) {
    hangs_ = now;
    hangs_.notify_all();
  }

  v1beta1::RegisterRequest seen;
  std::string authority;
  std::string refusal;
  std::atomic<bool> was_asked{false};

 private:
  std::atomic<bool> hangs_{false};
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(DevicePluginTest, is_enrolled_under_the_authority_that_every_kubelet_takes) {
  Registry registry(directory_ / "kubelet.sock");
  const auto status = enrol();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(registry.seen.version(), "v1beta1");
  EXPECT_EQ(registry.seen.endpoint(), "railhead.sock");
  EXPECT_EQ(registry.seen.resource_name(), "rdma.io/hca");
  EXPECT_TRUE(registry.seen.options().pre_start_required());
  EXPECT_EQ(registry.authority, "localhost");
}

TEST_F(DevicePluginTest, a_refused_enrolment_comes_in_the_kubelets_words) {
  Registry registry(directory_ / "kubelet.sock");
  registry.refusal = "invalid resource name";
  const auto status = enrol();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("invalid resource name"));
}

TEST_F(DevicePluginTest, a_kubelet_that_is_back_is_enrolled_with_at_once) {
  const auto nobody = enrol();
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
  const Registry registry(directory_ / "kubelet.sock");
  EXPECT_TRUE(enrol());
}

TEST_F(DevicePluginTest, an_enrolment_that_is_not_answered_does_not_hold_the_end) {
  Registry registry(directory_ / "kubelet.sock");
  registry.hang(true);
  loop_.run([this] {
    plugin_->enrol(directory_ / "kubelet.sock",
                   [](const Status&) { FAIL() << "called after the end"; });
  });
  registry.was_asked.wait(false);
  loop_.run([this] { plugin_.reset(); });
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(DevicePluginTest, a_call_that_nobody_decided_on_is_answered_at_the_end) {
  loop_.run([this] {
    v1beta1::AllocateRequest request;
    request.add_container_requests()->add_devices_ids("a");
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    v1beta1::AllocateResponse answer;
    grpc::Status status;
    const auto call = stub_->AsyncAllocate(&context, request, &queue);
    call->Finish(&answer, &status, this);
    // On the one thread that decides: nobody can, until the end.
    void* tag = nullptr;
    bool ok = false;
    const auto soon = std::chrono::system_clock::now() + std::chrono::milliseconds(100);
    EXPECT_EQ(queue.AsyncNext(&tag, &ok, soon), grpc::CompletionQueue::TIMEOUT);
    plugin_->begin_end();
    EXPECT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    queue.Shutdown();
    EXPECT_FALSE(queue.Next(&tag, &ok));
  });
}

TEST_F(DevicePluginTest, the_socket_goes_with_it_and_waiting_calls_are_answered) {
  auto stream = stub_->ListAndWatch(&context_, {});
  v1beta1::ListAndWatchResponse list;
  ASSERT_TRUE(stream->Read(&list));
  loop_.run([this] { plugin_.reset(); });
  EXPECT_FALSE(std::filesystem::exists(socket_));
  EXPECT_FALSE(stream->Read(&list));
}

TEST_F(DevicePluginTest, a_kubelet_that_was_stopped_does_not_hold_the_end) {
  std::vector<Device> many;
  for (int i = 0; i < 65536; ++i) many.push_back({"slot-" + std::to_string(i), true, {0}});
  loop_.run([&] { plugin_->publish(many); });
  test::DeafKubelet deaf(socket_);
  deaf.watch();
  deaf.wait_for_bytes();  // more will not fit than its socket holds
  loop_.run([this] { plugin_.reset(); });
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(DevicePluginTest, whoever_connects_and_says_nothing_does_not_hold_the_end) {
  const test::DeafKubelet mute(socket_);
  loop_.run([this] { plugin_.reset(); });
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(DevicePluginTest, the_end_begins_before_anybody_waits_for_it) {
  auto stream = stub_->ListAndWatch(&context_, {});
  v1beta1::ListAndWatchResponse list;
  ASSERT_TRUE(stream->Read(&list));
  loop_.run([this] { plugin_->begin_end(); });
  EXPECT_FALSE(stream->Read(&list));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(DevicePluginTest, a_path_that_no_socket_can_have_is_refused_with_its_name) {
  loop_.run([this] {
    const std::string longer = directory_ / std::string(120, 'x');
    const auto served = DevicePlugin::serve(longer, {"a/b", true}, loop_.box(), resource_, tell(),
                                            [](const auto&) {});
    ASSERT_FALSE(served);
    EXPECT_THAT(served.error().message, HasSubstr("longer than the 107 bytes"));
    const auto nowhere = DevicePlugin::serve(directory_ / "none/s.sock", {"a/b", true}, loop_.box(),
                                             resource_, tell(), [](const auto&) {});
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(nowhere.error().message, HasSubstr("none/s.sock"));
  });
}

}  // namespace
}  // namespace railhead::kubelet
