// SPDX-License-Identifier: Apache-2.0
#include "agent/startup_taint.h"

#include <utility>

#include "host/input_file.h"
#include "kube/taint.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

/// Others change taints, too: so often we look again at once.
constexpr unsigned kConflicts = 5;
constexpr unsigned kConflict = 409;
constexpr unsigned kTestFailed = 422;  ///< of a JSON patch, and of a policy that denies

}  // namespace

StartupTaint::StartupTaint(Context context, StartupTaintOptions options,
                           std::function<void(std::string)> report)
    : context_(context),
      options_(std::move(options)),
      report_(std::move(report)),
      timer_(context.loop),
      client_(
          context.loop,
          [this] { return kube::read_access(options_.access, host::read_file_at_once); },
          kube::kNodeLimits),
      retries_(options_.first_retry, options_.longest_retry, options_.longest_asked) {}

void StartupTaint::serve(bool can) {
  serves_ = can;
  if (!can) {
    timer_.cancel();
  } else if (!is_asking_) {
    look();
  }
}

void StartupTaint::look() {
  is_asking_ = true;
  const auto request = kube::get("/api/v1/nodes/" + kube::encoded(options_.node));
  client_.send(request, [this, request](const Result<kube::Answer>& answer) {
    is_asking_ = false;
    if (!serves_) return;
    if (!answer) return failed(answer.error(), {});
    const auto node = kube::object_in(request, *answer);
    if (!node) return failed(node.error(), answer->retry_after);
    const auto removal = kube::taint_removal(*node, kStartupTaint);
    removal ? remove(kube::json_patch(request.target, *removal)) : done(Outcome::absent);
  });
}

void StartupTaint::remove(const kube::Request& patch) {
  is_asking_ = true;
  client_.send(patch, [this, patch](const Result<kube::Answer>& answer) {
    is_asking_ = false;
    if (!answer) return failed(answer.error(), {});
    if (answer->is_ok()) return done(Outcome::removed);
    const bool is_conflict = answer->status == kConflict || answer->status == kTestFailed;
    if (is_conflict && serves_ && ++conflicts_ <= kConflicts) return look();
    failed(kube::refusal(patch, *answer), answer->retry_after);
  });
}

void StartupTaint::done(Outcome outcome) {
  constexpr const char* kAbsent = "no startup taint";
  if (outcome == Outcome::removed) {
    context_.metrics.startup_taint_looks.add("removed");
    context_.log.write(config::LogLevel::info, "startup taint removed", {{"node", options_.node}});
  } else {
    context_.metrics.startup_taint_looks.add("absent");
    if (said_ != kAbsent) {
      context_.log.write(config::LogLevel::info, "no startup taint", {{"node", options_.node}});
    }
  }
  said_ = kAbsent;
  report_("startup taint: not on the node");
  retries_.succeeded();
  conflicts_ = 0;
  look_in(options_.look_again);
}

void StartupTaint::failed(const Error& why, std::optional<std::chrono::seconds> asked) {
  if (said_ != why.message) {
    context_.log.write(config::LogLevel::warn, "startup taint stays",
                       {{"node", options_.node}, {"why", why.message}});
  }
  said_ = why.message;
  report_("startup taint: stays if it is there, trying again: " + why.message);
  conflicts_ = 0;
  look_in(retries_.next(asked));
  context_.metrics.startup_taint_looks.add("failed");
}

void StartupTaint::look_in(std::chrono::milliseconds time) {
  if (!serves_) return;
  loop::call_after(timer_, time, [this] {
    if (serves_ && !is_asking_) look();
  });
}

}  // namespace railhead::agent
