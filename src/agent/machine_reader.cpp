// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_reader.h"

#include <algorithm>
#include <utility>

#include "host/memory.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

constexpr std::chrono::steady_clock::duration kLongestReadingPause = std::chrono::seconds(1);
/// By then the services have started, and the runtime has been synchronized with.
constexpr std::chrono::milliseconds kUntilStarted{300};
/// How long what a reading has freed is kept for the next.
constexpr std::chrono::seconds kUntilGivenBack{1};
/// Users can touch device nodes as often as they like. The nodes are looked at no more often.
constexpr std::chrono::milliseconds kTouchPause{100};
/// The pause after a reading lasts so many times as long as the reading did: so short readings take
/// a third of the time.
constexpr int kPauseOfReading = 2;

}  // namespace

MachineReader::MachineReader(Context context, Links links, MachineOptions options)
    : context_(context),
      links_(links),
      machine_(std::move(options.source), std::move(options.settings),
               {context.clock, context.log, context.metrics}),
      times_(options.times),
      after_start_(context.loop),
      give_back_(context.loop),
      pause_(context.loop),
      touch_pause_(context.loop),
      rescan_(context.loop),
      port_check_(context.loop) {}

MachineReader::~MachineReader() {
  if (touches_) touches_->release();
}

void MachineReader::tell(std::function<void(Owner&)> what) {
  links_.owners_mailbox.post([what = std::move(what), owner = &links_.owner] { what(*owner); });
}

template <typename Ask>
void MachineReader::ask(Ask ask) {
  links_.shared.asked_since = context_.clock.now();
  ask();
  links_.shared.asked_since = std::chrono::steady_clock::time_point();
}

void MachineReader::start(std::uint64_t wish) {
  wish_ = fulfilled_ = wish;
  Status first;
  ask([&] { first = machine_.read(Machine::kStart); });
  if (first && !machine_.table()->pools().conflicts.empty()) {
    first = Error{ErrorCode::usage, machine_.table()->pools().conflicts.front()};
  }
  host::give_back_free_memory();
  if (first) publish();
  tell_of_events();
  tell([first](Owner& owner) { owner.started(first); });
  if (!first) return;
  schedule_rescan();
  schedule_port_check();
  loop::call_after(after_start_, kUntilStarted, [] { host::give_back_code_pages(); });
}

void MachineReader::tell_of_events() {
  links_.shared.is_blind = machine_.is_blind();
  if (const auto touches = machine_.touches(); touches && !touches_) {
    touches_.emplace(context_.loop, *touches);
    await_touch();
  }
  const auto events = machine_.events();
  if (!events || std::exchange(has_reported_events_, true)) return;
  tell([events = *events](Owner& owner) { owner.watching(events); });
}

void MachineReader::await_touch() {
  touches_->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [this](const auto& failure) {
                         if (!failure) look_at_touched();
                       });
}

void MachineReader::look_at_touched() {
  if (machine_.look_at_touched()) tell([](Owner& owner) { owner.look_again(Machine::kEvent); });
  loop::call_after(touch_pause_, kTouchPause, [this] { await_touch(); });
}

void MachineReader::publish() {
  const auto& table = machine_.table();
  if (table != links_.tables.latest()) links_.tables.publish(table);
  give_back_later();
}

/// A reading needs several times what is kept of it, and so does the next one, which may follow at
/// once: what was given back would be asked for again. By the time of the timer nobody uses the
/// table before.
void MachineReader::give_back_later() {
  if (std::exchange(gives_back_, true)) return;
  loop::call_after(give_back_, kUntilGivenBack, [this] {
    gives_back_ = false;
    host::give_back_free_memory();
  });
}

void MachineReader::conclude(std::uint64_t wish) {
  const bool is_failing = machine_.is_failing();
  const bool is_news = is_failing != std::exchange(is_failing_, is_failing);
  if (is_news && is_failing) schedule_rescan();
  publish();
  if (!is_news && wish == fulfilled_) return;
  fulfilled_ = wish;
  tell([wish, is_failing](Owner& owner) { owner.fulfilled(wish, !is_failing); });
}

bool MachineReader::drain() {
  const bool changed = machine_.drain();
  tell([](Owner& owner) { owner.drained(); });
  return changed;
}

void MachineReader::fulfil(std::uint64_t wish, std::string_view cause) {
  wish_ = wish;
  wanted_.insert(cause);
  if (waits_) return;
  const auto now = context_.clock.now();
  if (now >= not_before_) return read_for_wishes();
  waits_ = true;
  loop::call_after(pause_, not_before_ - now, [this] {
    waits_ = false;
    read_for_wishes();
  });
}

void MachineReader::read_for_wishes() {
  const auto start = context_.clock.now();
  const bool changed = drain();
  ask([&] { read_wanted(changed); });
  conclude(wish_);
  const auto end = context_.clock.now();
  not_before_ = end + std::min((end - start) * kPauseOfReading, kLongestReadingPause);
}

/// One reading for all that is wanted: the one that sees most.
void MachineReader::read_wanted(bool changed) {
  const auto wanted = std::exchange(wanted_, {});
  const auto has = [&](std::string_view cause) { return wanted.contains(cause); };
  if (has(Machine::kBlind) && (changed || machine_.numbers_differ())) {
    (void)machine_.read(Machine::kBlind);
  } else if (has(Machine::kUnknownGpu)) {
    (void)machine_.read(Machine::kUnknownGpu);
  } else if (changed) {
    (void)machine_.read(Machine::kEvent);
  }
}

void MachineReader::schedule_rescan() {
  loop::call_after(rescan_, machine_.is_failing() ? times_.repeat : times_.rescan,
                   [this] { rescan(); });
}

void MachineReader::rescan() {
  machine_.look_for_events();
  tell_of_events();
  (void)drain();
  wanted_.clear();
  ask([this] { (void)machine_.read(Machine::kTimer); });
  conclude(wish_);
  host::give_back_code_pages();
  schedule_rescan();
}

/// Looks for ports that went down or came up without an event.
void MachineReader::schedule_port_check() {
  port_check_.cancel();
  if (times_.port_check.count() == 0) return;
  loop::call_after(port_check_, times_.port_check, [this] {
    ask([this] { (void)machine_.look_at_ports(); });
    conclude(fulfilled_);
    schedule_port_check();
  });
}

void MachineReader::reconfigure(MachineSettings settings, ReadTimes times,
                                std::function<void(Status)> done_at_owner) {
  auto done = machine_.reconfigure(std::move(settings));
  if (done) {
    times_ = times;
    publish();
    schedule_rescan();
    schedule_port_check();
  }
  links_.owners_mailbox.post(
      [done = std::move(done), answer = std::move(done_at_owner)] { answer(done); });
}

}  // namespace railhead::agent
