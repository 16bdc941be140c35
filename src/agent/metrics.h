// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metrics/registry.h"

namespace railhead::agent {

/// Labels that several metrics have, or whose values come from elsewhere: a caller names their
/// type.
namespace label {
using Cause =
    metrics::Label<"cause", "start", "event", "port", "timer", "unknown-gpu", "no-events">;
using Check = metrics::Label<"check">;
using CheckState = metrics::Label<"state", "pass", "warn", "fail", "unknown", "skip">;
using Code = metrics::Label<"code">;
using Confidence = metrics::Label<"confidence", "high", "medium", "low">;
using Container = metrics::Label<"container">;
using Device = metrics::Label<"device">;
using DoctorOutcome = metrics::Label<"outcome", "good", "problem", "unknown", "failed">;
using Direction = metrics::Label<"direction", "received", "transmitted">;
using Granted = metrics::Label<"outcome", "granted", "refused", "start-refused">;
using LinkLayer = metrics::Label<"link_layer">;
using Namespace = metrics::Label<"namespace">;
using NfsVerdict = metrics::Label<"verdict", "rdma", "tcp", "fallback", "absent", "unknown">;
using Nic = metrics::Label<"nic">;
using Outcome = metrics::Label<"outcome", "adjusted", "untouched", "refused">;
using Place = metrics::Label<"place", "tcp", "unix">;
using Pod = metrics::Label<"pod">;
using Pool = metrics::Label<"pool">;
using Port = metrics::Label<"port">;
using PortKind = metrics::Label<"kind">;
using Reason = metrics::Label<"reason">;
using Role = metrics::Label<"role">;
using Usable = metrics::Label<"usable", "true", "false">;
using Verdict = metrics::Label<"verdict", "rdma", "tcp", "idle", "unknown">;
using Version = metrics::Label<"version">;
}  // namespace label

/// An answer takes 0.1 ms where nothing is waited for, and containerd waits 2 s.
inline constexpr double kAnswerBounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                           0.025,  0.05,    0.1,    0.25,  0.5,    1,     2};

/// Every metric of the agent, in the order of /metrics; docs/metrics.md is compared with it by a
/// test. A row is the metric: whoever counts names the member.
struct Metrics : metrics::MetricRegistry {
  Metrics();

