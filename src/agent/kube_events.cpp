// SPDX-License-Identifier: Apache-2.0
#include "agent/kube_events.h"

#include <algorithm>

#include "host/input_file.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

constexpr std::size_t kMostPosted = 1024;
constexpr std::chrono::seconds kAnswerTime{10};
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 10;

constexpr int kNotFound = 404;
constexpr int kUnknownToken = 401;
constexpr int kTooManyRequests = 429;
constexpr int kOfServer = 500;  ///< and above: the server's own fault

/// The same request may succeed later.
bool may_pass(int status) {
  return status == kUnknownToken || status == kTooManyRequests || status >= kOfServer;
}

}  // namespace

KubeEvents::KubeEvents(Context context, KubeEventsOptions options, EventOutbox& outbox)
    : context_(context),
      options_(std::move(options)),
      outbox_(outbox),
      timer_(context.loop),
      client_(context.loop,
              [this] { return kube::read_access(options_.access, host::read_file_at_once); },
              {kAnswerTime, kMaxAnswerBytes}),
      tokens_(options_.burst),
      refilled_(context.clock.now()),
      retries_(options_.first_retry, options_.longest_retry) {}

void KubeEvents::start() {
  if (options_.try_at_start) try_one();
  look();
}

void KubeEvents::look() {
  post_next();
  loop::call_after(timer_, options_.look_every, [this] { look(); });
}

/// Whoever forgot the rights learns it now, and not from the first pod that is refused.
void KubeEvents::try_one() {
  kube::Event event;
  event.about = {"Node", "", options_.node, options_.node};
  event.reason = "RdmaEvents";
  event.message = "whether Events can be posted";
  event.first = event.last = context_.clock.calendar();
  const auto request = kube::try_create_event(event, new_name(event.about), options_.node);
  is_asking_ = true;
  client_.send(request, [this, request](const Result<kube::Answer>& answer) {
    is_asking_ = false;
    if (!answer || !answer->is_ok()) failed(request, answer);
    post_next();
  });
}

bool KubeEvents::has_token() {
  const auto now = context_.clock.now();
  while (tokens_ < options_.burst && refilled_ + options_.refill <= now) {
    refilled_ += options_.refill;
    ++tokens_;
  }
  if (tokens_ == options_.burst) refilled_ = now;
  return tokens_ > 0;
}

void KubeEvents::post_next() {
  const auto now = context_.clock.now();
  if (is_asking_ || now < not_before_ || !has_token()) return;
  auto event = outbox_.take([&](const kube::Event& one) {
    const auto at = posted_.find({one.about, one.reason});
    return at == posted_.end() || at->second.again <= now;
  });
  if (event) post(*std::move(event));
}

void KubeEvents::post(kube::Event event) {
  const auto at = posted_.find({event.about, event.reason});
  const bool is_again = at != posted_.end();
  const auto name = is_again ? at->second.name : new_name(event.about);
  auto all = event;
  if (is_again) all.count += at->second.count;
  const auto request =
      is_again ? kube::repeat_event(all, name) : kube::create_event(all, name, options_.node);
  is_asking_ = true;
  --tokens_;
  client_.send(request,
               [this, event = std::move(event), name, request](const Result<kube::Answer>& answer) {
                 is_asking_ = false;
                 answered(event, name, request, answer);
               });
}

void KubeEvents::answered(kube::Event event, const std::string& name, const kube::Request& request,
                          const Result<kube::Answer>& answer) {
  if (answer && answer->is_ok()) {
    posted(event, name);
    return post_next();
  }
  const int status = answer ? static_cast<int>(answer->status) : 0;
  if (status == kNotFound && request.verb == kube::Verb::patch) {
    posted_.erase({event.about, event.reason});  // the server keeps them for an hour
    outbox_.put_back(std::move(event));
    return post_next();
  }
  if (!answer || may_pass(status)) {
    outbox_.put_back(std::move(event));
    not_before_ = context_.clock.now() + retries_.next();
  } else {
    context_.metrics.kube_events.add("dropped");  // others may be taken
  }
  failed(request, answer);
  context_.metrics.kube_events.add("failed");
}

void KubeEvents::posted(const kube::Event& event, const std::string& name) {
  retries_.succeeded();
  auto& there = posted_[{event.about, event.reason}];
  there.name = name;
  there.count += event.count;
  there.again = context_.clock.now() + options_.repeat_after;
  if (posted_.size() > kMostPosted) {
    posted_.erase(
        std::ranges::min_element(posted_, {}, [](const auto& one) { return one.second.again; }));
  }
  context_.metrics.kube_events.add("posted");
}

/// A message names the object, so it is the kind of failure that is said once.
void KubeEvents::failed(const kube::Request& request, const Result<kube::Answer>& answer) {
  const int kind =
      answer ? static_cast<int>(answer->status) : -1 - static_cast<int>(answer.error().code);
  if (!said_.insert(kind).second) return;
  const auto why = answer ? kube::refusal(request, *answer) : answer.error();
  context_.log.write(config::LogLevel::warn, "events not posted", {{"why", why.message}});
}

/// Nanoseconds, as other components do, and never the same twice.
std::string KubeEvents::new_name(const kube::EventObject& about) {
  const auto since = context_.clock.calendar().time_since_epoch();
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  last_number_ = std::max(now, last_number_ + 1);
  return kube::event_name(about, last_number_);
}

}  // namespace railhead::agent
