// SPDX-License-Identifier: Apache-2.0
#include "proof/pods_json.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace railhead::proof {
namespace {

template <typename T>
data::Json or_null(const std::optional<T>& value) {
  return value ? data::Json(*value) : data::Json(nullptr);
}

/// "queue-pair", "sole-user", "devx-objects", "log", "nothing"
std::string rung_key(Rung rung) {
  auto key = to_lower(to_string(rung));
  std::ranges::replace(key, ' ', '-');
  return key;
}

data::Json device_json(const std::string& name, const DeviceShare& share) {
  return {{"name", name},
          {"queuePairs", share.queue_pairs},
          {"queuePairsReady", share.ready},
          {"queuePairsConnected", share.connected},
          {"queuePairsUnproved", share.unproved},
          {"queuePairsLooped", share.looped},
          {"queuePairsMoving", or_null(share.moving)},
          {"memoryRegions", share.regions},
          {"implicitRegions", share.implicit_regions},
          {"registeredBytes", share.registered_bytes},
          {"contexts", share.contexts},
          {"connectionIds", share.connection_ids},
          {"bytesPerSecond", or_null(share.bytes_per_second)},
          {"packetsPerSecond", or_null(share.packets_per_second)},
          {"soleUser", share.sole_user},
          {"provedByTraffic", share.proved_by_traffic}};
}

}  // namespace

data::Json pod_json(const PodUse& pod) {
  const auto total = pod.total();
  data::Json json = {
      {"namespace", pod.record.pod_namespace},
      {"pod", pod.record.pod},
      {"container", pod.record.container},
      {"podUid", pod.record.pod_uid},
      {"containerId", pod.record.container_id},
      {"gpus", pod.record.gpus},
      {"nics", pod.record.nics},
      {"queuePairs", total.queue_pairs},
      {"queuePairsReady", total.ready},
      {"queuePairsConnected", total.connected},
      {"queuePairsUnproved", total.unproved},
      {"queuePairsMoving", or_null(total.moving)},
      {"implicitRegions", total.implicit_regions},
      {"registeredBytes", total.registered_bytes},
      {"verdict", to_string(pod.verdict)},
      {"rung", rung_key(pod.rung)},
      {"why", pod.why},
      {"rdmaExpectedBy", pod.expects},
      {"suspiciousLooks", pod.suspicious_looks},
      {"silentFallback", pod.silent_fallback},
      {"ignored", pod.ignored},
      {"ageSeconds", or_null(pod.age_seconds)},
      {"processes", pod.processes},
      {"tcpConnections", pod.network ? data::Json(pod.network->connections) : data::Json(nullptr)},
      {"tcpBytesPerSecond", or_null(pod.tcp_bytes_per_second)},
      {"devxFiles", pod.files.devx},
      {"imexChannels", pod.files.imex_channels},
      {"netdevBytesPerSecond", or_null(pod.network_bytes_per_second)}};
  json["devices"] = data::Json::array();
  for (const auto& [name, share] : pod.devices) json["devices"].push_back(device_json(name, share));
  json["evidence"] = data::Json::array();
  for (const auto& one : pod.evidence) {
    json["evidence"].push_back({{"source", one.source}, {"value", one.value}});
  }
  return json;
}

void add_pods(data::Json& document, const PodsView& view, const node::Node& node) {
  document["node"] = node.name;
  document["pods"] = data::Json::array();
  for (const auto& pod : view.pods) document["pods"].push_back(pod_json(pod));
  document["queuePairsOfHost"] = view.host_queue_pairs;
  document["queuePairsOfKernel"] = view.kernel_queue_pairs;
  document["queuePairsWithoutOwner"] = view.ownerless_queue_pairs;
  document["complete"] = view.complete;
  document["warnings"] = view.warnings;
}

}  // namespace railhead::proof
