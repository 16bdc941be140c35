// SPDX-License-Identifier: Apache-2.0
#include "agent/port_counters.h"

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "agent/pause_counter.h"
#include "base/text.h"
#include "host/host_error.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

using Metric = PortCounter::Metric;

/// counters/: InfiniBand specification, PortCounters and PortCountersExtended, whose data counts
/// words of four bytes. hw_counters/: mlx5 (drivers/infiniband/hw/mlx5/counters.c), bnxt_re
/// (hw/bnxt_re/hw_counters.c), EFA (hw/efa/efa_verbs.c). What a port does not have is left out.
constexpr std::array kCounters = {
    PortCounter{"counters/port_rcv_data", Metric::bytes, "received", 4},
    PortCounter{"counters/port_xmit_data", Metric::bytes, "transmitted", 4},
    PortCounter{"hw_counters/rx_bytes", Metric::bytes, "received"},
    PortCounter{"hw_counters/tx_bytes", Metric::bytes, "transmitted"},
    PortCounter{"counters/link_downed", Metric::link_downs, ""},
    PortCounter{"counters/symbol_error", Metric::errors, "symbol"},
    PortCounter{"counters/link_error_recovery", Metric::errors, "link-recovery"},
    PortCounter{"counters/port_rcv_errors", Metric::errors, "received"},
    PortCounter{"counters/port_xmit_discards", Metric::errors, "transmit-discards"},
    PortCounter{"counters/local_link_integrity_errors", Metric::errors, "link-integrity"},
    PortCounter{"counters/excessive_buffer_overrun_errors", Metric::errors, "buffer-overrun"},
    PortCounter{"hw_counters/out_of_buffer", Metric::errors, "out-of-buffer"},
    PortCounter{"hw_counters/out_of_sequence", Metric::errors, "out-of-sequence"},
    PortCounter{"hw_counters/packet_seq_err", Metric::errors, "packet-sequence"},
    PortCounter{"hw_counters/local_ack_timeout_err", Metric::errors, "ack-timeout"},
    PortCounter{"hw_counters/rnr_nak_retry_err", Metric::errors, "receiver-not-ready"},
    PortCounter{"hw_counters/req_transport_retries_exceeded", Metric::errors, "retries-exceeded"},
    PortCounter{"hw_counters/rx_icrc_encapsulated", Metric::errors, "icrc"},
    PortCounter{"hw_counters/rx_drops", Metric::errors, "receive-drops"},
    PortCounter{"counters/port_xmit_wait", Metric::congestion, "transmit-wait-ticks"},
    PortCounter{"hw_counters/np_ecn_marked_roce_packets", Metric::congestion, "ecn-marked"},
    PortCounter{"hw_counters/np_cnp_sent", Metric::congestion, "cnp-sent"},
    PortCounter{"hw_counters/rp_cnp_handled", Metric::congestion, "cnp-handled"},
    PortCounter{"hw_counters/rp_cnp_ignored", Metric::congestion, "cnp-ignored"},
};

bool is_physical(const node::Nic& nic, const node::Node& node) {
  if (!nic.registered || nic.elsewhere || nic.sub_function) return false;
  if (!nic.pci) return true;
  const auto* function = node.find_pci(*nic.pci);
  return function == nullptr || !function->is_vf();
}

std::optional<std::uint64_t> number_in(const Result<std::optional<std::string>>& text) {
  if (!text || !*text) return std::nullopt;
  const auto number = parse_unsigned(trim(**text));
  return number ? std::optional(*number) : std::nullopt;
}

/// Of an Ethernet port its netdev counts, also where the RDMA device does not. Source: Linux
/// Documentation/ABI/testing/sysfs-class-net, carrier_down_count.
std::optional<std::uint64_t> carrier_downs(host::Host& host, const node::Nic& nic,
                                           const node::Port& port) {
  if (port.link_layer != node::LinkLayer::ethernet || nic.netdevs.size() != 1) return std::nullopt;
  return number_in(host.read("/sys/class/net/" + nic.netdevs[0] + "/carrier_down_count"));
}

/// What is counted of a NIC, or of one of its ports.
template <typename... Labels>
void remove_samples(Metrics& metrics, const Labels&... labels) {
  metrics.port_bytes.remove(labels...);
  metrics.port_errors.remove(labels...);
  metrics.port_congestion.remove(labels...);
  metrics.port_pause_frames.remove(labels...);
  metrics.port_link_downs.remove(labels...);
}

}  // namespace

std::span<const PortCounter> port_counters() {
  return kCounters;
}

