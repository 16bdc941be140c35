// SPDX-License-Identifier: Apache-2.0
#include "cluster/driver_pods.h"

#include "base/text.h"
#include "data/below.h"

namespace railhead::cluster {
namespace {

using data::below;
using data::items_below;
using data::text_below;

constexpr std::size_t kMessage = 256;

/// How the container stands; absent where it is ready, or has done its work.
std::optional<StoppedContainer> stopped_by(const data::Value& status) {
  if (text_below(status, {"ready"}) == "true") return std::nullopt;
  StoppedContainer one;
  one.name = text_below(status, {"name"});
  const auto* waits = below(status, {"state", "waiting"});
  const auto* ended = below(status, {"state", "terminated"});
  if (ended != nullptr) {
    if (text_below(*ended, {"exitCode"}) == "0") return std::nullopt;
    one.reason = text_below(*ended, {"reason"});
  } else if (waits != nullptr) {
    const auto reason = text_below(*waits, {"reason"});
    if (reason != "PodInitializing") one.reason = reason;
  }
  const auto message = text_below(waits != nullptr ? waits : ended, {"message"});
  if (!one.reason.empty()) one.message = message.substr(0, kMessage);
  one.has_log = ended != nullptr || below(status, {"state", "running"}) != nullptr ||
                below(status, {"lastState", "terminated"}) != nullptr;
  return one;
}

}  // namespace

/// The driver's pods have a label that changes with the kernel, and a key that does not.
/// Source: Mellanox/network-operator manifests/state-ofed-driver/0050_ofed-driver-ds.yaml.
bool is_ofed_pod(const data::Value& pod) {
  const auto* labels = below(pod, {"metadata", "labels"});
  return labels != nullptr && labels->find("nvidia.com/ofed-driver") != nullptr;
}

bool is_operator_pod(const data::Value& pod) {
  const auto name = text_below(pod, {"metadata", "labels", "app.kubernetes.io/name"});
  const auto app = text_below(pod, {"metadata", "labels", "app"});
  return name == "network-operator" || name == "gpu-operator" || app == "gpu-operator" ||
         app == "nvidia-driver-daemonset" || name == "sriov-network-operator";
}

std::optional<StoppedContainer> stopped_container(const data::Value& pod) {
  std::optional<StoppedContainer> first;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const auto& status : items_below(pod, {"status", list})) {
      auto one = stopped_by(status);
      if (!one) continue;
      if (!one->reason.empty()) return one;
      if (!first || (one->has_log && !first->has_log)) first = std::move(one);
    }
  }
  return first;
}

}  // namespace railhead::cluster
