// SPDX-License-Identifier: Apache-2.0
#include "agent/metric_list.h"

#include "inject/codes.h"

namespace railhead {
namespace {

/// The labels of a container, and these.
std::vector<MetricLabel> of_container(std::initializer_list<MetricLabel> more = {}) {
  std::vector<MetricLabel> labels = {{"namespace"}, {"pod"}, {"container"}};
  labels.insert(labels.end(), more);
  return labels;
}

/// What causes a reading of the node.
MetricLabel why_read() {
  return {"cause", {"start", "event", "port", "timer", "unknown-gpu", "no-events"}};
}

template <typename Table>
std::vector<std::string_view> codes(const Table& table) {
  std::vector<std::string_view> out;
  for (const CodeMeaning& one : table) out.push_back(one.code);
  return out;
}

template <typename Reasons>
void add_decisions(std::vector<Labels>& out, const char* outcome, const Reasons& reasons) {
  for (const auto reason : reasons) {
    out.push_back({{"outcome", outcome}, {"reason", std::string(reason)}});
  }
}

std::vector<Labels> decisions() {
  std::vector<Labels> out;
  add_decisions(out, "adjusted", kReasonsAdjusted);
  add_decisions(out, "untouched", kReasonsUntouched);
  add_decisions(out, "refused", kReasonsRefused);
  return out;
}

}  // namespace

const std::vector<MetricSpec>& metric_list() {
  using enum MetricKind;
  const MetricLabel verdict = {"verdict", {"rdma", "tcp", "idle", "unknown"}};
  static const std::vector<MetricSpec> list = {
      {"railhead_build_info", gauge, "Version of this agent, always 1.", {{"version"}}},
      {"railhead_config_reloads_total",
       counter,
       "Times that a changed configuration was taken on or refused.",
       {{"outcome", {"loaded", "refused"}}}},
      {"railhead_config_last_reload_successful", gauge,
       "1 where the configuration in the files could be read, else 0: the one before is in force."},
      {"railhead_config_last_success_timestamp_seconds", gauge,
       "When the configuration in force was read, in seconds since 1970."},
      {"railhead_config_settings_awaiting_restart", gauge,
       "Settings whose value in the files takes effect when the agent is started again."},
      {"railhead_node_gpus", gauge, "GPUs of the node."},
      {"railhead_topology_info",
       gauge,
       "Where the relations of GPUs and NICs are from and how sure they are, always 1.",
       {{"source"}, {"confidence", {"high", "medium", "low"}}, {"origin"}}},
      {"railhead_node_nics",
       gauge,
       "RDMA NICs of the node by role and usability.",
       {{"role"}, {"usable", {"true", "false"}}}},
      {"railhead_nic_usable", gauge, "1 where a NIC can carry traffic now, else 0.", {{"nic"}}},
      {"railhead_node_problems", gauge,
       "Facts of the node that could not be read or are malformed."},
      {"railhead_node_reads_total",
       counter,
       "Times the node was read, by what caused it.",
       {why_read()}},
      {"railhead_node_read_failures_total",
       counter,
       "Readings of the node that failed, so that the one before counts, by what caused them.",
       {why_read()}},
      {"railhead_node_read_seconds", gauge, "How long the last reading of the node took."},
      {"railhead_node_reading_seconds", gauge,
       "How long the reading of the node that is not over yet has taken so far, else 0."},
      {"railhead_nri_connected", gauge, "1 while registered with the container runtime, else 0."},
      {"railhead_nri_runtime_info",
       gauge,
       "The connected container runtime, always 1.",
       {{"name"}, {"version"}, {"nri"}}},
      {"railhead_nri_missing_features",
       gauge,
       "Features that the connected runtime would ignore.",
       {{"what"}}},
      {"railhead_nri_registrations_total", counter, "Registrations that reached synchronized."},
      {"railhead_nri_disconnects_total", counter,
       "Connections to the runtime that ended or failed."},
      {"railhead_nri_protocol_errors_total", counter,
       "Frames or messages that broke the protocol."},
      {"railhead_nri_requests_total", counter, "CreateContainer requests."},
      {"railhead_nri_deadlines_missed_total", counter, "Requests answered by the own deadline."},
      {"railhead_nri_stale_decisions_total", counter,
       "Decisions by a reading that was older than the last event: the machine was slow to read."},
      {"railhead_nri_decisions_total",
       counter,
       "Decisions by outcome and reason.",
       {{"outcome", {"adjusted", "untouched", "refused"}}, {"reason", codes(kReasonCodes)}},
       decisions()},
      {"railhead_nri_warnings_total",
       counter,
       "Remarks on decisions by code.",
       {{"code", codes(kRemarkCodes)}}},
      {"railhead_nri_injected_nics_total", counter, "NICs given to containers, by NIC.", {{"nic"}}},
      {"railhead_nri_created_again_total", counter,
       "Adjusted containers that were created again: restarts, and creations that failed."},
      {"railhead_nri_containers_missing_devices", gauge,
       "Containers found at the last Synchronize without devices that are due to them."},
      {"railhead_pool_devices",
       gauge,
       "Devices that the kubelet is told of, by pool, state and reason.",
       {{"pool"},
        {"state", {"healthy", "unhealthy"}},
        {"reason", {"not-ready", "recovering", "gone"}}}},
      {"railhead_kubelet_registrations_total",
       counter,
       "Registrations that the kubelet accepted, by pool.",
       {{"pool"}}},
      {"railhead_kubelet_enrolled",
       gauge,
       "1 while the kubelet watches the pool's devices, else 0.",
       {{"pool"}}},
      {"railhead_allocations_total",
       counter,
       "Allocations and starts that were asked for.",
       {{"pool"}, {"outcome", {"granted", "refused", "start-refused"}}}},
      {"railhead_pod_queue_pairs", gauge,
       "Queue pairs by device; connected ones lead to another and are ready, or receive.",
       of_container({{"device"}, {"state", {"connected", "other"}}})},
      {"railhead_pod_registered_bytes", gauge,
       "Bytes of the memory regions that a container has registered, without those of its whole "
       "address space.",
       of_container({{"device"}})},
      {"railhead_pod_transport", gauge,
       "What a container with GPUs, NICs or RDMA objects uses, always 1.", of_container({verdict})},
      {"railhead_pod_transport_seconds_total", counter,
       "Seconds that a container was seen with this verdict.", of_container({verdict})},
      {"railhead_pod_silent_fallback", gauge,
       "1 while a container with several GPUs and peers has no connected queue pair, else 0.",
       of_container()},
      {"railhead_pod_queue_pairs_seen_total", counter,
       "Queue pairs that a container was seen to make.", of_container()},
      {"railhead_pod_traffic_bytes_total", counter,
       "Bytes through devices that only this container had queue pairs on.", of_container()},
      {"railhead_silent_fallbacks_total", counter,
       "Containers that turned out to have fallen back to TCP."},
      {"railhead_pods_reads_total",
       counter,
       "Times that it was looked who uses RDMA.",
       {{"outcome", {"done", "failed"}}}},
      {"railhead_pods_complete", gauge, "1 where the last look could see everything, else 0."},
      {"railhead_queue_pairs_without_owner", gauge,
       "Queue pairs whose process could not be found."},
      {"railhead_http_listening",
       gauge,
       "1 while these pages are served at this place, else 0; /readyz says why.",
       {{"place", {"tcp", "unix"}}}},
      {"railhead_log_lines_dropped_total", counter,
       "Lines of the log that were lost, because nobody reads it fast enough or its disk is full."},
  };
  return list;
}

}  // namespace railhead
