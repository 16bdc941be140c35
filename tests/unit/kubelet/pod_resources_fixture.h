// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/unique_fd.h"
#include "kubelet/pod_resources.h"
#include "unit/host/temporary_directory.h"
#include "unit/kubelet/answering_kubelet.h"
#include "unit/kubelet/loop.h"

namespace railhead::kubelet::test {

inline constexpr std::chrono::milliseconds kLong{60'000};

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  return address;
}

/// A socket that nobody accepts on, or listens on.
inline host::UniqueFd bound_socket(const std::string& path, bool listens, int type = SOCK_STREAM) {
  host::UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  const auto address = address_of(path);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  if (listens) {
    EXPECT_EQ(::listen(socket.get(), 8), 0);
  }
  return socket;
}

inline host::UniqueFd connect_to(const std::string& path) {
  host::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = address_of(path);
  (void)::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return socket;
}

class PodResourcesTest : public testing::Test {
 protected:
  PodResourcesTest() {
    loop_.run([this] { pods_.emplace(socket_, loop_.box()); });
  }

  ~PodResourcesTest() override {
    kubelet_.hang(false);
    loop_.run([this] { pods_.reset(); });
    stop();
  }

  /// As a kubelet does: the socket of the one before goes first.
  void start() {
    std::filesystem::remove(socket_);
    start_at(socket_);
  }

  void start_at(const std::string& path) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
    builder.RegisterService(&kubelet_);
    server_ = builder.BuildAndStart();
    ASSERT_TRUE(server_);
  }

  void stop() {
    if (server_) server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));
    server_.reset();
  }

  /// The answer of a question that `begin` asks on the loop's thread with the callback it is given.
  template <typename T>
  Result<T> answer(const std::function<void(PodResources::Done<T>)>& begin) {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<Result<T>> result;
    loop_.run([&] {
      begin([&](Result<T> value) {
        const std::lock_guard lock(mutex);
        result.emplace(std::move(value));
        came.notify_one();
      });
    });
    std::unique_lock lock(mutex);
    came.wait(lock, [&] { return result.has_value(); });
    return std::move(*result);
  }

  Result<container::PodHoldings> pod(const std::string& name,
                                     std::chrono::milliseconds timeout = kLong) {
    return answer<container::PodHoldings>(
        [&](auto done) { pods_->pod("default", name, timeout, std::move(done)); });
  }

  Result<std::vector<container::PodHoldings>> all(std::chrono::milliseconds timeout = kLong) {
    return answer<std::vector<container::PodHoldings>>(
        [&](auto done) { pods_->all(timeout, std::move(done)); });
  }

  /// Asks until there is an answer.
  void until_answered() {
    while (!pod("mine")) std::this_thread::yield();
  }

  railhead::test::TemporaryDirectory directory_;
  std::string socket_ = directory_ / "kubelet.sock";
  AnsweringKubelet kubelet_;
  std::unique_ptr<grpc::Server> server_;
  Loop loop_;
  std::optional<PodResources> pods_;
};

}  // namespace railhead::kubelet::test
