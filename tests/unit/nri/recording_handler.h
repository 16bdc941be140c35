// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nri/session.h"

namespace railhead::nri {

/// Writes down what it is told and answers as the test says.
class RecordingHandler : public Handler {
 public:
  using Done = std::function<void(CreateAnswer)>;

  void configured(const RuntimePeer& peer) override {
    peers.push_back(peer);
    log += "configured;";
  }

  void existing(const ContainerRequest& container) override {
    log += "existing " + std::string(container.pod_name) + "/" + std::string(container.id) + ";";
    if (on_existing) on_existing();
  }

  void synchronized(std::size_t pods, std::size_t containers) override {
    log += "synchronized " + std::to_string(pods) + "+" + std::to_string(containers) + ";";
  }

  void create(const ContainerRequest& request, Done done) override {
    log += "create " + std::string(request.id) + ";";
    if (on_create) return on_create(request, std::move(done));
    done(answer);
  }

  CreateAnswer on_deadline(const ContainerRequest& request) override {
    log += "deadline " + std::string(request.id) + ";";
    return answer;
  }

  void disconnected(const Error& why, std::chrono::milliseconds retry_in) override {
    errors.push_back(why);
    pauses.push_back(retry_in);
    log += "disconnected;";
  }

  std::string log;
  std::vector<RuntimePeer> peers;
  std::vector<Error> errors;
  std::vector<std::chrono::milliseconds> pauses;
  CreateAnswer answer;
  std::function<void(const ContainerRequest&, Done)> on_create;
  std::function<void()> on_existing;
};

/// An adjustment with one of everything.
inline Adjustment sample_adjustment() {
  return {{{"/dev/infiniband/uverbs0", 231, 192, 0666, 0, 0}},
          {},
          {{"NCCL_IB_HCA", "=mlx5_0:1"}},
          kUnlimited};
}

}  // namespace railhead::nri
