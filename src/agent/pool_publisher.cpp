// SPDX-License-Identifier: Apache-2.0
#include "agent/pool_publisher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "host/file_lock.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

/// Time between two looks while a device is to be healthy again or forgotten, or a pool ends.
constexpr std::chrono::milliseconds kWhileWaiting{1000};
/// A kubelet reads a list within milliseconds. Where it does not, the end of the list says the
/// same.
constexpr std::chrono::seconds kUntilEnded{2};
constexpr std::size_t kReasonsShown = 4;
/// Fixed in the kubelet, whatever its root folder. Source: Kubernetes
/// staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/constants.go.
constexpr const char* kDevicePluginFolder = "/var/lib/kubelet/device-plugins";

}  // namespace

std::string plugin_folder(const KubeletOptions& options) {
  const auto& configured = options.registrar.plugin_folder;
  if (!configured.empty()) return configured;
  const auto& under_root = options.folder_under_root;
  return host::identity_of(under_root + "/kubelet.sock") ? under_root : kDevicePluginFolder;
}

PoolPublisher::PoolPublisher(Context context, KubeletOptions options, Links links)
    : context_(context),
      options_(std::move(options)),
      links_(links),
      timer_(context.loop),
      files_(options_.folders, options_.hand_out, context.log) {}

PoolPublisher::~PoolPublisher() {
  stop();
}

void PoolPublisher::start() {
  options_.registrar.plugin_folder = plugin_folder(options_);
  registrar_ = std::make_unique<kubelet::Registrar>(
      options_.registrar,
      kubelet::Registrar::Links{context_.mailbox, context_.clock, links_.pod_resources},
      [this](const kubelet::ResourceStatus& status) { changed(status); });
  watch_folders();
  tick();
}

void PoolPublisher::stop() {
  timer_.cancel();
  if (registrar_ && registrar_->holds()) files_.end();
  folders_.reset();
  registrar_.reset();
}

/// A kubelet that starts is seen at once.
void PoolPublisher::watch_folders() {
  auto watch = host::Watch::open("/", registrar_->folders());
  if (!watch) {
    context_.log.write(config::LogLevel::warn, "no events of the kubelet",
                       {{"why", watch.error().message}});
    return;
  }
  folders_.emplace(std::move(watch).value(), context_.loop, [this] { tick(); });
}

void PoolPublisher::offer(std::size_t pool) {
  const auto& name = published_->pools().pools[pool].spec.name;
  auto& offer = offers_.emplace_back();
  offer.resource =
      std::make_unique<PoolResource>(context_, name, options_.hand_out,
                                     PoolResource::Links{files_, links_.tables, links_.runtime});
  auto devices = offer.resource->devices();
  log_pool(pool, devices.size());
  // Where the kubelet or the runtime hands out the nodes, an agent that is down holds up no start.
  const bool asks_before_start = options_.hand_out == config::HandOut::nri;
  registrar_->offer({name, asks_before_start}, *offer.resource, std::move(devices));
}

void PoolPublisher::log_pool(std::size_t pool, std::size_t devices) {
  const auto& name = published_->pools().pools[pool].spec.name;
  if (devices > 0) {
    return context_.log.write(config::LogLevel::info, "pool",
                              {{"pool", name}, {"devices", std::to_string(devices)}});
  }
  // What selects nothing here is empty by design: one configuration serves nodes of many kinds.
  const bool fault = published_->is_useless(pool);
  context_.log.write(fault ? config::LogLevel::warn : config::LogLevel::info, "pool is empty",
                     {{"pool", name}, {"why", why_empty(pool)}});
}

void PoolPublisher::follow(const pools::PoolTable& pools) {
  for (auto& offer : offers_) {
    if (const auto pool = pools.find(offer.resource->name())) {
      if (offer.ends_at) log_pool(*pool, offer.resource->devices().size());
      offer.ends_at.reset();
    } else if (!offer.ends_at) {
      context_.log.write(config::LogLevel::info, "pool ended", {{"pool", offer.resource->name()}});
      offer.ends_at = context_.clock.now() + kUntilEnded;
    }
  }
  for (std::size_t pool = 0; pool < pools.pools.size(); ++pool) {
    const auto& name = pools.pools[pool].spec.name;
    note_remarks(pools.pools[pool]);
    const bool known = std::ranges::any_of(
        offers_, [&](const Offer& offer) { return offer.resource->name() == name; });
    if (!known) this->offer(pool);
  }
}

/// Each once, until it holds no more.
void PoolPublisher::note_remarks(const pools::Pool& pool) {
  const auto before = std::exchange(remarks_[pool.spec.name], pool.remarks);
  for (const auto& remark : pool.remarks) {
    if (contains(before, remark)) continue;
    context_.log.write(config::LogLevel::warn, "pool lacks something",
                       {{"pool", pool.spec.name}, {"what", remark}});
  }
}

