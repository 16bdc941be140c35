// SPDX-License-Identifier: Apache-2.0
#include "agent/nri_service.h"

#include <utility>

#include "host/directory_host.h"
#include "loop/call_after.h"

namespace railhead::agent {

namespace {

nri::SessionOptions timed(nri::SessionOptions options, host::Clock& clock) {
  options.now = [&clock] { return clock.now(); };
  return options;
}

}  // namespace

NriService::NriService(Context context, NriOptions options, Links links)
    : context_(context),
      options_(std::move(options)),
      links_(links),
      kubelet_(links.pod_resources, context.clock),
      hooks_({links.machine, *this, links.runtime, context.log, context.metrics, context.clock,
              &kubelet_, links.containers, links.events, options_.session.fail_request}),
      patience_(context.loop),
      session_(context.loop, timed(options_.session, context.clock), hooks_) {}

NriService::~NriService() = default;

Status NriService::start() {
  files_ = TRY(loop::Hosted<RuntimeFiles>::start("files", [this](loop::LoopThread& thread) {
    const Context there = context_.on(thread);
    auto files = std::make_unique<RuntimeFiles>(
        there, options_.proc_dir, links_.tables,
        [this, &home = context_.mailbox](TableFeed::Table table) {
          home.post([this, table = std::move(table)] { hooks_.set_topology_provided(table); });
        });
    links_.tables.follow(thread.mailbox(), [now = files.get()] { now->look(); });
    return files;
  }));
  watcher_ = TRY(loop::Hosted<RuntimeWatcher>::start("runtime", [this](loop::LoopThread& thread) {
    return std::make_unique<RuntimeWatcher>(
        thread.loop(), [] { return host::DirectoryHost::open("/"); }, options_.proc_dir);
  }));
  session_.start();
  return {};
}

void NriService::publish() {
  const auto& stats = session_.stats();
  auto& metrics = context_.metrics;
  metrics.nri_connected.set(stats.connected ? 1 : 0);
  metrics.nri_registrations.set(stats.registrations);
  metrics.nri_protocol_errors.set(stats.protocol_errors);
  metrics.nri_requests.set(stats.requests);
  metrics.nri_deadlines_missed.set(stats.deadlines_missed);
}

bool NriService::stop(std::chrono::milliseconds patience) {
  session_.stop();
  links_.runtime.set_disconnected("the agent ends");
  const bool has_ended = !watcher_ || watcher_->end(patience);
  return (!files_ || files_->end(patience)) && has_ended;
}

/// What the hooks of one connection wait to know of the runtime.
struct NriService::Question {
  ReadDone done;
  std::optional<RuntimeProcess> process = {};  ///< that they do not know yet
  bool is_over = false;                        ///< they go on, known or not
};

void NriService::read(const nri::RuntimePeer& peer, std::chrono::milliseconds patience,
                      ReadDone done) {
  const auto question = question_ = std::make_shared<Question>(Question{std::move(done)});
  loop::call_after(patience_, patience, [this, question] {
    if (question != question_ || question->is_over) return;
    question->is_over = true;
    question->process ? tell(question) : question->done(std::nullopt);
  });
  watcher_->use([this, peer, question, &home = context_.mailbox](RuntimeWatcher& watcher) {
    watcher.connected(peer, [this, peer, question, &home](const RuntimeProcess& process) {
      home.post([this, peer, question, process] {
        question->process = process;
        provide_file(question, peer.pid ? peer.pid : process.pid);
      });
    });
  });
}

/// Before the hooks go on, so that the first containers of a runtime get the topology file, too.
/// Where its folder hangs, they go on without.
void NriService::provide_file(const std::shared_ptr<Question>& question, std::optional<int> pid) {
  if (question != question_) return;
  if (question->is_over) tell(question);
  files_->use([this, question, pid, &home = context_.mailbox](RuntimeFiles& files) {
    files.runtime_connected(pid);
    home.post([this, question] { tell(question); });
  });
}

void NriService::tell(const std::shared_ptr<Question>& question) {
  if (question != question_ || !question->process) return;
  question->is_over = true;
  question->done(std::exchange(question->process, std::nullopt));
}

}  // namespace railhead::agent
