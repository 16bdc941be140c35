// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "loop/loop_thread.h"

namespace railhead::loop {

/// An object that lives on a thread of its own: made, used and destroyed there.
template <typename T>
class Hosted {
 public:
  using Make = std::function<std::unique_ptr<T>(LoopThread&)>;

  /// Fails as LoopThread::start(). `make` runs on the thread.
  static Result<std::unique_ptr<Hosted>> start(const std::string& name, Make make) {
    auto thread = TRY(LoopThread::start(name));
    return std::unique_ptr<Hosted>(new Hosted(std::move(thread), std::move(make)));
  }

  ~Hosted() { end(std::chrono::milliseconds(0)); }

  /// From any thread: `work` with the object, after all that was asked for before. Nothing
  /// after end().
  void use(std::function<void(T&)> work) {
    if (!object_) return;
    thread_->mailbox().post([object = object_, work = std::move(work)] { work(**object); });
  }

  /// Destroys the object and ends the thread. False where the thread has not ended within
  /// `patience` (LoopThread::end()); it then keeps the object.
  bool end(std::chrono::milliseconds patience) {
    if (object_)
      thread_->mailbox().post([object = std::exchange(object_, nullptr)] { object->reset(); });
    return thread_->end(patience);
  }

 private:
  Hosted(std::unique_ptr<LoopThread> thread, Make make)
      : thread_(std::move(thread)),
        object_(std::make_shared<std::unique_ptr<T>>()) {
    thread_->mailbox().post([object = object_, make = std::move(make), thread = thread_.get()] {
      *object = make(*thread);
    });
  }

  std::unique_ptr<LoopThread> thread_;
  std::shared_ptr<std::unique_ptr<T>> object_;  ///< null after end()
};

}  // namespace railhead::loop
