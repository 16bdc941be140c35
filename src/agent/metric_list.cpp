// SPDX-License-Identifier: Apache-2.0
#include "agent/metric_list.h"

namespace railhead {

const std::vector<MetricSpec>& metric_list() {
  using enum MetricKind;
  static const std::vector<MetricSpec> list = {
      {"railhead_build_info", gauge, "Version of this agent, always 1."},
      {"railhead_node_gpus", gauge, "GPUs of the node."},
      {"railhead_topology_info", gauge,
       "Where the relations of GPUs and NICs are from and how sure they are, always 1."},
      {"railhead_node_nics", gauge, "RDMA NICs of the node by role and usability."},
      {"railhead_nic_usable", gauge, "1 where a NIC can carry traffic now, else 0."},
      {"railhead_node_problems", gauge,
       "Facts of the node that could not be read or are malformed."},
      {"railhead_node_reads_total", counter, "Times the node was read, by what caused it."},
      {"railhead_node_read_seconds", gauge, "How long the last reading of the node took."},
      {"railhead_nri_connected", gauge, "1 while registered with the container runtime, else 0."},
      {"railhead_nri_runtime_info", gauge, "The connected container runtime, always 1."},
      {"railhead_nri_missing_features", gauge, "Features that the connected runtime would ignore."},
      {"railhead_nri_registrations_total", counter, "Registrations that reached synchronized."},
      {"railhead_nri_disconnects_total", counter,
       "Connections to the runtime that ended or failed."},
      {"railhead_nri_protocol_errors_total", counter,
       "Frames or messages that broke the protocol."},
      {"railhead_nri_requests_total", counter, "CreateContainer requests."},
      {"railhead_nri_deadlines_missed_total", counter, "Requests answered by the own deadline."},
      {"railhead_nri_decisions_total", counter, "Decisions by outcome and reason."},
      {"railhead_nri_warnings_total", counter, "Remarks on decisions by code."},
      {"railhead_nri_injected_nics_total", counter, "NICs given to containers, by NIC."},
      {"railhead_nri_created_again_total", counter,
       "Adjusted containers that were created again: restarts, and creations that failed."},
      {"railhead_nri_containers_missing_devices", gauge,
       "Containers found at the last Synchronize without devices that are due to them."},
      {"railhead_pool_devices", gauge, "Devices that the kubelet is told of, by pool and state."},
      {"railhead_kubelet_registrations_total", counter,
       "Registrations that the kubelet accepted, by pool."},
      {"railhead_kubelet_enrolled", gauge,
       "1 while the kubelet watches the pool's devices, else 0."},
      {"railhead_allocations_total", counter, "Allocations and starts that were asked for."},
      {"railhead_pod_queue_pairs", gauge,
       "Queue pairs of a container by device; connected ones are in RTS and lead to another."},
      {"railhead_pod_registered_bytes", gauge,
       "Bytes of the memory regions that a container has registered."},
      {"railhead_pod_transport", gauge,
       "What a container with GPUs, NICs or RDMA objects uses, always 1."},
      {"railhead_pod_transport_seconds_total", counter,
       "Seconds that a container was seen with this verdict."},
      {"railhead_pod_silent_fallback", gauge,
       "1 while a container with several GPUs and peers has no connected queue pair, else 0."},
      {"railhead_pod_queue_pairs_seen_total", counter,
       "Queue pairs that a container was seen to make."},
      {"railhead_pod_traffic_bytes_total", counter,
       "Bytes through devices that only this container had queue pairs on."},
      {"railhead_silent_fallbacks_total", counter,
       "Containers that turned out to have fallen back to TCP."},
      {"railhead_pods_reads_total", counter, "Times that it was looked who uses RDMA."},
      {"railhead_pods_complete", gauge, "1 where the last look could see everything, else 0."},
      {"railhead_queue_pairs_without_owner", gauge,
       "Queue pairs whose process could not be found."},
  };
  return list;
}

}  // namespace railhead
