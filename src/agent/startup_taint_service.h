// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "agent/hosted_service.h"
#include "agent/startup_taint.h"
#include "loop/call_after.h"
#include "loop/shared.h"

namespace railhead::agent {

/// The startup taint's service: a StartupTaint, which waits for the API server. It looks whether
/// all other services do what they are for, and is itself always ready: what the agent does for
/// containers needs no API server.
class StartupTaintService final : public HostedService<StartupTaint> {
 public:
  static constexpr std::chrono::milliseconds kLookEvery{250};

  /// `services` are asked for their readiness; more may be added to the list while it runs.
  StartupTaintService(Context context, const StartupTaintOptions& options,
                      const std::vector<std::unique_ptr<Service>>& services)
      : HostedService("startup taint", "kube",
                      [=, this](loop::LoopThread& thread) {
                        return std::make_unique<StartupTaint>(
                            context.on(thread), options,
                            [this](std::string text) { text_.set(std::move(text)); });
                      }),
        services_(services),
        timer_(context.loop) {}

  Status start() override {
    TRY_STATUS(HostedService::start());
    look();
    return {};
  }

  [[nodiscard]] Readiness readiness() const override { return {true, text_.get()}; }

  bool stop(std::chrono::milliseconds patience) override {
    timer_.cancel();
    return HostedService::stop(patience);
  }

 private:
  void look() {
    const bool serves = std::ranges::all_of(services_, [this](const auto& one) {
      if (one.get() == this) return true;
      const auto now = one->readiness();
      return now.ready && !now.is_idle;
    });
    if (serves != serves_) use([serves](StartupTaint& taint) { taint.serve(serves); });
    serves_ = serves;
    loop::call_after(timer_, kLookEvery, [this] { look(); });
  }

  const std::vector<std::unique_ptr<Service>>& services_;
  boost::asio::steady_timer timer_;
  bool serves_ = false;
  loop::Shared<std::string> text_{"startup taint: stays until the agent serves containers"};
};

}  // namespace railhead::agent
