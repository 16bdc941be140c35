// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_reader.h"

#include <algorithm>
#include <utility>

#include "host/memory.h"

namespace railhead {
namespace {

constexpr std::chrono::steady_clock::duration kLongestPause = std::chrono::seconds(1);
/// By then the services have started, and the runtime has been synchronized with.
constexpr std::chrono::milliseconds kUntilStarted{300};
/// How long what a reading has freed is kept for the next.
constexpr std::chrono::seconds kUntilGivenBack{1};
/// Of a reading's time, so that readings take a fifth of the whole.
constexpr int kPauseOfReading = 4;

}  // namespace

MachineReader::MachineReader(Context context, Links links, MachineSource source,
                             MachineSettings settings, ReadTimes times)
    : context_(context),
      links_(links),
      machine_(std::move(source), std::move(settings), context.clock, context.log, context.metrics),
      times_(times),
      after_start_(context.loop),
      give_back_(context.loop),
      pause_(context.loop),
      rescan_(context.loop),
      port_check_(context.loop) {}

MachineReader::~MachineReader() = default;

void MachineReader::tell(std::function<void(Owner&)> what) {
  links_.owners_mailbox.post([what = std::move(what), owner = &links_.owner] { what(*owner); });
}

void MachineReader::start() {
  auto first = machine_.read("start");
  if (first && !machine_.table()->pools().conflicts.empty()) {
    first = Error{ErrorCode::malformed, machine_.table()->pools().conflicts.front()};
  }
  give_back_free_memory();
  if (first) publish();
  links_.is_blind = machine_.is_blind();
  tell([first, events = machine_.events()](Owner& owner) { owner.started(first, events); });
  if (!first) return;
  schedule_rescan();
  schedule_port_check();
  after_start_.expires_after(kUntilStarted);
  after_start_.async_wait([](const auto& failure) {
    if (!failure) give_back_code_pages();
  });
}

void MachineReader::look_for_events() {
  machine_.look_for_events();
  links_.is_blind = machine_.is_blind();
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
  give_back_.expires_after(kUntilGivenBack);
  give_back_.async_wait([this](const auto& failure) {
    if (failure) return;
    gives_back_ = false;
    give_back_free_memory();
  });
}

void MachineReader::conclude(const Status& done) {
  if (!done) {
    context_.log.write(LogLevel::error, "node not read", {{"error", done.error().message}});
  }
  publish();
}

void MachineReader::fulfil(std::string_view cause) {
  if (cause != Machine::kEvent) cause_ = cause;
  if (waits_ || fulfilled_ == links_.wishes.load()) return;
  const auto now = context_.clock.now();
  if (now >= not_before_) return read_for_wishes();
  waits_ = true;
  pause_.expires_after(not_before_ - now);
  pause_.async_wait([this](const auto& failure) {
    if (failure) return;
    waits_ = false;
    read_for_wishes();
  });
}

void MachineReader::read_for_wishes() {
  const auto wish = links_.wishes.load();
  const auto start = context_.clock.now();
  const bool changed = machine_.drain();
  tell([](Owner& owner) { owner.drained(); });
  const auto cause = std::exchange(cause_, Machine::kEvent);
  if (cause == Machine::kBlind && !changed) {
    conclude(machine_.look_at_numbers());
  } else if (changed || cause != Machine::kEvent) {
    conclude(machine_.read(cause));
  }
  fulfilled_ = wish;
  tell([wish](Owner& owner) { owner.fulfilled(wish); });
  const auto end = context_.clock.now();
  not_before_ = end + std::min((end - start) * kPauseOfReading, kLongestPause);
}

void MachineReader::schedule_rescan() {
  rescan_.expires_after(times_.rescan);
  rescan_.async_wait([this](const auto& failure) {
    if (failure) return;
    look_for_events();
    conclude(machine_.read("timer"));
    give_back_code_pages();
    schedule_rescan();
  });
}

/// Of ports that go down and come up without an event.
void MachineReader::schedule_port_check() {
  port_check_.cancel();
  if (times_.port_check.count() == 0) return;
  port_check_.expires_after(times_.port_check);
  port_check_.async_wait([this](const auto& failure) {
    if (failure) return;
    conclude(machine_.look_at_ports());
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

}  // namespace railhead
