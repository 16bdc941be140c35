// SPDX-License-Identifier: Apache-2.0
#include "kubelet/client.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "deviceplugin.grpc.pb.h"
#include "podresources.grpc.pb.h"
#include "unit/host/temporary_directory.h"
#include "unit/kubelet/loop.h"

namespace railhead::kubelet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::PodResources pod(const std::string& name) {
  v1::PodResources one;
  one.set_namespace_("default");
  one.set_name(name);
  auto& container = *one.add_containers();
  container.set_name("main");
  auto& devices = *container.add_devices();
  devices.set_resource_name("nvidia.com/gpu");
  devices.add_device_ids("GPU-1");
  return one;
}

/// A kubelet that answers what the test says.
class Kubelet final : public v1beta1::Registration::Service,
                      public v1::PodResourcesLister::Service {
 public:
  grpc::Status Register(grpc::ServerContext* context, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*answer*/) override {
    seen = *request;
    const auto text = context->ExperimentalGetAuthority();
    authority.assign(text.data(), text.size());
    return refusal.empty() ? grpc::Status::OK
                           : grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, refusal);
  }

  grpc::Status Get(grpc::ServerContext* /*context*/, const v1::GetPodResourcesRequest* request,
                   v1::GetPodResourcesResponse* answer) override {
    if (!has_get) return {without_get, "unknown method Get"};
    if (hangs) wait_for_release();
    *answer->mutable_pod_resources() = pod(request->pod_name());
    return grpc::Status::OK;
  }

  grpc::Status List(grpc::ServerContext* /*context*/,
                    const v1::ListPodResourcesRequest* /*request*/,
                    v1::ListPodResourcesResponse* answer) override {
    if (hangs) wait_for_release();
    *answer->add_pod_resources() = pod("other");
    *answer->add_pod_resources() = pod("mine");
    return grpc::Status::OK;
  }

  void wait_for_release() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return released_; });
  }

  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    wake_.notify_all();
  }

  v1beta1::RegisterRequest seen;
  std::string authority;
  std::string refusal;
  bool has_get = true;
  std::atomic<grpc::StatusCode> without_get{grpc::StatusCode::UNIMPLEMENTED};
  bool hangs = false;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool released_ = false;
};

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    loop_.run([this] { client_.emplace(Sockets{socket_, socket_}, loop_.box()); });
  }

  ~ClientTest() override {
    kubelet_.release();
    loop_.run([this] { client_.reset(); });
    if (server_) server_->Shutdown();
  }

  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket_, grpc::InsecureServerCredentials());
    builder.RegisterService(static_cast<v1beta1::Registration::Service*>(&kubelet_));
    builder.RegisterService(static_cast<v1::PodResourcesLister::Service*>(&kubelet_));
    server_ = builder.BuildAndStart();
  }

  /// The answer of a call that `begin` makes on the loop's thread with the callback it is given.
  template <typename Answer>
  Answer answer(const std::function<void(std::function<void(Answer)>)>& begin) {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<Answer> result;
    loop_.run([&] {
      begin([&](Answer value) {
        const std::lock_guard lock(mutex);
        result.emplace(std::move(value));
        came.notify_one();
      });
    });
    std::unique_lock lock(mutex);
    came.wait(lock, [&] { return result.has_value(); });
    return std::move(*result);
  }

  Result<PodHoldings> holdings(const std::string& name, int timeout_ms = 5000) {
    return answer<Result<PodHoldings>>([&](auto done) {
      client_->holdings_of("default", name, std::chrono::milliseconds(timeout_ms), done);
    });
  }

  TemporaryDirectory directory_;
  std::string socket_ = directory_ / "kubelet.sock";
  Kubelet kubelet_;
  std::unique_ptr<grpc::Server> server_;
  test::Loop loop_;
  std::optional<Client> client_;
};

TEST_F(ClientTest, a_plugin_is_enrolled_under_the_authority_that_every_kubelet_takes) {
  start();
  const auto status = answer<Status>([&](auto done) {
    client_->enroll("railhead.sock", {"rdma.io/hca", true, true}, done);
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(kubelet_.seen.version(), "v1beta1");
  EXPECT_EQ(kubelet_.seen.endpoint(), "railhead.sock");
  EXPECT_EQ(kubelet_.seen.resource_name(), "rdma.io/hca");
  EXPECT_TRUE(kubelet_.seen.options().pre_start_required());
  EXPECT_EQ(kubelet_.authority, "localhost");
}

TEST_F(ClientTest, a_refusal_comes_in_the_kubelets_words) {
  kubelet_.refusal = "invalid resource name";
  start();
  const auto status = answer<Status>([&](auto done) {
    client_->enroll("s", {"x", true, true}, done);
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("invalid resource name"));
}

TEST_F(ClientTest, no_kubelet_is_told_from_one_that_does_not_answer) {
  const auto nobody = holdings("mine");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
  kubelet_.hangs = true;
  start();
  const auto slow = holdings("mine", 50);
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, ErrorCode::timeout);
}

TEST_F(ClientTest, a_kubelet_that_is_back_is_asked_at_once) {
  EXPECT_FALSE(holdings("mine"));
  start();
  EXPECT_TRUE(holdings("mine"));
}

TEST_F(ClientTest, a_pods_devices_are_known_by_container_and_resource) {
  start();
  const auto mine = holdings("mine");
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->pod, "mine");
  EXPECT_THAT(mine->containers,
              ElementsAre(ContainerHoldings{"main", {{"nvidia.com/gpu", {"GPU-1"}}}}));
}

TEST_F(ClientTest, kubelets_without_get_are_asked_for_the_list) {
  kubelet_.has_get = false;
  start();
  const auto mine = holdings("mine");
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->pod, "mine");
  EXPECT_EQ(mine->containers.size(), 1U);
  const auto unknown = holdings("nobody");
  ASSERT_TRUE(unknown);
  EXPECT_THAT(unknown->containers, IsEmpty());
}

TEST_F(ClientTest, kubelets_with_get_behind_a_gate_are_asked_for_the_list) {
  kubelet_.has_get = false;
  kubelet_.without_get = grpc::StatusCode::UNKNOWN;
  start();
  const auto mine = holdings("mine");
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine->containers.size(), 1U);
}

TEST_F(ClientTest, the_list_in_place_of_get_has_no_time_of_its_own) {
  kubelet_.has_get = false;
  kubelet_.hangs = true;
  start();
  const auto mine = holdings("mine", 50);
  ASSERT_FALSE(mine);
  EXPECT_EQ(mine.error().code, ErrorCode::timeout);
}

TEST_F(ClientTest, its_end_does_not_wait_for_an_answer) {
  kubelet_.hangs = true;
  start();
  loop_.run([this] {
    client_->holdings_of("default", "mine", std::chrono::hours(1),
                         [](Result<PodHoldings>) { FAIL() << "called after the end"; });
    client_.reset();
  });
}

}  // namespace
}  // namespace railhead::kubelet
