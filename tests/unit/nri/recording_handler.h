// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nri/session.h"

namespace railhead::nri {

/// Everything that a request says, so that two can be compared after their bytes are gone.
inline std::string text_of(const container::Request& request) {
  std::string out;
  const auto add = [&out](std::string_view text) { (out += text) += '\n'; };
  for (const auto text : {request.pod_name, request.pod_namespace, request.pod_uid,
                          request.runtime_handler, request.id, request.name}) {
    add(text);
  }
  for (const auto* map : {&request.pod_annotations, &request.annotations}) {
    for (const auto& [key, value] : *map) add(std::string(key) + "=" + std::string(value));
    add("");
  }
  for (const auto* list : {&request.pod_namespaces, &request.container_namespaces, &request.env,
                           &request.cdi_devices}) {
    for (const auto text : *list) add(text);
    add("");
  }
  for (const auto& mount : request.mounts) {
    for (const auto text : {mount.destination, mount.type, mount.source}) add(text);
    add(mount.read_write ? "rw" : "");
  }
  for (const auto& device : request.devices) {
    add(std::string(device.path) + device.type + std::to_string(device.major) + ":" +
        std::to_string(device.minor));
  }
  for (const auto& limit : request.rlimits) {
    add(std::string(limit.type) + std::to_string(limit.hard) + ":" + std::to_string(limit.soft));
  }
  return out;
}

/// Writes down what it is told and answers as the test says.
class RecordingHandler : public Handler {
 public:
  using Done = std::function<void(const CreateAnswer&)>;

  void configured(const RuntimePeer& peer) override {
    peers.push_back(peer);
    log += "configured;";
  }

  void existing(const container::Request& container) override {
    log += "existing " + std::string(container.pod_name) + "/" + std::string(container.id) + ";";
    seen.push_back(text_of(container));
    if (on_existing) on_existing();
  }

  void not_understood(const Error& why) override { log += "not understood: " + why.message + ";"; }

  void answered(std::chrono::nanoseconds took) override { times.push_back(took); }

  [[nodiscard]] bool reads_annotation(std::string_view key) const override {
    return !key.starts_with("unread/");
  }

  void synchronized(const StateCounts& counts) override {
    log += "synchronized " + std::to_string(counts.pods) + "+" + std::to_string(counts.containers);
    if (counts.passed_over > 0) log += "-" + std::to_string(counts.passed_over);
    log += ";";
  }

  void sandbox_runs(const container::Request& pod) override {
    log += "runs " + std::string(pod.pod_namespace) + "/" + std::string(pod.pod_name) + " " +
           std::string(pod.pod_uid) + ";";
    if (on_sandbox) on_sandbox();
  }

  void create(const container::Request& request, Done done) override {
    log += "create " + std::string(request.id) + ";";
    if (on_create) return on_create(request, std::move(done));
    done(answer);
  }

  CreateAnswer on_deadline(const container::Request& request) override {
    log += "deadline " + std::string(request.id) + ";";
    return answer;
  }

  void disconnected(const Error& why, std::chrono::milliseconds retry_in) override {
    errors.push_back(why);
    pauses.push_back(retry_in);
    log += "disconnected;";
  }

  std::string log;
  std::vector<std::string> seen;  ///< text_of each existing one
  std::vector<RuntimePeer> peers;
  std::vector<Error> errors;
  std::vector<std::chrono::milliseconds> pauses;
  std::vector<std::chrono::nanoseconds> times;
  CreateAnswer answer;
  std::function<void(const container::Request&, Done)> on_create;
  std::function<void()> on_existing;
  std::function<void()> on_sandbox;
};

/// An adjustment with one of everything.
inline container::Adjustment sample_adjustment() {
  return {{{"/dev/infiniband/uverbs0", 231, 192, 0666, 0, 0}},
          {},
          {{"NCCL_IB_HCA", "=mlx5_0:1"}},
          container::kUnlimited};
}

}  // namespace railhead::nri
