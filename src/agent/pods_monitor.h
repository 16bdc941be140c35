// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "agent/container_cache.h"
#include "agent/context.h"
#include "agent/pod_events.h"
#include "agent/table_feed.h"
#include "loop/shared.h"
#include "proof/ledger.h"
#include "proof/pods.h"
#include "usage/usage.h"

namespace railhead::agent {

struct PodsOptions {
  std::chrono::seconds every{120};
  usage::ListQueuePairs queue_pairs = usage::ListQueuePairs::automatic;
  std::string node_name;  ///< shown to people; empty: the name of the machine
  proof::ProofOptions proof;
  std::string proc_dir = "/proc";
};

/// Says all the time which containers use RDMA: looks now and then, and shows it by metrics, by a
/// page, and by a log line when a container turns out to have fallen back to TCP. Lives on the
/// usage thread: listing thousands of queue pairs asks the NIC's firmware about each.
class PodsMonitor {
 public:
  struct Links {
    const TableFeed& tables;
    ContainerCache& containers;
    loop::Shared<std::string>& page;  ///< the last look as a Pods document
    PodEvents* events = nullptr;      ///< what is posted to pods; null: nothing
  };

  PodsMonitor(Context context, PodsOptions options, OpenMachine open, Links links);

  /// Looks now, and whenever it is time.
  void start();

  /// From now on; see ProofOptions.
  void ignore(std::vector<std::string> patterns) { options_.proof.ignore = std::move(patterns); }

  /// What one look says. For start()'s timer, and for tests.
  void take(Result<usage::Usage> usage);

 private:
  void look();
  void publish(const proof::PodsView& view);
  void log_changes(const proof::PodsView& view, const proof::PodLedger::Changes& changes);
  void log_blind_spots(const proof::PodsView& view);
  void forget(const proof::PodLedger::Changes& changes);

  Context context_;
  PodsOptions options_;
  OpenMachine open_;
  Links links_;
  boost::asio::steady_timer timer_;
  std::optional<usage::Usage> before_;
  proof::PodLedger ledger_;
  std::set<std::string> logged_;  ///< warnings
};

}  // namespace railhead::agent
