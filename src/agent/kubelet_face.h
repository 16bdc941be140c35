// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/kubelet_options.h"
#include "agent/pool_resource.h"
#include "kubelet/registrar.h"
#include "loop/mailbox.h"
#include "loop/watch_loop.h"

namespace railhead {

/// Whether a face does what it is for, in words for /readyz.
struct Readiness {
  bool ready = false;
  std::string text;
};

/// The agent's side of the kubelet: each pool of the machine is a resource there, kept known and up
/// to date. A pool that the configuration takes away is told as zero devices and then withdrawn.
class KubeletFace {
 public:
  KubeletFace(KubeletFaceOptions options, PoolResource::Gate gate, boost::asio::io_context& loop,
              Mailbox& mailbox, Machine& machine, Clock& clock, Log& log, MetricRegistry& metrics);
  KubeletFace(const KubeletFace&) = delete;
  KubeletFace& operator=(const KubeletFace&) = delete;
  ~KubeletFace() = default;

  void start();
  /// Withdraws everything; the kubelet sees the sockets close. Idempotent.
  void stop();

  /// Publishes the pools if the machine or the configuration has changed. Cheap where they have
  /// not.
  void look();

  /// Ready: everything is enrolled, or another agent holds the registration, or there is no kubelet
  /// (nobody to tell: a node's first agent may be there before its kubelet).
  [[nodiscard]] Readiness readiness() const;
  void publish_metrics();

 private:
  /// A pool that the kubelet knows of.
  struct Offer {
    std::unique_ptr<PoolResource> resource;
    /// When its pool is no more: the kubelet has had time to read that there are no devices.
    std::optional<std::chrono::steady_clock::time_point> ends_at;
  };

  void watch_folders();
  void publish_news();
  /// Offers what is new in the table, and lets go what is not in it any more.
  void follow(const PoolTable& pools);
  void offer(std::size_t pool);
  void let_go(Offer& offer);
  void end_what_is_due();
  void forget_metrics(const std::string& name);
  void schedule_tick();
  void tick();
  void refresh_files();
  void changed(const kubelet::ResourceStatus& status);
  [[nodiscard]] std::string why_empty(std::size_t pool) const;

  KubeletFaceOptions options_;
  PoolResource::Gate gate_;
  boost::asio::io_context& loop_;
  Machine& machine_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  Mailbox& mailbox_;
  boost::asio::steady_timer timer_;
  HandOutFiles files_;
  std::vector<Offer> offers_;
  kubelet::PodResources pod_resources_;
  std::unique_ptr<kubelet::Registrar> registrar_;  ///< its end uses the offers
  std::optional<WatchLoop> folders_;
  std::shared_ptr<const DecisionTable> published_;
  std::shared_ptr<const DecisionTable> with_files_;  ///< what the files say
};

}  // namespace railhead