void PoolPublisher::end_what_is_due() {
  const auto now = context_.clock.now();
  const auto is_due = [&](const Offer& offer) { return offer.ends_at && now >= *offer.ends_at; };
  std::vector<std::string> due;
  for (const auto& offer : offers_) {
    if (is_due(offer)) due.push_back(offer.resource->name());
  }
  if (due.empty()) return;
  registrar_->withdraw(due);
  std::erase_if(offers_, is_due);
  for (const auto& name : due) {
    remarks_.erase(name);
    forget_metrics(name);
  }
}

void PoolPublisher::forget_metrics(const std::string& name) {
  const label::Pool pool(name);
  context_.metrics.pool_devices.remove(pool);
  context_.metrics.allocations.remove(pool);
  context_.metrics.kubelet_enrolled.remove(pool);
  context_.metrics.kubelet_registrations.remove(pool);
}

std::string PoolPublisher::why_empty(std::size_t pool) const {
  const auto& pools = published_->pools();
  const auto reasons = published_->why_not_in(pool);
  std::vector<std::string> shown;
  std::size_t count = 0;
  for (std::size_t f = 0; f < reasons.size(); ++f) {
    if (!pools::may_matter(pools, pools.functions[f])) continue;
    ++count;
    if (!reasons[f].empty() && shown.size() < kReasonsShown)
      shown.push_back(pools.functions[f].id + ": " + reasons[f]);
  }
  if (count == 0) return "this node has no RDMA device";
  if (shown.empty()) return "it has no slots";
  if (count > shown.size()) shown.push_back(std::to_string(count - shown.size()) + " more");
  return join(shown, "; ");
}

void PoolPublisher::schedule_tick() {
  auto wait = registrar_->until_tick();
  const bool waits = std::ranges::any_of(
      offers_, [](const Offer& offer) { return offer.ends_at || offer.resource->waits(); });
  if (waits) wait = std::min(wait, kWhileWaiting);
  loop::call_after(timer_, wait, [this] { tick(); });
}

void PoolPublisher::tick() {
  if (!registrar_) return;
  publish_news();
  registrar_->tick();
  // The files are those of the agent that holds the registration.
  if (!registrar_->holds()) {
    with_files_.reset();
  } else if (with_files_ != published_ && files_.refresh(*published_)) {
    with_files_ = published_;
  }
  end_what_is_due();
  schedule_tick();
  if (readiness_changed_) readiness_changed_();
}

void PoolPublisher::look() {
  if (registrar_ && links_.tables.latest() != published_) tick();
}

void PoolPublisher::publish_news() {
  const auto table = links_.tables.latest();
  const bool is_new = table != published_;
  published_ = table;
  if (is_new) follow(table->pools());
  for (const auto& [resource, ends_at] : offers_) {
    if (is_new || resource->waits()) registrar_->publish(resource->name(), resource->devices());
  }
}

void PoolPublisher::changed(const kubelet::ResourceStatus& status) {
  const label::Pool pool(status.resource);
  context_.metrics.kubelet_registrations.set(status.enrolments, pool);
  const bool enrolled = status.state == kubelet::RegistrationState::enrolled;
  context_.metrics.kubelet_enrolled.set(enrolled ? 1 : 0, pool);
  LogFields fields{{"pool", status.resource},
                   {"standing", std::string(kubelet::to_string(status.state))}};
  if (!status.detail.empty()) fields.emplace_back("why", status.detail);
  auto& logged = logged_[status.resource];
  const bool bad = status.state == kubelet::RegistrationState::refused ||
                   status.state == kubelet::RegistrationState::not_served;
  if (logged != fields) {
    context_.log.write(bad ? config::LogLevel::warn : config::LogLevel::info, "resource", fields);
  }
  logged = std::move(fields);
  if (registrar_) schedule_tick();
  if (readiness_changed_) readiness_changed_();
}

Readiness PoolPublisher::readiness() const {
  if (!registrar_) return {false, "kubelet: stopped"};
  const auto statuses = registrar_->statuses();
  if (registrar_->stands_by()) {
    return {true, "kubelet: standing by, another agent of this node holds the registration", true};
  }
  for (const auto& status : statuses) {
    if (status.state == kubelet::RegistrationState::no_kubelet) {
      return {true, "kubelet: none, no " + options_.registrar.plugin_folder + "/kubelet.sock",
              true};
    }
    if (status.state == kubelet::RegistrationState::enrolled) continue;
    std::string text = "kubelet: " + status.resource + ": ";
    text += kubelet::to_string(status.state == kubelet::RegistrationState::standing_by
                                   ? kubelet::RegistrationState::enrolling
                                   : status.state);
    if (!status.detail.empty()) text += ": " + status.detail;
    return {false, text};
  }
  return {true, "kubelet: " + std::to_string(statuses.size()) + " resources enrolled"};
}

}  // namespace railhead::agent
