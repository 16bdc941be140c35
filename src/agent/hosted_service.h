// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "agent/context.h"
#include "agent/service.h"
#include "loop/hosted.h"

namespace railhead::agent {

/// A service that is one object on a thread of its own. Once started it has to be stopped before it
/// ends: the object may use members of the derived class.
template <typename T>
class HostedService : public Service {
 public:
  /// `name` is a literal, `thread` what ps shows. `make` runs on the thread.
  HostedService(std::string_view name, std::string thread, typename loop::Hosted<T>::Make make)
      : name_(name),
        thread_(std::move(thread)),
        make_(std::move(make)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }

  Status start() override {
    hosted_ = TRY(loop::Hosted<T>::start(thread_, make_));
    return {};
  }

  bool stop(std::chrono::milliseconds patience) override {
    return !hosted_ || hosted_->end(patience);
  }

 protected:
  /// As Hosted::use(); nothing before start().
  void use(std::function<void(T&)> work) {
    if (hosted_) hosted_->use(std::move(work));
  }

 private:
  std::string_view name_;
  std::string thread_;
  typename loop::Hosted<T>::Make make_;
  std::unique_ptr<loop::Hosted<T>> hosted_;
};

/// The service of a T that is made there of a context and `parts`, and started. `name` is a
/// literal, and what ps shows.
template <typename T, typename... Parts>
std::unique_ptr<Service> make_hosted(Context context, std::string_view name, Parts... parts) {
  return std::make_unique<HostedService<T>>(name, std::string(name), [=](loop::LoopThread& thread) {
    auto object = std::make_unique<T>(context.on(thread), parts...);
    object->start();
    return object;
  });
}

}  // namespace railhead::agent
