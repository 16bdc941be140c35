// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/config_follower.h"
#include "agent/hosted_service.h"

namespace railhead::agent {

/// The configuration's service: a ConfigFollower, since a volume may hang.
class ConfigService final : public HostedService<ConfigFollower> {
 public:
  /// `take` is called on the deciding thread, and calls back there. `left_out` are the resources
  /// that are missing from what is in force (pools::PoolSpecs); it is looked at on that thread,
  /// too.
  ConfigService(Context context, const ConfigReader& reader,
                const std::vector<std::string>& left_out, const ConfigFollower::Take& take)
      : HostedService(
            "config", "config",
            [=](loop::LoopThread& thread) {
              // There, by the mailbox of the deciding thread, and back by that of this one.
              auto take_there = [take, &home = context.mailbox, &back = thread.mailbox()](
                                    config::Config config, ConfigFollower::Done done) {
                home.post([take, &back, config = std::move(config), done = std::move(done)] {
                  take(config, [&back, done](Result<ConfigNews> news) {
                    back.post([done, news = std::move(news)] { done(news); });
                  });
                });
              };
              auto follower =
                  std::make_unique<ConfigFollower>(context.on(thread), reader, take_there);
              follower->start();
              return follower;
            }),
        left_out_(left_out) {}

  /// Ready also without some resources: the others are there.
  [[nodiscard]] Readiness readiness() const override {
    Readiness now;
    for (const auto& resource : left_out_) {
      if (!now.text.empty()) now.text += "\n";
      now.text += "config: resource left out: " + resource;
    }
    return now;
  }

 private:
  const std::vector<std::string>& left_out_;
};

}  // namespace railhead::agent
