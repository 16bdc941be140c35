// SPDX-License-Identifier: Apache-2.0
#include "agent/config_service.h"

#include <utility>

namespace railhead::agent {

ConfigService::ConfigService(Context context, ConfigReader reader,
                             const std::vector<std::string>& left_out, ConfigFollower::Take take)
    : context_(context),
      reader_(std::move(reader)),
      left_out_(left_out),
      take_(std::move(take)) {}

ConfigService::~ConfigService() = default;

Status ConfigService::start() {
  follower_ = TRY(loop::Hosted<ConfigFollower>::start("config", [this](loop::LoopThread& thread) {
    const Context there = context_.on(thread);
    // There, by the mailbox of the deciding thread, and back by that of this one.
    auto take = [this, &home = context_.mailbox, &back = thread.mailbox()](
                    config::Config config, ConfigFollower::Done done) {
      home.post([this, &back, config = std::move(config), done = std::move(done)] {
        take_(config, [&back, done](Result<ConfigNews> news) {
          back.post([done, news = std::move(news)] { done(news); });
        });
      });
    };
    auto follower = std::make_unique<ConfigFollower>(there, std::move(reader_), std::move(take));
    follower->start();
    return follower;
  }));
  return {};
}

Readiness ConfigService::readiness() const {
  Readiness now;
  for (const auto& resource : left_out_) {
    if (!now.text.empty()) now.text += "\n";
    now.text += "config: resource left out: " + resource;
  }
  return now;
}

bool ConfigService::stop(std::chrono::milliseconds patience) {
  return !follower_ || follower_->end(patience);
}

}  // namespace railhead::agent
