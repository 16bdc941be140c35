// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_thread.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "loop/mail_loop.h"

namespace railhead::loop {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};

}  // namespace

/// Shared with the thread, so that one which is left behind keeps what it uses.
struct LoopThread::State {
  explicit State(std::unique_ptr<Mailbox> box)
      : mail(std::move(box), loop) {}

  void run() {
    loop.run();
    const std::lock_guard lock(mutex);
    ended = true;
    has_ended.notify_all();
  }

  boost::asio::io_context loop{1};
  MailLoop mail;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable has_ended;
  bool ended = false;
};

Result<std::unique_ptr<LoopThread>> LoopThread::start(const std::string& name) {
  auto box = TRY(Mailbox::open());
  try {  // the loop, too, throws where there is no descriptor for it
    auto state = std::make_shared<State>(std::move(box));
    state->thread = std::thread([state] { state->run(); });
    ::pthread_setname_np(state->thread.native_handle(), name.substr(0, 15).c_str());
    return std::unique_ptr<LoopThread>(new LoopThread(std::move(state)));
  } catch (const std::runtime_error& failure) {
    return Error{ErrorCode::unavailable, "thread " + name + ": " + failure.what()};
  }
}

LoopThread::LoopThread(std::shared_ptr<State> state)
    : state_(std::move(state)) {}

LoopThread::~LoopThread() {
  if (!end(kPatience)) state_->thread.detach();
}

boost::asio::io_context& LoopThread::loop() {
  return state_->loop;
}

Mailbox& LoopThread::mailbox() {
  return state_->mail.box();
}

bool LoopThread::end(std::chrono::milliseconds patience) {
  if (!state_->thread.joinable()) return true;
  // A raw pointer: the state's own queue must not keep the state.
  mailbox().post([state = state_.get()] { state->loop.stop(); });
  {
    std::unique_lock lock(state_->mutex);
    if (!state_->has_ended.wait_for(lock, patience, [this] { return state_->ended; })) return false;
  }
  state_->thread.join();
  return true;
}

}  // namespace railhead::loop
