// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/config_follower.h"
#include "agent/context.h"
#include "agent/service.h"
#include "loop/hosted.h"

namespace railhead::agent {

/// The configuration's service: a ConfigFollower on a thread of its own, since a volume may hang.
class ConfigService final : public Service {
 public:
  /// `take` is called on the deciding thread, and calls back there.
  ConfigService(Context context, ConfigReader reader, ConfigFollower::Take take);
  ~ConfigService() override;

  [[nodiscard]] std::string_view name() const override { return "config"; }

  Status start() override;
  bool stop(std::chrono::milliseconds patience) override;

 private:
  Context context_;
  ConfigReader reader_;
  ConfigFollower::Take take_;
  std::unique_ptr<loop::Hosted<ConfigFollower>> follower_;
};

}  // namespace railhead::agent
