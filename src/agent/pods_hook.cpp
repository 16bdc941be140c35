// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_hook.h"

#include <system_error>
#include <utility>

#include "proof/pods_json.h"

namespace railhead {
namespace {

constexpr std::string_view kMetric = "railhead_pods_hook_events_total";

std::string line_of(std::string_view event, const PodUse& pod, const std::string& node,
                    const std::string& time) {
  Json document = {{"apiVersion", "railhead.io/v1alpha1"},
                   {"kind", "PodEvent"},
                   {"time", time},
                   {"node", node},
                   {"event", event}};
  document.update(pod_json(pod));
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string_view outcome_of(const ProgramEnd& end) {
  using enum ProgramEnd::How;
  switch (end.how) {
    case exited: return end.code == 0 ? "done" : "failed";
    case signalled: return "failed";
    case timed_out: return "timed-out";
    case stopped: return "stopped";
    case not_started: return "not-started";
  }
  return "failed";
}

}  // namespace

Result<std::unique_ptr<PodsHook>> PodsHook::open(Mailbox& mailbox, Clock& clock, Log& log,
                                                 MetricRegistry& metrics, Run run) {
  auto stop = TRY(Stop::open());
  return std::unique_ptr<PodsHook>(
      new PodsHook(std::move(stop), mailbox, clock, log, metrics, std::move(run)));
}

PodsHook::PodsHook(std::unique_ptr<Stop> stop, Mailbox& mailbox, Clock& clock, Log& log,
                   MetricRegistry& metrics, Run run)
    : stop_(std::move(stop)),
      mailbox_(mailbox),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      run_(std::move(run)) {}

PodsHook::~PodsHook() {
  stop_->raise();
  if (running_.joinable()) running_.join();
}

void PodsHook::use(std::vector<std::string> words) {
  words_ = std::move(words);
  if (!words_.empty()) return;
  for (const auto& event : std::exchange(waiting_, {}))
    drop(event, "pods.hook names none any more");
}

void PodsHook::tell(std::string_view event, const PodUse& pod, const std::string& node) {
  if (words_.empty()) return;
  Event told{{{"event", std::string(event)},
              {"namespace", pod.holder.pod_namespace},
              {"pod", pod.holder.pod},
              {"container", pod.holder.container}},
             line_of(event, pod, node, utc_text(clock_.calendar()))};
  if (waiting_.size() >= kMaxWaiting) {
    drop(told, std::to_string(kMaxWaiting) + " wait already");
    return;
  }
  waiting_.push_back(std::move(told));
  start_next();
}

void PodsHook::start_next() {
  if (running_.joinable() || waiting_.empty()) return;
  auto event = std::move(waiting_.front());
  waiting_.pop_front();
  ProgramCall call;
  call.words = words_;
  call.input = std::move(event.text);
  try {
    running_ = std::thread([this, call = std::move(call), names = event.names] {
      auto end = run_(call, *stop_);
      mailbox_.post([this, names, end = std::move(end)] { finish(names, end); });
    });
  } catch (const std::system_error& failure) {  // the system's limit of threads
    drop(event, failure.what());
  }
}

void PodsHook::finish(const LogFields& names, const ProgramEnd& end) {
  running_.join();  // its last act was the post
  const auto outcome = outcome_of(end);
  metrics_.add(kMetric, {{"outcome", std::string(outcome)}});
  auto fields = names;
  fields.emplace_back("outcome", outcome);
  using enum ProgramEnd::How;
  if (end.how == exited) fields.emplace_back("code", std::to_string(end.code));
  if (end.how == signalled) fields.emplace_back("signal", std::to_string(end.code));
  if (!end.complaint.empty()) fields.emplace_back("says", end.complaint);
  log_.write(end.is_fine() ? LogLevel::info : LogLevel::warn, "hook of pods run", fields);
  start_next();
}

void PodsHook::drop(const Event& event, std::string_view why) {
  metrics_.add(kMetric, {{"outcome", "dropped"}});
  auto fields = event.names;
  fields.emplace_back("why", why);
  log_.write(LogLevel::warn, "hook of pods not run", fields);
}

}  // namespace railhead
