// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_monitor.h"

#include <array>
#include <utility>

#include "agent/nfs_counts.h"
#include "base/text.h"
#include "host/memory.h"
#include "loop/call_after.h"
#include "proof/container_records.h"
#include "proof/count.h"
#include "proof/pods_json.h"

namespace railhead::agent {
namespace {

constexpr std::array kVerdicts = {proof::Verdict::rdma, proof::Verdict::tcp, proof::Verdict::idle,
                                  proof::Verdict::unknown};

std::string lower(proof::Verdict verdict) {
  return to_lower(to_string(verdict));
}

std::string document_of(const proof::PodsView& view, const node::Node& node,
                        const PodsOptions& options, host::Clock& clock) {
  data::Json document = {{"apiVersion", "railhead.io/v1alpha1"}, {"kind", "Pods"}};
  document["time"] = host::utc_text(clock.calendar());
  proof::add_pods(document, view, node);
  if (!options.node_name.empty()) document["node"] = options.node_name;
  return data::to_json_text(document);
}

}  // namespace

PodsMonitor::PodsMonitor(Context context, PodsOptions options, OpenMachine open, Links links)
    : context_(context),
      options_(std::move(options)),
      open_(std::move(open)),
      links_(links),
      timer_(context.loop),
      ledger_(options_.proof.grace_seconds) {
  links_.page.set(document_of({{}, 0, 0, 0, {"nothing was read yet"}, false},
                              links_.tables.latest()->node(), options_, context_.clock));
}

void PodsMonitor::start() {
  look();
  loop::call_after(timer_, options_.every, [this] { start(); });
}

void PodsMonitor::look() {
  auto host = open_();
  if (host) count_nfs(**host, context_.metrics);
  take(host ? Result<usage::Usage>(
                  usage::read_usage(**host, options_.proc_dir, options_.queue_pairs))
            : Result<usage::Usage>(host.error()));
  host::give_back_code_pages();  // it is not needed until the next look
}

void PodsMonitor::take(Result<usage::Usage> usage) {
  if (!usage) {
    context_.metrics.pods_reads.add("failed");
    if (logged_.insert(usage.error().message).second) {
      context_.log.write(config::LogLevel::warn, "pods not read", {{"why", usage.error().message}});
    }
    return;
  }
  context_.metrics.pods_reads.add("done");
  const auto table = links_.tables.latest();
  auto records = proof::records_of(*usage, *table);
  if (usage->processes_known) links_.containers.complete(records, *usage);
  const usage::Usage* before = before_ ? &*before_ : nullptr;
  auto view = proof::judge_pods(*usage, before, table->node(), records, options_.proof);
  const auto changes = ledger_.update(view, proof::seconds_between(before, *usage));
  forget(changes);
  publish(view);
  log_blind_spots(view);
  log_changes(view, changes);
  links_.page.set(document_of(view, table->node(), options_, context_.clock));
  proof::note_who_moved_alone(*usage, view);
  if (before_) proof::carry_over(*usage, *std::move(before_));
  proof::forget_what_is_not_compared(*usage);
  before_ = *std::move(usage);
}

void PodsMonitor::publish(const proof::PodsView& view) {
  auto& metrics = context_.metrics;
  decltype(Metrics::pod_queue_pairs)::Now queue_pairs;
  decltype(Metrics::pod_registered_bytes)::Now registered;
  decltype(Metrics::pod_transport)::Now transport;
  decltype(Metrics::pod_silent_fallback)::Now fallback;
  for (const auto& use : view.pods) {
    const auto key = proof::key_of(use.record);
    const label::Namespace pod_namespace(key.pod_namespace);
    const label::Pod pod(key.pod);
    const label::Container container(key.container);
    for (const auto& [name, share] : use.devices) {
      const label::Device device(name);
      const auto others = share.queue_pairs - share.connected;
      queue_pairs.add(share.connected, pod_namespace, pod, container, device, "connected");
      queue_pairs.add(others, pod_namespace, pod, container, device, "other");
      registered.add(share.registered_bytes, pod_namespace, pod, container, device);
    }
    transport.add(1, pod_namespace, pod, container, label::Verdict(lower(use.verdict)));
    fallback.add(use.silent_fallback ? 1 : 0, pod_namespace, pod, container);
    const auto* totals = ledger_.find(key);
    if (totals == nullptr) continue;
    metrics.pod_queue_pairs_seen.set(totals->queue_pairs, pod_namespace, pod, container);
    metrics.pod_traffic_bytes.set(totals->traffic_bytes, pod_namespace, pod, container);
    metrics.pod_tcp_bytes.set(totals->tcp_bytes, pod_namespace, pod, container);
    for (const auto verdict : kVerdicts) {
      metrics.pod_transport_seconds.set(totals->seconds[static_cast<std::size_t>(verdict)],
                                        pod_namespace, pod, container,
                                        label::Verdict(lower(verdict)));
    }
  }
  metrics.pod_queue_pairs.replace(std::move(queue_pairs));
  metrics.pod_registered_bytes.replace(std::move(registered));
  metrics.pod_transport.replace(std::move(transport));
  metrics.pod_silent_fallback.replace(std::move(fallback));
  metrics.pods_complete.set(view.complete ? 1 : 0);
  metrics.queue_pairs_without_owner.set(view.ownerless_queue_pairs);
}

void PodsMonitor::forget(const proof::PodLedger::Changes& changes) {
  for (const auto& key : changes.forgotten) {
    const label::Namespace pod_namespace(key.pod_namespace);
    const label::Pod pod(key.pod);
    const label::Container container(key.container);
    context_.metrics.pod_queue_pairs_seen.remove(pod_namespace, pod, container);
    context_.metrics.pod_traffic_bytes.remove(pod_namespace, pod, container);
    context_.metrics.pod_tcp_bytes.remove(pod_namespace, pod, container);
    context_.metrics.pod_transport_seconds.remove(pod_namespace, pod, container);
  }
}

void PodsMonitor::log_blind_spots(const proof::PodsView& view) {
  std::set<std::string> now;
  for (const auto& warning : view.warnings) {
    // A warning is new if its words are: its counts change all the time.
    std::string words;
    for (const char c : warning) {
      if (c < '0' || c > '9') words += c;
    }
    if (!logged_.contains(words)) {
      context_.log.write(config::LogLevel::warn, "pods not fully seen", {{"why", warning}});
    }
    now.insert(std::move(words));
  }
  logged_ = std::move(now);
}

void PodsMonitor::log_changes(const proof::PodsView& view,
                              const proof::PodLedger::Changes& changes) {
  const auto log = [&](config::LogLevel level, std::string_view line, const proof::PodUse& pod) {
    context_.log.write(level, line,
                       {{"namespace", pod.record.pod_namespace},
                        {"pod", pod.record.pod},
                        {"container", pod.record.container},
                        {"verdict", std::string(to_string(pod.verdict))},
                        {"gpus", join(pod.record.gpus, ",")},
                        {"nics", join(pod.record.nics, ",")},
                        {"why", pod.why}});
  };
  for (const auto& pod : changes.gone) {
    log(config::LogLevel::info, "container of a silent fallback gone", pod);
  }
  for (const auto i : changes.recovered) {
    log(config::LogLevel::info, "no silent fallback any more", view.pods[i]);
  }
  for (const auto i : changes.fell_back) {
    context_.metrics.silent_fallbacks.add();
    log(config::LogLevel::warn, "silent fallback to TCP", view.pods[i]);
    if (links_.events != nullptr) links_.events->fell_back(view.pods[i]);
  }
}

}  // namespace railhead::agent
