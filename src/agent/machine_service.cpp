// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_service.h"

#include <utility>

#include "host/descriptors.h"
#include "loop/call_after.h"

namespace railhead::agent {

using boost::asio::posix::stream_descriptor;

namespace {

/// The first reading.
constexpr std::uint64_t kFirstWish = 1;

/// A reading that has taken longer than this waits for a driver: no hook waits for it.
constexpr std::chrono::milliseconds kNotWorthWaiting{500};

/// A reading that takes longer than this is logged.
constexpr std::chrono::seconds kWorthSaying{10};

}  // namespace

struct MachineService::Waiter {
  std::uint64_t wish;
  std::function<void(bool)> done;
  boost::asio::steady_timer timer;
};

MachineService::MachineService(Context context, TableFeed& tables, MachineOptions options,
                               FirstReading first)
    : context_(context),
      tables_(tables),
      options_(std::move(options)),
      first_(std::move(first)),
      first_patience_(context.loop) {}

MachineService::~MachineService() = default;

Status MachineService::start() {
  reader_ = TRY(loop::Hosted<MachineReader>::start("reader", [this](loop::LoopThread& thread) {
    const Context there = context_.on(thread);
    return std::make_unique<MachineReader>(
        there, MachineReader::Links{tables_, shared_, *this, context_.mailbox}, options_);
  }));
  wishes_ = kFirstWish;
  reader_->use([](MachineReader& reader) { reader.start(kFirstWish); });
  loop::call_after(first_patience_, first_.patience, [this] {
    if (tables_.latest()) return;
    const auto& settings = options_.settings;
    unread_ = std::make_shared<const inject::DecisionTable>(node::Node(), settings.rules,
                                                            settings.policy);
    first_.late();
  });
  return {};
}

std::shared_ptr<const inject::DecisionTable> MachineService::table() const {
  auto latest = tables_.latest();
  return latest ? latest : unread_;
}

bool MachineService::stop(std::chrono::milliseconds patience) {
  waiters_.clear();
  if (events_) events_->release();
  events_.reset();
  return !reader_ || reader_->end(patience);
}

void MachineService::watching(int events) {
  events_.emplace(context_.loop, events);
  await_event();
}

void MachineService::started(const Status& first) {
  first_patience_.cancel();
  fulfilled(kFirstWish, true);
  first_.done(first);
}

std::chrono::nanoseconds MachineService::reading_for() const {
  const auto since = shared_.asked_since.load();
  if (since == std::chrono::steady_clock::time_point()) return {};
  return context_.clock.now() - since;
}

Readiness MachineService::readiness() const {
  const auto took = std::chrono::duration_cast<std::chrono::seconds>(reading_for());
  const std::string reading =
      took < kWorthSaying ? "" : "being read for " + std::to_string(took.count()) + " s";
  // A table may be there before those who need it have been started (first_.done).
  if (fulfilled_ == 0) return {false, "node: " + (reading.empty() ? "not read yet" : reading)};
  if (!is_read_) return {true, "node: cannot be read, the last reading counts"};
  return {true, reading.empty() ? "" : "node: " + reading + ", the last reading counts"};
}

void MachineService::publish() {
  context_.metrics.node_reading_seconds.set(
      std::chrono::duration_cast<std::chrono::seconds>(reading_for()).count());
}

/// One wait at a time: each that is left standing would be called for the same event.
void MachineService::await_event() {
  if (!events_ || std::exchange(is_waiting_, true)) return;
  events_->async_wait(stream_descriptor::wait_read, [this](const auto& failure) {
    if (failure) return;
    is_waiting_ = false;
    look_again(Machine::kEvent);
  });
}

void MachineService::look_again(std::string_view cause) {
  ++wishes_;
  reader_->use([wish = wishes_, cause](MachineReader& reader) { reader.fulfil(wish, cause); });
}

void MachineService::drained() {
  await_event();
}

void MachineService::fulfilled(std::uint64_t wish, bool is_read) {
  fulfilled_ = wish;
  is_read_ = is_read;
  is_late_ = false;
  // An event that came since would be seen only at the next turn of the loop, after requests that
  // wait in this one.
  if (events_ && host::is_readable(events_->native_handle())) look_again(Machine::kEvent);
  for (auto at = waiters_.begin(); at != waiters_.end();) {
    const auto waiter = at++;
    if ((*waiter)->wish > wish) continue;
    const auto done = std::move((*waiter)->done);
    waiters_.erase(waiter);
    done(is_read);
  }
}

bool MachineService::is_behind() {
  if (shared_.is_blind && fulfilled_ == wishes_) look_again(Machine::kBlind);
  return fulfilled_ != wishes_ && !is_late_ && reading_for() < kNotWorthWaiting;
}

bool MachineService::is_stale() const {
  return fulfilled_ != wishes_ || !is_read_;
}

void MachineService::wait(std::chrono::milliseconds patience, std::function<void(bool)> done) {
  const auto& waiter = waiters_.emplace_back(std::make_shared<Waiter>(
      Waiter{wishes_, std::move(done), boost::asio::steady_timer(context_.loop, patience)}));
  // A timer that has run out is heard also where the waiter was served in the same turn.
  waiter->timer.async_wait([this, weak = std::weak_ptr(waiter)](const auto& failure) {
    const auto waiting = weak.lock();
    if (!failure && waiting) give_up(waiting);
  });
}

void MachineService::give_up(const std::shared_ptr<Waiter>& waiter) {
  is_late_ = true;
  waiters_.remove(waiter);
  waiter->done(false);
}

void MachineService::reconfigure(MachineSettings settings, ReadTimes times,
                                 std::function<void(Status)> done) {
  auto shared = std::make_shared<MachineSettings>(std::move(settings));
  reader_->use([shared, times, done = std::move(done)](MachineReader& reader) {
    reader.reconfigure(std::move(*shared), times, done);
  });
}

}  // namespace railhead::agent
