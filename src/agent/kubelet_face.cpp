// SPDX-License-Identifier: Apache-2.0
#include "agent/kubelet_face.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/pool_metrics.h"
#include "base/text.h"
#include "host/memory.h"

namespace railhead {
namespace {

using kubelet::Standing;

/// Of devices that are to be healthy again, or forgotten, and of pools that end.
constexpr std::chrono::milliseconds kWhileWaiting{1000};
/// A kubelet reads a list within milliseconds. Where it does not, the end of the list says the
/// same.
constexpr std::chrono::seconds kUntilEnded{2};
constexpr std::size_t kReasonsShown = 4;

LogLevel level_of(Standing standing) {
  return standing == Standing::refused || standing == Standing::not_served ? LogLevel::warn
                                                                           : LogLevel::info;
}

}  // namespace

KubeletFace::KubeletFace(KubeletFaceOptions options, PoolResource::Gate gate,
                         boost::asio::io_context& loop, Mailbox& mailbox, Machine& machine,
                         Clock& clock, Log& log, MetricRegistry& metrics)
    : options_(std::move(options)),
      gate_(std::move(gate)),
      loop_(loop),
      machine_(machine),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      mailbox_(mailbox),
      timer_(loop),
      files_(options_.folders, options_.hand_out, log),
      pod_resources_(options_.pod_resources, mailbox) {}

void KubeletFace::start() {
  registrar_ = std::make_unique<kubelet::Registrar>(
      options_.registrar, mailbox_, clock_, pod_resources_,
      [this](const kubelet::ResourceStatus& status) { changed(status); });
  watch_folders();
  tick();
}

void KubeletFace::stop() {
  timer_.cancel();
  if (with_files_) files_.end();
  folders_.reset();
  registrar_.reset();
}

/// A kubelet that starts is seen at once.
void KubeletFace::watch_folders() {
  auto watch = Watch::open("/", registrar_->folders());
  if (!watch) {
    log_.write(LogLevel::warn, "no events of the kubelet", {{"why", watch.error().message}});
    return;
  }
  folders_.emplace(std::move(watch).value(), loop_, [this] { tick(); });
}

void KubeletFace::offer(std::size_t pool) {
  const auto& name = published_->pools().pools[pool].spec.name;
  auto& offer = offers_.emplace_back();
  offer.resource = std::make_unique<PoolResource>(name, options_.hand_out, files_, gate_, machine_,
                                                  clock_, log_, metrics_);
  auto devices = offer.resource->devices();
  if (devices.empty()) {
    log_.write(LogLevel::warn, "pool is empty", {{"pool", name}, {"why", why_empty(pool)}});
  } else {
    log_.write(LogLevel::info, "pool",
               {{"pool", name}, {"devices", std::to_string(devices.size())}});
  }
  registrar_->offer({name}, *offer.resource, std::move(devices));
}

void KubeletFace::let_go(Offer& offer) {
  if (offer.ends_at) return;
  log_.write(LogLevel::info, "pool ended", {{"pool", offer.resource->name()}});
  offer.ends_at = clock_.now() + kUntilEnded;
}

void KubeletFace::follow(const PoolTable& pools) {
  for (auto& offer : offers_) {
    if (pools.find(offer.resource->name())) {
      offer.ends_at.reset();
    } else {
      let_go(offer);
    }
  }
  for (std::size_t pool = 0; pool < pools.pools.size(); ++pool) {
    const auto& name = pools.pools[pool].spec.name;
    const bool known = std::any_of(offers_.begin(), offers_.end(), [&](const Offer& offer) {
      return offer.resource->name() == name;
    });
    if (!known) this->offer(pool);
  }
}

void KubeletFace::end_what_is_due() {
  const auto now = clock_.now();
  const auto is_due = [&](const Offer& offer) { return offer.ends_at && now >= *offer.ends_at; };
  std::vector<std::string> due;
  for (const auto& offer : offers_) {
    if (is_due(offer)) due.push_back(offer.resource->name());
  }
  if (due.empty()) return;
  registrar_->withdraw(due);
  std::erase_if(offers_, is_due);
  for (const auto& name : due) forget_metrics(name);
}

void KubeletFace::forget_metrics(const std::string& name) {
  forget_pool_devices(metrics_, name);
  for (const auto* metric : {"railhead_kubelet_enrolled", "railhead_kubelet_registrations_total"})
    metrics_.remove(metric, {{"pool", name}});
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
  auto wait = registrar_->until_tick();
  const bool waits = std::any_of(offers_.begin(), offers_.end(), [](const Offer& offer) {
    return offer.ends_at || offer.resource->waits();
  });
  if (waits) wait = std::min(wait, kWhileWaiting);
  timer_.expires_after(wait);
  timer_.async_wait([this](const auto& failure) {
    if (!failure) tick();
  });
}

void KubeletFace::tick() {
  if (!registrar_) return;
  publish_news();
  registrar_->tick();
  refresh_files();
  end_what_is_due();
  schedule_tick();
}

/// They are those of the agent that holds the registration.
void KubeletFace::refresh_files() {
  if (registrar_->stands_by() || with_files_ == published_) return;
  with_files_ = published_;
  files_.refresh(*published_);
}

void KubeletFace::look() {
  if (registrar_ && machine_.table() != published_) tick();
}

void KubeletFace::publish_news() {
  const auto table = machine_.table();
  const bool is_new = table != published_;
  published_ = table;
  if (is_new) follow(table->pools());
  for (const auto& [resource, ends_at] : offers_) {
    if (is_new || resource->waits()) registrar_->publish(resource->name(), resource->devices());
  }
  if (is_new) give_back_free_memory();  // the table before was the last that needed it
}

void KubeletFace::changed(const kubelet::ResourceStatus& status) {
  LogFields fields{{"pool", status.resource},
                   {"standing", std::string(kubelet::to_string(status.standing))}};
  if (!status.detail.empty()) fields.emplace_back("why", status.detail);
  log_.write(level_of(status.standing), "resource", fields);
  if (registrar_) schedule_tick();
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