PortCounters::PortCounters(Context context, const TableFeed& tables, std::chrono::seconds every,
                           Source source)
    : context_(context),
      tables_(tables),
      every_(every),
      source_(std::move(source)),
      timer_(context.loop) {}

void PortCounters::start() {
  const auto host = source_.open();
  const auto table = tables_.latest();
  if (host && table) read(**host, table->node());
  loop::call_after(timer_, every_, [this] { start(); });
}

void PortCounters::read(host::Host& host, const node::Node& node) {
  decltype(Metrics::port_active)::Now active;
  decltype(Metrics::port_rate_gbps)::Now rate;
  std::set<std::string> now;
  for (const auto& nic : node.nics) {
    if (!is_physical(nic, node)) continue;
    now.insert(nic.name);
    for (const auto& port : nic.ports) {
      const label::Nic name(nic.name);
      const auto number = std::to_string(port.number);
      const label::Port of_port(number);
      if (port.state) {
        active.add(*port.state == node::PortState::active ? 1 : 0, name, of_port,
                   label::LinkLayer(to_string(port.link_layer)));
      }
      if (port.rate_gbps) rate.add(*port.rate_gbps, name, of_port);
      read_port(host, nic, port);
    }
  }
  for (const auto& name : shown_) {
    if (!now.contains(name)) forget(name);
  }
  shown_ = std::move(now);
  context_.metrics.port_active.replace(std::move(active));
  context_.metrics.port_rate_gbps.replace(std::move(rate));
}

/// Each EINVAL of a restricted function is a line in the kernel's log (prometheus/node_exporter
/// issue 3434), so nothing of such a port is read for an hour and more. It can also be the
/// firmware's trouble of a moment (Linux drivers/infiniband/core/sysfs.c, get_perf_mad).
void PortCounters::read_port(host::Host& host, const node::Nic& nic, const node::Port& port) {
  const auto folder = node::port_folder(nic, port);
  if (refusals_.is_resting(folder, context_.clock.now())) return;
  auto& metrics = context_.metrics;
  const label::Nic name(nic.name);
  const auto number = std::to_string(port.number);
  const label::Port of_port(number);
  // One source for good: a scrape between two would see the counter jump.
  auto link_downs = carrier_downs(host, nic, port);
  for (const auto& counter : kCounters) {
    const auto text = host.read(folder + "/" + std::string(counter.file));
    if (!text && host::errno_of(text.error()) == EINVAL) return rest(nic, port);
    const auto counted = number_in(text);
    if (!counted) continue;
    const auto value = *counted * counter.factor;
    switch (counter.metric) {
      case Metric::bytes:
        metrics.port_bytes.set(value, name, of_port, label::Direction(counter.kind));
        break;
      case Metric::errors:
        metrics.port_errors.set(value, name, of_port, label::PortKind(counter.kind));
        break;
      case Metric::congestion:
        metrics.port_congestion.set(value, name, of_port, label::PortKind(counter.kind));
        break;
      case Metric::link_downs:
        if (!link_downs) link_downs = value;
        break;
    }
  }
  refusals_.answered(folder);
  if (link_downs) metrics.port_link_downs.set(*link_downs, name, of_port);
  read_pauses(nic, port);
}

/// A sample that stands still would look as though nothing happened.
void PortCounters::rest(const node::Nic& nic, const node::Port& port) {
  refusals_.refused(node::port_folder(nic, port), context_.clock.now());
  const label::Nic name(nic.name);
  const auto number = std::to_string(port.number);
  const label::Port of_port(number);
  remove_samples(context_.metrics, name, of_port);
}

void PortCounters::read_pauses(const node::Nic& nic, const node::Port& port) {
  if (source_.ask == nullptr || port.link_layer != node::LinkLayer::ethernet ||
      nic.netdevs.size() != 1 || !nic.pci)
    return;
  const auto counters = source_.ask(nic.netdevs[0], nic.pci->str());
  if (!counters || !*counters) return;
  const auto number = std::to_string(port.number);
  for (const auto& [name, frames] : **counters) {
    const auto pause = pause_counter(name);
    if (!pause) continue;
    context_.metrics.port_pause_frames.set(frames, label::Nic(nic.name), label::Port(number),
                                           metrics::Label<"priority">(pause->priority),
                                           label::Direction(pause->direction));
  }
}

void PortCounters::forget(const std::string& nic) {
  remove_samples(context_.metrics, label::Nic(nic));
  refusals_.forget_below("/sys/class/infiniband/" + nic);
}

}  // namespace railhead::agent
