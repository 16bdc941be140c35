// SPDX-License-Identifier: Apache-2.0
#include "agent/nri_service.h"

#include <utility>

#include "host/directory_host.h"

namespace railhead {

NriService::NriService(Context context, NriOptions options, Links links)
    : context_(context),
      options_(std::move(options)),
      links_(links) {}

NriService::~NriService() = default;

Status NriService::start() {
  live_ = TRY(DirectoryHost::open("/"));
  files_ = TRY(Hosted<RuntimeFiles>::start("files", [this](LoopThread& thread) {
    Context there{thread.loop(), thread.mailbox(), context_.clock, context_.log, context_.metrics};
    auto files = std::make_unique<RuntimeFiles>(
        there, TopologyFileKeeper(options_.proc_dir), links_.tables,
        [this, &home = context_.mailbox](TableFeed::Table table) {
          home.post([this, table = std::move(table)] { decisions_->set_topology_provided(table); });
        });
    links_.tables.follow(thread.mailbox(), [now = files.get()] { now->look(); });
    return files;
  }));
  claims_.emplace(options_.pod_resources_socket, options_.gpu_resources, context_.mailbox,
                  context_.clock);
  decisions_.emplace(
      links_.machine, *live_, options_.proc_dir, options_.session.fail_request, context_.log,
      context_.metrics,
      [this](const auto& request, auto table, auto timeout, auto done) {
        claims_->ask(request, std::move(table), timeout, std::move(done));
      },
      &links_.book,
      [this](auto table, auto timeout, auto done) {
        claims_->ask_all(std::move(table), timeout, std::move(done));
      });
  session_.emplace(context_.loop, options_.session, static_cast<nri::Handler&>(*this));
  session_->start();
  return {};
}

void NriService::reconfigure(const Config& config) {
  if (claims_) claims_->set_resources(config.list("injection.gpuResources"));
}

void NriService::publish() {
  if (!session_) return;
  const auto& stats = session_->stats();
  const auto set = [&](std::string_view name, std::uint64_t value) {
    context_.metrics.set(name, static_cast<double>(value));
  };
  set("railhead_nri_connected", stats.connected ? 1 : 0);
  set("railhead_nri_registrations_total", stats.registrations);
  set("railhead_nri_protocol_errors_total", stats.protocol_errors);
  set("railhead_nri_requests_total", stats.requests);
  set("railhead_nri_deadlines_missed_total", stats.deadlines_missed);
}

bool NriService::stop(std::chrono::milliseconds patience) {
  if (session_) session_->stop();
  links_.runtime.set_connected(false);
  return !files_ || files_->end(patience);
}

void NriService::configured(const nri::RuntimePeer& peer) {
  patience_ = peer.request_timeout / 4;
  decisions_->configured(peer);
  files_->use([pid = peer.pid](RuntimeFiles& files) { files.set_runtime(pid); });
}

void NriService::existing(const ContainerRequest& container) {
  decisions_->existing(container);
}

void NriService::synchronized(std::size_t pods, std::size_t containers) {
  links_.runtime.set_connected(true);
  decisions_->synchronized(pods, containers);
}

void NriService::create(const ContainerRequest& request,
                        std::function<void(nri::CreateAnswer)> done) {
  if (!links_.machine.is_behind()) return decisions_->create(request, std::move(done));
  links_.machine.wait(patience_, [this, &request, done = std::move(done)](bool fresh) {
    if (!fresh) note_stale(request);
    decisions_->create(request, done);
  });
}

void NriService::note_stale(const ContainerRequest& request) {
  context_.metrics.add("railhead_nri_stale_decisions_total");
  context_.log.write(
      LogLevel::warn, "decided by the last reading",
      {{"pod", std::string(request.pod_namespace) + "/" + std::string(request.pod_name)},
       {"container", std::string(request.name)},
       {"why", "the machine changed, and reading it takes longer than " +
                   std::to_string(patience_.count()) + " ms"}});
}

nri::CreateAnswer NriService::on_deadline(const ContainerRequest& request) {
  return decisions_->on_deadline(request);
}

void NriService::disconnected(const Error& why, std::chrono::milliseconds retry_in) {
  links_.runtime.set_connected(false);
  decisions_->disconnected(why, retry_in);
}

}  // namespace railhead
