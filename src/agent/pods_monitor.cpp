// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_monitor.h"

#include <array>
#include <utility>

#include "agent/holders.h"
#include "base/text.h"
#include "host/memory.h"
#include "proof/count.h"
#include "proof/pods_json.h"

namespace railhead {
namespace {

constexpr std::array kVerdicts = {Verdict::rdma, Verdict::tcp, Verdict::idle, Verdict::unknown};

Labels labels_of(const PodKey& key) {
  return {{"namespace", key.pod_namespace}, {"pod", key.pod}, {"container", key.container}};
}

Labels with(Labels labels, std::string name, std::string value) {
  labels.emplace_back(std::move(name), std::move(value));
  return labels;
}

std::string lower(Verdict verdict) {
  return to_lower(to_string(verdict));
}

std::string name_of(const Node& node, const PodsOptions& options) {
  return options.node_name.empty() ? node.name : options.node_name;
}

std::string document_of(const PodsView& view, const Node& node, const PodsOptions& options) {
  Json document = {{"apiVersion", "railhead.io/v1alpha1"}, {"kind", "Pods"}};
  add_pods(document, view, node);
  document["node"] = name_of(node, options);
  return to_json_text(document);
}

}  // namespace

PodsMonitor::PodsMonitor(Context context, PodsOptions options, Open open, Links links)
    : context_(context),
      options_(std::move(options)),
      open_(std::move(open)),
      links_(links),
      timer_(context.loop) {
  links_.page.set(document_of({{}, 0, 0, 0, {"nothing was read yet"}, false},
                              links_.tables.latest()->node(), options_));
}

void PodsMonitor::start() {
  look();
  timer_.expires_after(options_.every);
  timer_.async_wait([this](const auto& failure) {
    if (!failure) start();
  });
}

void PodsMonitor::look() {
  auto host = open_();
  take(host ? Result<Usage>(read_usage(**host, options_.usage)) : Result<Usage>(host.error()));
  give_back_code_pages();  // it is not needed until the next look
}

void PodsMonitor::take(Result<Usage> usage) {
  context_.metrics.add("railhead_pods_reads_total", {{"outcome", usage ? "done" : "failed"}});
  if (!usage) {
    if (logged_.insert(usage.error().message).second) {
      context_.log.write(LogLevel::warn, "pods not read", {{"why", usage.error().message}});
    }
    return;
  }
  const auto table = links_.tables.latest();
  auto holders = holders_of(*usage, *table);
  links_.book.complete(holders, *usage);
  const Usage* before = before_ ? &*before_ : nullptr;
  const auto view = judge_pods(*usage, before, table->node(), holders, options_.proof);
  const auto changes = ledger_.update(view, seconds_between(before, *usage));
  forget(changes);
  publish(view);
  log_blind_spots(view);
  log_changes(view, changes);
  links_.page.set(document_of(view, table->node(), options_));
  if (before_) carry_over(*usage, *std::move(before_));
  before_ = *std::move(usage);
}

void PodsMonitor::publish(const PodsView& view) {
  std::vector<MetricRegistry::Sample> queue_pairs;
  std::vector<MetricRegistry::Sample> registered;
  std::vector<MetricRegistry::Sample> transport;
  std::vector<MetricRegistry::Sample> fallback;
  for (const auto& pod : view.pods) {
    const auto key = key_of(pod.holder);
    const auto labels = labels_of(key);
    for (const auto& [device, share] : pod.devices) {
      const auto of_device = with(labels, "device", device);
      const auto pairs = [&](std::string_view state, std::size_t count) {
        queue_pairs.push_back(
            {with(of_device, "state", std::string(state)), static_cast<double>(count)});
      };
      pairs("connected", share.connected);
      pairs("other", share.queue_pairs - share.connected);
      registered.push_back({of_device, static_cast<double>(share.registered_bytes)});
    }
    transport.push_back({with(labels, "verdict", lower(pod.verdict)), 1});
    fallback.push_back({labels, pod.silent_fallback ? 1.0 : 0.0});
    const auto* totals = ledger_.find(key);
    if (totals == nullptr) continue;
    context_.metrics.set("railhead_pod_queue_pairs_seen_total",
                         static_cast<double>(totals->queue_pairs), labels);
    context_.metrics.set("railhead_pod_traffic_bytes_total", totals->traffic_bytes, labels);
    for (const auto verdict : kVerdicts) {
      context_.metrics.set("railhead_pod_transport_seconds_total",
                           totals->seconds[static_cast<std::size_t>(verdict)],
                           with(labels, "verdict", lower(verdict)));
    }
  }
  context_.metrics.replace("railhead_pod_queue_pairs", queue_pairs);
  context_.metrics.replace("railhead_pod_registered_bytes", registered);
  context_.metrics.replace("railhead_pod_transport", transport);
  context_.metrics.replace("railhead_pod_silent_fallback", fallback);
  context_.metrics.set("railhead_pods_complete", view.complete ? 1 : 0);
  context_.metrics.set("railhead_queue_pairs_without_owner",
                       static_cast<double>(view.ownerless_queue_pairs));
}

void PodsMonitor::forget(const PodLedger::Changes& changes) {
  for (const auto& key : changes.forgotten) {
    const auto labels = labels_of(key);
    for (const auto* metric :
         {"railhead_pod_queue_pairs_seen_total", "railhead_pod_traffic_bytes_total",
          "railhead_pod_transport_seconds_total"})
      context_.metrics.remove(metric, labels);
  }
}

void PodsMonitor::log_blind_spots(const PodsView& view) {
  std::set<std::string> now;
  for (const auto& warning : view.warnings) {
    // The counts in a warning change all the time; its words are what is new or not.
    std::string words;
    for (const char c : warning) {
      if (c < '0' || c > '9') words += c;
    }
    if (!logged_.contains(words)) {
      context_.log.write(LogLevel::warn, "pods not fully seen", {{"why", warning}});
    }
    now.insert(std::move(words));
  }
  logged_ = std::move(now);
}

void PodsMonitor::log_changes(const PodsView& view, const PodLedger::Changes& changes) {
  const auto log = [&](LogLevel level, std::string_view line, const PodUse& pod) {
    context_.log.write(level, line,
                       {{"namespace", pod.holder.pod_namespace},
                        {"pod", pod.holder.pod},
                        {"container", pod.holder.container},
                        {"verdict", std::string(to_string(pod.verdict))},
                        {"gpus", join(pod.holder.gpus, ",")},
                        {"nics", join(pod.holder.nics, ",")},
                        {"why", pod.why}});
  };
  for (const auto& pod : changes.gone) {
    log(LogLevel::info, "container of a silent fallback gone", pod);
  }
  for (const auto i : changes.recovered) {
    log(LogLevel::info, "no silent fallback any more", view.pods[i]);
  }
  for (const auto i : changes.fell_back) {
    context_.metrics.add("railhead_silent_fallbacks_total");
    log(LogLevel::warn, "silent fallback to TCP", view.pods[i]);
  }
}

}  // namespace railhead
