// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/settings.h"

namespace railhead::agent {

/// Whether a service does what it is for, in words for /readyz.
struct Readiness {
  bool ready = true;
  std::string text;  ///< "nri: connected"; "": nothing to say
  /// Ready, and yet nobody gets anything from it: another agent does it, or there is no kubelet.
  bool is_idle = false;
};

/// One part of the agent. Its functions are called on the deciding thread, and none of them waits
/// but stop(). What may wait lives on a thread of the service's own.
class Service {
 public:
  virtual ~Service() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  ///< for the log

  /// Fails where the agent cannot run without it.
  virtual Status start() = 0;

  /// Other settings are in force, which were found good before.
  virtual void reconfigure(const config::Settings& /*settings*/) {}

  [[nodiscard]] virtual Readiness readiness() const { return {}; }

  /// Brings the metrics up to date that are not kept so all the time.
  virtual void publish() {}

  /// Ends it, once. False where its thread still waits for the machine after `patience`: it is left
  /// behind, and what it uses must stay.
  virtual bool stop(std::chrono::milliseconds patience) = 0;
};

}  // namespace railhead::agent
