// SPDX-License-Identifier: Apache-2.0
#include "agent/kubelet_face.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace railhead {
namespace {

using kubelet::Standing;

constexpr std::chrono::seconds kBetweenTicks{1};
constexpr std::size_t kReasonsShown = 4;

LogLevel level_of(Standing standing) {
  return standing == Standing::refused || standing == Standing::not_served ? LogLevel::warn
                                                                           : LogLevel::info;
}

}  // namespace

KubeletFace::KubeletFace(KubeletFaceOptions options, const PoolResource::Gate& gate,
                         boost::asio::io_context& loop, Mailbox& mailbox, Machine& machine,
                         Clock& clock, Log& log, MetricRegistry& metrics)
    : options_(std::move(options)),
      machine_(machine),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      mailbox_(mailbox),
      timer_(loop) {
  const auto table = machine_.table();
  for (std::size_t pool = 0; pool < table->pools().pools.size(); ++pool) {
    resources_.push_back(std::make_unique<PoolResource>(pool, options_.hand_out, gate, machine,
                                                        clock, log, metrics));
  }
}

void KubeletFace::start() {
  registrar_ = std::make_unique<kubelet::Registrar>(
      options_.registrar, mailbox_, clock_,
      [this](const kubelet::ResourceStatus& status) { changed(status); });
  offer_all();
  tick();
  schedule_tick();
}

void KubeletFace::stop() {
  timer_.cancel();
  registrar_.reset();
}

void KubeletFace::offer_all() {
  published_ = machine_.table();
  for (std::size_t pool = 0; pool < resources_.size(); ++pool) {
    auto& resource = *resources_[pool];
    auto devices = resource.devices();
    const LogFields fields{{"pool", resource.name()}, {"devices", std::to_string(devices.size())}};
    if (devices.empty()) {
      log_.write(LogLevel::warn, "pool is empty",
                 {{"pool", resource.name()}, {"why", why_empty(pool)}});
    } else {
      log_.write(LogLevel::info, "pool", fields);
    }
    registrar_->offer({resource.name()}, resource, std::move(devices));
  }
}

std::string KubeletFace::why_empty(std::size_t pool) const {
  const auto& functions = published_->pools().functions;
  if (functions.empty()) return "this node has no RDMA device";
  const auto reasons = published_->why_not_in(pool);
  std::vector<std::string> shown;
  for (std::size_t f = 0; f < reasons.size() && shown.size() < kReasonsShown; ++f) {
    if (!reasons[f].empty()) shown.push_back(functions[f].id + ": " + reasons[f]);
  }
  if (reasons.size() > shown.size()) {
    shown.push_back(std::to_string(reasons.size() - shown.size()) + " more");
  }
  return shown.empty() ? "it has no slots" : join(shown, "; ");
}

void KubeletFace::schedule_tick() {
  timer_.expires_after(kBetweenTicks);
  timer_.async_wait([this](const auto& failure) {
    if (failure) return;
    tick();
    schedule_tick();
  });
}

void KubeletFace::tick() {
  look();
  if (registrar_) registrar_->tick();
}

void KubeletFace::look() {
  if (!registrar_) return;
  const auto table = machine_.table();
  const bool is_new = table != published_;
  published_ = table;
  for (const auto& resource : resources_) {
    if (is_new || resource->waits()) registrar_->publish(resource->name(), resource->devices());
  }
}

void KubeletFace::changed(const kubelet::ResourceStatus& status) {
  LogFields fields{{"pool", status.resource},
                   {"standing", std::string(kubelet::to_string(status.standing))}};
  if (!status.detail.empty()) fields.emplace_back("why", status.detail);
  log_.write(level_of(status.standing), "resource", fields);
}

Readiness KubeletFace::readiness() const {
  if (!registrar_) return {false, "kubelet: stopped"};
  const auto statuses = registrar_->statuses();
  if (registrar_->stands_by()) {
    return {true, "kubelet: standing by, another agent of this node holds the registration"};
  }
  for (const auto& status : statuses) {
    if (status.standing == Standing::no_kubelet) {
      return {true, "kubelet: none, no " + options_.registrar.plugin_folder + "/kubelet.sock"};
    }
    if (status.standing == Standing::enrolled) continue;
    std::string text = "kubelet: " + status.resource + ": ";
    text += kubelet::to_string(status.standing == Standing::standing_by ? Standing::enrolling
                                                                        : status.standing);
    if (!status.detail.empty()) text += ": " + status.detail;
    return {false, text};
  }
  return {true, "kubelet: " + std::to_string(statuses.size()) + " resources enrolled"};
}

void KubeletFace::publish_metrics() {
  if (!registrar_) return;
  for (const auto& status : registrar_->statuses()) {
    const Labels pool{{"pool", status.resource}};
    metrics_.set("railhead_kubelet_registrations_total", status.enrolments, pool);
    metrics_.set("railhead_kubelet_enrolled", status.standing == Standing::enrolled ? 1 : 0, pool);
  }
}

}  // namespace railhead
