// SPDX-License-Identifier: Apache-2.0
#include "agent/nri_service.h"

#include <utility>

#include "host/directory_host.h"

namespace railhead {

NriService::NriService(Context context, NriOptions options, Links links)
    : context_(context),
      options_(std::move(options)),
      links_(links),
      kubelet_(links.pod_resources, context.clock),
      hooks_({links.machine, *this, links.runtime, context.log, context.metrics, &kubelet_,
              links.book, options_.session.fail_request}),
      patience_(context.loop),
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
  watcher_ = TRY(Hosted<RuntimeWatcher>::start("runtime", [this](LoopThread& thread) {
    return std::make_unique<RuntimeWatcher>(
        thread.loop(), [] { return DirectoryHost::open("/"); }, options_.proc_dir);
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
  const bool has_ended = !watcher_ || watcher_->end(patience);
  return (!files_ || files_->end(patience)) && has_ended;
}

void NriService::read(const nri::RuntimePeer& peer, std::chrono::milliseconds patience,
                      ReadDone done) {
  tell_ = nullptr;
  patience_.expires_after(patience);
  patience_.async_wait([this, done](const auto& failure) {
    if (failure) return;
    tell_ ? tell() : done(std::nullopt);
  });
  const auto was_read = [this, peer, done = std::move(done),
                         asked = ++questions_](const RuntimeProcess& process) {
    if (asked != questions_) return;
    tell_ = [done, process] { done(process); };
    provide_file(peer.pid ? peer.pid : process.pid);
  };
  watcher_->use([peer, was_read, &home = context_.mailbox](RuntimeWatcher& watcher) {
    watcher.connected(peer, [was_read, &home](const RuntimeProcess& process) {
      home.post([was_read, process] { was_read(process); });
    });
  });
}

/// Before the hooks go on, so that the first containers of a runtime get the topology file, too.
/// Where its folder hangs, they go on without.
void NriService::provide_file(std::optional<int> pid) {
  files_->use([this, pid, &home = context_.mailbox](RuntimeFiles& files) {
    files.runtime_connected(pid);
    home.post([this] { tell(); });
  });
}

void NriService::tell() {
  patience_.cancel();
  if (const auto tell = std::exchange(tell_, nullptr)) tell();
}

}  // namespace railhead
