// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_service.h"

#include <utility>

#include "loop/readable.h"

namespace railhead {

using boost::asio::posix::stream_descriptor;

struct MachineService::Waiter {
  std::uint64_t wish;
  std::function<void(bool)> done;
  boost::asio::steady_timer timer;
};

MachineService::MachineService(Context context, TableFeed& tables, MachineSource source,
                               MachineSettings settings, ReadTimes times,
                               std::function<void(const Status&)> started)
    : context_(context),
      tables_(tables),
      source_(std::move(source)),
      settings_(std::move(settings)),
      times_(times),
      started_(std::move(started)) {}

MachineService::~MachineService() = default;

Status MachineService::start() {
  reader_ = TRY(Hosted<MachineReader>::start("reader", [this](LoopThread& thread) {
    const Context there = context_.on(thread);
    return std::make_unique<MachineReader>(
        there, MachineReader::Links{tables_, wishes_, is_blind_, *this, context_.mailbox},
        std::move(source_), std::move(settings_), times_);
  }));
  reader_->use([](MachineReader& reader) { reader.start(); });
  return {};
}

bool MachineService::stop(std::chrono::milliseconds patience) {
  waiters_.clear();
  if (events_) events_->release();
  events_.reset();
  return !reader_ || reader_->end(patience);
}

void MachineService::started(const Status& first, std::optional<int> events) {
  if (first) {
    if (events) events_.emplace(context_.loop, *events);
    await_event();
  }
  started_(first);
}

Readiness MachineService::readiness() const {
  if (!table()) return {false, "node: not read yet"};
  return {};
}

void MachineService::await_event() {
  if (!events_) return;
  events_->async_wait(stream_descriptor::wait_read, [this](const auto& failure) {
    if (!failure) look_again(Machine::kEvent);
  });
}

void MachineService::look_again(std::string_view cause) {
  ++wishes_;
  reader_->use([cause](MachineReader& reader) { reader.fulfil(cause); });
}

void MachineService::drained() {
  await_event();
}

void MachineService::fulfilled(std::uint64_t wish) {
  fulfilled_ = wish;
  is_late_ = false;
  // An event that came since would be seen only at the next turn of the loop, after requests that
  // wait in this one.
  if (events_ && is_readable(events_->native_handle())) look_again(Machine::kEvent);
  for (auto at = waiters_.begin(); at != waiters_.end();) {
    const auto waiter = at++;
    if (waiter->wish > wish) continue;
    auto done = std::move(waiter->done);
    waiters_.erase(waiter);
    done(true);
  }
}

bool MachineService::is_behind() {
  if (is_blind_ && fulfilled_ == wishes_) look_again(Machine::kBlind);
  return fulfilled_ != wishes_.load() && !is_late_;
}

void MachineService::wait(std::chrono::milliseconds patience, std::function<void(bool)> done) {
  auto& waiter = waiters_.emplace_back(
      Waiter{wishes_.load(), std::move(done), boost::asio::steady_timer(context_.loop, patience)});
  waiter.timer.async_wait([this, &waiter](const auto& failure) {
    if (!failure) give_up(waiter);
  });
}

void MachineService::give_up(Waiter& waiter) {
  is_late_ = true;
  auto done = std::move(waiter.done);
  waiters_.remove_if([&](const Waiter& one) { return &one == &waiter; });
  done(false);
}

void MachineService::reconfigure(MachineSettings settings, ReadTimes times,
                                 std::function<void(Status)> done) {
  auto shared = std::make_shared<MachineSettings>(std::move(settings));
  reader_->use([shared, times, done = std::move(done)](MachineReader& reader) {
    reader.reconfigure(std::move(*shared), times, done);
  });
}

}  // namespace railhead
