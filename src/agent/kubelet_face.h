// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/kubelet_options.h"
#include "agent/pool_resource.h"
#include "host/mailbox.h"
#include "kubelet/registrar.h"

namespace railhead {

/// Whether a face does what it is for, in words for /readyz.
struct Readiness {
  bool ready = false;
  std::string text;
};

/// The agent's side of the kubelet: each pool of the machine is a resource there, kept known and up
/// to date.
class KubeletFace {
 public:
  KubeletFace(KubeletFaceOptions options, const PoolResource::Gate& gate,
              boost::asio::io_context& loop, Mailbox& mailbox, Machine& machine, Clock& clock,
              Log& log, MetricRegistry& metrics);
  KubeletFace(const KubeletFace&) = delete;
  KubeletFace& operator=(const KubeletFace&) = delete;
  ~KubeletFace() = default;

  void start();
  /// Withdraws everything; the kubelet sees the sockets close. Idempotent.
  void stop();

  /// Publishes the pools if the machine has changed. Cheap where it has not.
  void look();

  /// Ready: everything is enrolled, or another agent holds the registration, or there is no kubelet
  /// (nobody to tell: a node's first agent may be there before its kubelet).
  [[nodiscard]] Readiness readiness() const;
  void publish_metrics();

 private:
  void offer_all();
  void schedule_tick();
  void tick();
  void changed(const kubelet::ResourceStatus& status);
  [[nodiscard]] std::string why_empty(std::size_t pool) const;

  KubeletFaceOptions options_;
  Machine& machine_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  Mailbox& mailbox_;
  boost::asio::steady_timer timer_;
  std::vector<std::unique_ptr<PoolResource>> resources_;
  std::unique_ptr<kubelet::Registrar> registrar_;  ///< its end uses the resources
  std::shared_ptr<const DecisionTable> published_;
};

}  // namespace railhead
