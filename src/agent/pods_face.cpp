// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_face.h"

#include <array>
#include <utility>

#include "base/text.h"
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

std::string name_of(const Node& node, const PodsFaceOptions& options) {
  return options.node_name.empty() ? node.name : options.node_name;
}

std::string document_of(const PodsView& view, const Node& node, const PodsFaceOptions& options) {
  Json document = {{"apiVersion", "railhead.io/v1alpha1"}, {"kind", "Pods"}};
  add_pods(document, view, node);
  document["node"] = name_of(node, options);
  return to_json_text(document);
}

}  // namespace

PodsFace::PodsFace(PodsFaceOptions options, UsageReader::Open open, boost::asio::io_context& loop,
                   Mailbox& mailbox, Machine& machine, ContainerBook& book, Log& log,
                   MetricRegistry& metrics)
    : options_(std::move(options)),
      machine_(machine),
      book_(book),
      log_(log),
      metrics_(metrics),
      reader_(std::move(open), options_.usage, mailbox),
      timer_(loop),
      page_(document_of({{}, 0, 0, 0, {"nothing was read yet"}, false}, machine.table()->node(),
                        options_)) {}

void PodsFace::start() {
  look();
  schedule();
}

void PodsFace::stop() {
  timer_.cancel();
}

void PodsFace::schedule() {
  timer_.expires_after(options_.every);
  timer_.async_wait([this](const auto& failure) {
    if (failure) return;
    look();
    schedule();
  });
}

void PodsFace::look() {
  const bool asked = reader_.ask([this](Result<Usage> usage) { take(std::move(usage)); });
  if (!asked) metrics_.add("railhead_pods_reads_total", {{"outcome", "late"}});
}

void PodsFace::take(Result<Usage> usage) {
  metrics_.add("railhead_pods_reads_total", {{"outcome", usage ? "done" : "failed"}});
  if (!usage) {
    if (told_.insert(usage.error().message).second) {
      log_.write(LogLevel::warn, "pods not read", {{"why", usage.error().message}});
    }
    return;
  }
  const auto table = machine_.table();
  auto holders = holders_of(*usage, *table);
  book_.complete(holders, *usage);
  const Usage* before = before_ ? &*before_ : nullptr;
  const auto view = judge_pods(*usage, before, table->node(), holders, options_.proof);
  const auto changes = ledger_.update(view, seconds_between(before, *usage));
  forget(changes);
  publish(view);
  log_blind_spots(view);
  tell_changes(view, changes);
  page_ = document_of(view, table->node(), options_);
  if (before_) carry_over(*usage, *std::move(before_));
  before_ = *std::move(usage);
}

void PodsFace::publish(const PodsView& view) {
  for (const auto* gauge : {"railhead_pod_queue_pairs", "railhead_pod_registered_bytes",
                            "railhead_pod_transport", "railhead_pod_silent_fallback"}) {
    metrics_.clear(gauge);
  }
  for (const auto& pod : view.pods) {
    const auto key = key_of(pod.holder);
    const auto labels = labels_of(key);
    for (const auto& [device, share] : pod.devices) {
      const auto of_device = with(labels, "device", device);
      const auto pairs = [&](std::string_view state, std::size_t count) {
        metrics_.set("railhead_pod_queue_pairs", static_cast<double>(count),
                     with(of_device, "state", std::string(state)));
      };
      pairs("connected", share.connected);
      pairs("other", share.queue_pairs - share.connected);
      metrics_.set("railhead_pod_registered_bytes", static_cast<double>(share.registered_bytes),
                   of_device);
    }
    metrics_.set("railhead_pod_transport", 1, with(labels, "verdict", lower(pod.verdict)));
    metrics_.set("railhead_pod_silent_fallback", pod.silent_fallback ? 1 : 0, labels);
    const auto* totals = ledger_.find(key);
    if (totals == nullptr) continue;
    metrics_.set("railhead_pod_queue_pairs_seen_total", static_cast<double>(totals->queue_pairs),
                 labels);
    metrics_.set("railhead_pod_traffic_bytes_total", totals->traffic_bytes, labels);
    for (const auto verdict : kVerdicts) {
      metrics_.set("railhead_pod_transport_seconds_total",
                   totals->seconds[static_cast<std::size_t>(verdict)],
                   with(labels, "verdict", lower(verdict)));
    }
  }
  metrics_.set("railhead_pods_complete", view.complete ? 1 : 0);
  metrics_.set("railhead_queue_pairs_without_owner",
               static_cast<double>(view.ownerless_queue_pairs));
}

void PodsFace::forget(const PodLedger::Changes& changes) {
  for (const auto& key : changes.forgotten) {
    const auto labels = labels_of(key);
    metrics_.remove("railhead_pod_queue_pairs_seen_total", labels);
    metrics_.remove("railhead_pod_traffic_bytes_total", labels);
    for (const auto verdict : kVerdicts) {
      metrics_.remove("railhead_pod_transport_seconds_total",
                      with(labels, "verdict", lower(verdict)));
    }
  }
}

void PodsFace::log_blind_spots(const PodsView& view) {
  std::set<std::string> now;
  for (const auto& warning : view.warnings) {
    // The counts in a warning change all the time; its words are what is new or not.
    std::string words;
    for (const char c : warning) {
      if (c < '0' || c > '9') words += c;
    }
    if (!told_.contains(words)) {
      log_.write(LogLevel::warn, "pods not fully seen", {{"why", warning}});
    }
    now.insert(std::move(words));
  }
  told_ = std::move(now);
}

void PodsFace::tell_changes(const PodsView& view, const PodLedger::Changes& changes) {
  const auto tell = [&](LogLevel level, std::string_view line, const PodUse& pod) {
    log_.write(level, line,
               {{"namespace", pod.holder.pod_namespace},
                {"pod", pod.holder.pod},
                {"container", pod.holder.container},
                {"verdict", std::string(to_string(pod.verdict))},
                {"gpus", join(pod.holder.gpus, ",")},
                {"nics", join(pod.holder.nics, ",")},
                {"why", pod.why}});
  };
  for (const auto& pod : changes.gone) {
    tell(LogLevel::info, "container of a silent fallback gone", pod);
  }
  for (const auto i : changes.recovered) {
    tell(LogLevel::info, "no silent fallback any more", view.pods[i]);
  }
  for (const auto i : changes.fell_back) {
    metrics_.add("railhead_silent_fallbacks_total");
    tell(LogLevel::warn, "silent fallback to TCP", view.pods[i]);
  }
}

std::string PodsFace::page() const {
  return page_;
}

}  // namespace railhead
