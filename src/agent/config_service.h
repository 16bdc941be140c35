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
  /// `take` is called on the deciding thread, and calls back there. `left_out` are the resources
  /// that are missing from what is in force (pools::PoolSpecs); it is looked at on that thread,
  /// too.
  ConfigService(Context context, ConfigReader reader, const std::vector<std::string>& left_out,
                ConfigFollower::Take take);
  ~ConfigService() override;

  [[nodiscard]] std::string_view name() const override { return "config"; }

  Status start() override;
  /// Ready also without some resources: the others are there.
  [[nodiscard]] Readiness readiness() const override;
  bool stop(std::chrono::milliseconds patience) override;

 private:
  Context context_;
  ConfigReader reader_;
  const std::vector<std::string>& left_out_;
  ConfigFollower::Take take_;
  std::unique_ptr<loop::Hosted<ConfigFollower>> follower_;
};

}  // namespace railhead::agent
