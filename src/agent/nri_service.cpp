// SPDX-License-Identifier: Apache-2.0
#include "agent/nri_service.h"

#include <utility>

namespace railhead {

NriService::NriService(Context context, NriOptions options, Links links)
    : context_(context),
      options_(std::move(options)),
      links_(links),
      kubelet_(links.pod_resources, context.clock),
      hooks_({links.machine, *this, links.runtime, context.log, context.metrics, &kubelet_,
              links.book, options_.session.fail_request}),
      runtime_timer_(context.loop),
      session_(context.loop, options_.session, hooks_) {}

NriService::~NriService() = default;

Status NriService::start() {
  files_ = TRY(Hosted<RuntimeFiles>::start("files", [this](LoopThread& thread) {
    const Context there = context_.on(thread);
    auto files = std::make_unique<RuntimeFiles>(
        there, options_.proc_dir, links_.tables,
        [this, &home = context_.mailbox](TableFeed::Table table) {
          home.post([this, table = std::move(table)] { hooks_.set_topology_provided(table); });
        });
    links_.tables.follow(thread.mailbox(), [now = files.get()] { now->look(); });
    return files;
  }));
  session_.start();
  return {};
}

void NriService::publish() {
  const auto& stats = session_.stats();
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
  session_.stop();
  links_.runtime.set_connected(false);
  return !files_ || files_->end(patience);
}

void NriService::read(const nri::RuntimePeer& peer, std::chrono::milliseconds patience,
                      std::function<void(const std::optional<RuntimeProcess>&)> done) {
  runtime_timer_.expires_after(patience);
  runtime_timer_.async_wait([done](const auto& failure) {
    if (!failure) done(std::nullopt);
  });
  files_->use([this, peer, done = std::move(done), &home = context_.mailbox](RuntimeFiles& files) {
    home.post([this, process = files.runtime_connected(peer), done] {
      runtime_timer_.cancel();
      done(process);
    });
  });
}

}  // namespace railhead
