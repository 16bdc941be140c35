// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "agent/config_follower.h"
#include "agent/hosted_service.h"

namespace railhead::agent {

/// The configuration's service: a ConfigFollower, since a volume may hang.
class ConfigService final : public HostedService<ConfigFollower> {
 public:
  /// `take` is called on the deciding thread, and calls back there.
  ConfigService(Context context, const ConfigReader& reader, const ConfigFollower::Take& take)
      : HostedService("config", "config", [=](loop::LoopThread& thread) {
          // There, by the mailbox of the deciding thread, and back by that of this one.
          auto take_there = [take, &home = context.mailbox, &back = thread.mailbox()](
                                config::Config config, ConfigFollower::Done done) {
            home.post([take, &back, config = std::move(config), done = std::move(done)] {
              take(config, [&back, done](Result<ConfigNews> news) {
                back.post([done, news = std::move(news)] { done(news); });
              });
            });
          };
          auto follower = std::make_unique<ConfigFollower>(context.on(thread), reader, take_there);
          follower->start();
          return follower;
        }) {}
};

}  // namespace railhead::agent