  metrics::Gauge<label::Version> build_info{*this, "railhead_build_info",
                                            "Version of this agent, always 1."};
  metrics::Counter<metrics::Label<"outcome", "loaded", "refused">> config_reloads{
      *this, "railhead_config_reloads_total",
      "Times that the configuration was read again and taken on, or refused."};
  metrics::Gauge<> config_last_reload_successful{
      *this, "railhead_config_last_reload_successful",
      "1 where the configuration in the files could be read, else 0: the one before is in force."};
  metrics::Gauge<> config_last_success_timestamp_seconds{
      *this, "railhead_config_last_success_timestamp_seconds",
      "When the configuration in force was read, in seconds since 1970."};
  metrics::Gauge<> config_settings_awaiting_restart{
      *this, "railhead_config_settings_awaiting_restart",
      "Settings whose value in the files takes effect when the agent is started again."};
  metrics::Gauge<> node_gpus{*this, "railhead_node_gpus", "GPUs of the node."};
  metrics::Gauge<metrics::Label<"source">, label::Confidence, metrics::Label<"origin">>
      topology_info{
          *this, "railhead_topology_info",
          "Where the relations of GPUs and NICs are from and how sure they are, always 1."};
  metrics::Gauge<label::Role, label::Usable> node_nics{
      *this, "railhead_node_nics", "RDMA NICs of the node by role and usability."};
  metrics::Gauge<label::Nic> nic_usable{*this, "railhead_nic_usable",
                                        "1 where a NIC can carry traffic now, else 0."};
  metrics::Gauge<label::Nic> compute_nic_usable{*this, "railhead_compute_nic_usable",
                                                "1 where a NIC that is dealt to a GPU, or another "
                                                "port of its card, can carry traffic, else 0."};
  metrics::Gauge<metrics::Label<"gpu">> nic_missing{
      *this, "railhead_nic_missing",
      "1 for each GPU, by PCI address, whose NIC seems to have fallen off the bus; any: the type "
      "of "
      "machine has more NICs, and where they are missing is not known."};
  metrics::Counter<label::Nic, label::Port, label::Direction> port_bytes{
      *this, "railhead_port_bytes_total",
      "Bytes through a port; of an Ethernet port those of RDMA alone."};
  metrics::Counter<label::Nic, label::Port, label::PortKind> port_errors{
      *this, "railhead_port_errors_total",
      "What a port counts as wrong, by kind: lost, damaged and repeated packets."};
  metrics::Counter<label::Nic, label::Port, label::PortKind> port_congestion{
      *this, "railhead_port_congestion_total",
      "What a port counts of congestion, by kind: marked packets, notifications, waiting."};
  metrics::Counter<label::Nic, label::Port, metrics::Label<"priority">, label::Direction>
      port_pause_frames{*this, "railhead_port_pause_frames_total",
                        "Pause frames of an Ethernet port, by priority; all: of the whole link."};
  metrics::Counter<label::Nic, label::Port> port_link_downs{
      *this, "railhead_port_link_downs_total", "Times that the link of a port went down."};
  metrics::Gauge<label::Nic, label::Port, label::LinkLayer> port_active{
      *this, "railhead_port_active",
      "1 where the state of a port is ACTIVE, else 0; no sample where it is not known."};
  metrics::Gauge<label::Nic, label::Port> port_rate_gbps{*this, "railhead_port_rate_gbps",
                                                         "Rate of a port's link in Gbit/s."};
  metrics::Gauge<> node_problems{*this, "railhead_node_problems",
                                 "Facts of the node that could not be read or are malformed."};
  metrics::Gauge<> node_unread{
      *this, "railhead_node_unread",
      "1 where a device, or a folder of devices, could not be read, else 0: what the node has is "
      "not known."};
  metrics::Counter<label::Cause> node_reads{*this, "railhead_node_reads_total",
                                            "Times the node was read, by what caused it."};
  metrics::Counter<label::Cause> node_read_failures{
      *this, "railhead_node_read_failures_total",
      "Readings of the node that failed, so that the one before counts, by what caused them."};
  metrics::Gauge<> node_read_seconds{*this, "railhead_node_read_seconds",
                                     "How long the last reading of the node took."};
  metrics::Gauge<> node_reading_seconds{
      *this, "railhead_node_reading_seconds",
      "How long the reading of the node that is not over yet has taken so far, else 0."};
  metrics::Gauge<> nri_connected{*this, "railhead_nri_connected",
                                 "1 while registered with the container runtime, else 0."};
  metrics::Gauge<metrics::Label<"name">, label::Version, metrics::Label<"nri">> nri_runtime_info{
      *this, "railhead_nri_runtime_info", "The connected container runtime, always 1."};
  metrics::Gauge<metrics::Label<"what">> nri_missing_features{
      *this, "railhead_nri_missing_features", "Features that the connected runtime would ignore."};
  metrics::Counter<> nri_registrations{*this, "railhead_nri_registrations_total",
                                       "Registrations that reached synchronized."};
  metrics::Counter<> nri_disconnects{*this, "railhead_nri_disconnects_total",
                                     "Connections to the runtime that ended or failed."};
  metrics::Counter<> nri_protocol_errors{*this, "railhead_nri_protocol_errors_total",
                                         "Frames or messages that broke the protocol."};
  metrics::Counter<> nri_requests{*this, "railhead_nri_requests_total",
                                  "CreateContainer requests."};
  metrics::Histogram nri_answer_seconds{
      *this, "railhead_nri_answer_seconds",
      "From the arrival of a CreateContainer request to its answer.", kAnswerBounds};
  metrics::Counter<> nri_deadlines_missed{*this, "railhead_nri_deadlines_missed_total",
                                          "Requests answered by the own deadline."};
  metrics::Counter<> nri_stale_decisions{
      *this, "railhead_nri_stale_decisions_total",
      "Decisions by a reading that was older than the last event: the machine was slow to read."};
  metrics::Counter<label::Outcome, label::Reason> nri_decisions{
      *this, "railhead_nri_decisions_total", "Decisions by outcome and reason.", decisions()};
  metrics::Counter<label::Code> nri_warnings{*this, "railhead_nri_warnings_total",
                                             "Remarks on decisions by code.", remarks()};
  metrics::Counter<label::Nic> nri_injected_nics{*this, "railhead_nri_injected_nics_total",
                                                 "NICs given to containers, by NIC."};
  metrics::Counter<> nri_created_again{
      *this, "railhead_nri_created_again_total",
      "Adjusted containers that were created again: restarts, and creations that failed."};
  metrics::Gauge<> nri_containers_missing_devices{
      *this, "railhead_nri_containers_missing_devices",
      "Containers found at the last Synchronize without devices that are due to them."};
  metrics::Gauge<label::Pool, metrics::Label<"state", "healthy", "unhealthy">,
                 metrics::Label<"reason", "not-ready", "recovering", "gone">>
      pool_devices{*this, "railhead_pool_devices",
                   "Devices that the kubelet is shown, by pool, state and reason."};
  metrics::Counter<label::Pool> kubelet_registrations{
      *this, "railhead_kubelet_registrations_total",
      "Registrations that the kubelet accepted, by pool."};
  metrics::Gauge<label::Pool> kubelet_enrolled{
      *this, "railhead_kubelet_enrolled",
      "1 while the kubelet watches the pool's devices, else 0."};
  metrics::Counter<label::Pool, label::Granted> allocations{
      *this, "railhead_allocations_total", "Allocations and starts that were asked for."};
  metrics::Gauge<label::Namespace, label::Pod, label::Container, label::Device,
                 metrics::Label<"state", "connected", "other">>
      pod_queue_pairs{
          *this, "railhead_pod_queue_pairs",
          "Queue pairs by device; connected ones lead to another and are ready, or receive."};
  metrics::Gauge<label::Namespace, label::Pod, label::Container, label::Device>
      pod_registered_bytes{
          *this, "railhead_pod_registered_bytes",
          "Bytes of the memory regions that a container has registered, without those of its whole "
          "address space."};
  metrics::Gauge<label::Namespace, label::Pod, label::Container, label::Verdict> pod_transport{
      *this, "railhead_pod_transport",
      "What a container with GPUs, NICs or RDMA objects uses, always 1."};
  metrics::Counter<label::Namespace, label::Pod, label::Container, label::Verdict>
      pod_transport_seconds{*this, "railhead_pod_transport_seconds_total",
                            "Seconds that a container was seen with this verdict."};
  metrics::Gauge<label::Namespace, label::Pod, label::Container> pod_silent_fallback{
      *this, "railhead_pod_silent_fallback",
      "1 while a container that is due to use RDMA certainly does not, else 0."};
  metrics::Counter<label::Namespace, label::Pod, label::Container> pod_queue_pairs_seen{
      *this, "railhead_pod_queue_pairs_seen_total",
      "Queue pairs that a container was seen to make."};
  metrics::Counter<label::Namespace, label::Pod, label::Container> pod_traffic_bytes{
      *this, "railhead_pod_traffic_bytes_total",
      "Bytes through devices that only this container had queue pairs on."};
  metrics::Counter<label::Namespace, label::Pod, label::Container> pod_tcp_bytes{
      *this, "railhead_pod_tcp_bytes_total",
      "Bytes of a container's TCP connections to elsewhere, both ways, as far as looks saw them."};
  metrics::Counter<> silent_fallbacks{*this, "railhead_silent_fallbacks_total",
                                      "Containers that turned out to have fallen back to TCP."};
  metrics::Counter<metrics::Label<"outcome", "done", "failed">> pods_reads{
      *this, "railhead_pods_reads_total", "Times that the agent looked who uses RDMA."};
  metrics::Gauge<> pods_complete{*this, "railhead_pods_complete",
                                 "1 where the last look could see everything, else 0."};
  metrics::Gauge<label::NfsVerdict> nfs_mounts{*this, "railhead_nfs_mounts",
                                               "NFS mounts of the machine by what carries them."};
  metrics::Gauge<> queue_pairs_without_owner{*this, "railhead_queue_pairs_without_owner",
                                             "Queue pairs whose process could not be found."};
  metrics::Gauge<label::Check, label::CheckState> check_findings{
      *this, "railhead_check_findings",
      "What the last look found of a check of the doctor: its subjects by state."};
  metrics::Gauge<label::Check> check_last_run{
      *this, "railhead_check_last_run_timestamp_seconds",
      "When the check was made last, in seconds since 1970."};
  metrics::Gauge<label::Check> check_seconds{
      *this, "railhead_check_duration_seconds",
      "How long the check took, with reading what it looks at, which checks share."};
  metrics::Counter<label::DoctorOutcome> doctor_runs{
      *this, "railhead_doctor_runs_total",
      "Times that the checks of the node were made, by what came of it."};
  metrics::Gauge<> doctor_run_seconds{*this, "railhead_doctor_run_seconds",
                                      "How long the checks took when they were made last."};
  metrics::Gauge<> doctor_left_out{
      *this, "railhead_doctor_left_out",
      "What the last look did not read any more, because its time was over."};
  metrics::Counter<metrics::Label<"outcome", "absent", "removed", "failed">> startup_taint_looks{
      *this, "railhead_startup_taint_looks_total",
      "Times that an agent which is ready looked for the startup taint of its node."};
  metrics::Counter<metrics::Label<"outcome", "posted", "failed", "dropped">> kube_events{
      *this, "railhead_kube_events_total",
      "Events for Kubernetes by what became of them; repeats in between count as one."};
  metrics::Counter<metrics::Label<"outcome", "written", "failed">> node_conditions{
      *this, "railhead_node_conditions_total",
      "Times that the conditions of the node were written into Kubernetes, or tried in vain."};
  metrics::Gauge<label::Place> http_listening{
      *this, "railhead_http_listening",
      "1 while these pages are served at this place, else 0; /readyz says why."};
  metrics::Counter<> log_lines_dropped{
      *this, "railhead_log_lines_dropped_total",
      "Lines of the log that were lost, because nobody reads it fast enough or its disk is full."};

 private:
  /// What can ever be counted: each outcome with its reasons, and every remark.
  static std::vector<decltype(nri_decisions)::Combination> decisions();
  static std::vector<decltype(nri_warnings)::Combination> remarks();
};

}  // namespace railhead::agent
