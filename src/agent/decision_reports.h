// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agent/container_cache.h"
#include "agent/log.h"
#include "agent/metrics.h"
#include "agent/pod_events.h"
#include "agent/recent_creations.h"
#include "container/facts.h"
#include "inject/decide.h"

namespace railhead::agent {

/// "pod" and "container", with which every line about a container begins.
LogFields fields_of(const container::Identity& container);

/// A limit as the value of a field: "unlimited", else bytes.
std::string limit_text(std::uint64_t bytes);

/// A decision and what it was made from.
struct Decided {
  const container::Facts& facts;  ///< of the hook
  inject::Decision decision;
  std::shared_ptr<const inject::DecisionTable> table;
  std::string_view without;  ///< a literal: what was not waited for any longer; "" where nothing
};

/// Reports decisions: a log line with the reason, the counters, the record of the container, and
/// Events for Kubernetes.
class DecisionReports {
 public:
  /// `containers` and `events` are null where nobody reads them.
  DecisionReports(Log& log, Metrics& metrics, ContainerCache* containers,
                  PodEvents* events = nullptr)
      : log_(log),
        metrics_(metrics),
        containers_(containers),
        events_(events) {}

  void report(const Decided& decided);

  /// A container that was there already: it is recorded, and no decision is counted.
  void note(const container::Facts& facts, const inject::DecisionTable& table);

 private:
  void count(const Decided& decided);
  void log(const Decided& decided);
  void report_again(const container::Identity& container);

  Log& log_;
  Metrics& metrics_;
  ContainerCache* containers_;
  PodEvents* events_;
  RecentCreations recent_;
};

}  // namespace railhead::agent
