// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/holders.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/usage_reader.h"
#include "metrics/registry.h"
#include "proof/ledger.h"
#include "proof/pods.h"

namespace railhead {

struct PodsFaceOptions {
  std::chrono::seconds every{15};
  std::string node_name;  ///< for people; empty: the machine's own
  ProofOptions proof;
  UsageOptions usage;
};

/// Says all the time which containers use RDMA: looks now and then, and tells of it by metrics, by
/// a page, and by a log line when a container turns out to have fallen back to TCP.
class PodsFace {
 public:
  PodsFace(PodsFaceOptions options, UsageReader::Open open, boost::asio::io_context& loop,
           Mailbox& mailbox, Machine& machine, ContainerBook& book, Log& log,
           MetricRegistry& metrics);

  void start();
  void stop();

  /// From now on; see ProofOptions.
  void ignore(std::vector<std::string> patterns) { options_.proof.ignore = std::move(patterns); }

  /// The last reading as a Pods document.
  [[nodiscard]] std::string page() const;

  /// What one reading says. For start()'s timer, and for tests.
  void take(Result<Usage> usage);

 private:
  void look();
  void schedule();
  void publish(const PodsView& view);
  void tell_changes(const PodsView& view, const PodLedger::Changes& changes);
  void log_blind_spots(const PodsView& view);
  void forget(const PodLedger::Changes& changes);

  PodsFaceOptions options_;
  Machine& machine_;
  ContainerBook& book_;
  Log& log_;
  MetricRegistry& metrics_;
  UsageReader reader_;
  boost::asio::steady_timer timer_;
  std::optional<Usage> before_;
  PodLedger ledger_;
  std::set<std::string> told_;  ///< warnings that were logged
  std::string page_;
};

}  // namespace railhead
