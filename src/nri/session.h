// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "container/adjustment.h"
#include "container/request.h"

namespace railhead::nri {

/// The runtime at the other end, from Configure and from the socket.
struct RuntimePeer {
  std::string name;         ///< "containerd", "cri-o"
  std::string version;      ///< "v2.4.2", "1.7.24~ds1-6+b5", …
  std::string nri_version;  ///< since NRI 0.12, else ""
  std::chrono::milliseconds request_timeout{2000};
  std::chrono::milliseconds registration_timeout{5000};
  std::optional<int> pid;  ///< SO_PEERCRED; absent when it is outside our PID namespace (0)
};

/// The answer to one CreateContainer.
struct CreateAnswer {
  std::optional<container::Adjustment> adjustment;  ///< absent: nothing to add
  std::optional<std::string> refusal;               ///< the creation fails with this text
};

/// What a Synchronize had.
struct StateCounts {
  std::size_t pods = 0;
  std::size_t containers = 0;
  std::size_t passed_over = 0;  ///< of the containers: the state is larger than what is kept of it
};

/// What a session tells, and asks, the rest of the agent. Called on the event loop, never
/// re-entered.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  /// Configure arrived.
  virtual void configured(const RuntimePeer& peer) = 0;

  /// One existing container of a Synchronize, with its pod where the runtime knows that; called for
  /// each between `configured` and `synchronized`, in any order, and while the rest of the state is
  /// still on its way. So it only reports: a Synchronize that turns out malformed is sent again,
  /// and calls for the same container again. All containers share one timeout of the runtime: be
  /// quick. Views are valid during the call only.
  virtual void existing(const container::Request& container) = 0;

  /// Once, after the last container of a Synchronize.
  virtual void synchronized(const StateCounts& counts) = 0;

  /// Whether decisions look at annotations with this key, on pods or containers. Of pods, and of
  /// containers that come before their pod, `existing` may lack all others: what need not be kept
  /// during a Synchronize is not.
  [[nodiscard]] virtual bool reads_annotation(std::string_view /*key*/) const { return true; }

  /// A CreateContainer could not be read, or there were too many at once: it was answered with
  /// nothing to add.
  virtual void not_understood(const Error& /*why*/) {}

  /// A CreateContainer was answered, so long after it had come. Only where SessionOptions has a
  /// clock.
  virtual void answered(std::chrono::nanoseconds /*took*/) {}

  /// A pod's sandbox runs, and its containers come next. The runtime has its answer already. Only
  /// what `pod` says of the pod counts; views are valid during the call.
  virtual void sandbox_runs(const container::Request& /*pod*/) {}

  /// Decide. `done` must be called once, on the loop, now or later; views in `request` live until
  /// both this call has returned and `done` was called. If it is not called before the session's
  /// own deadline, the session answers by `on_deadline` and a later `done` is ignored.
  virtual void create(const container::Request& request,
                      std::function<void(const CreateAnswer&)> done) = 0;

  /// The own deadline passed. Fail-open answers an empty CreateAnswer.
  virtual CreateAnswer on_deadline(const container::Request& request) = 0;

  /// The connection ended or could not be made; the session tries again after `retry_in`.
  virtual void disconnected(const Error& why, std::chrono::milliseconds retry_in) = 0;
};

struct SessionOptions {
  std::string socket_path = "/var/run/nri/nri.sock";
  std::string plugin_name = "railhead";
  std::string plugin_index = "90";
  bool fail_request = false;     ///< ConfigureResponse.failure_policy (NRI 0.12.4)
  double deadline_share = 0.65;  ///< own deadline as a share of the runtime's request timeout
  std::chrono::milliseconds backoff_min{100};
  std::chrono::milliseconds backoff_max{5000};
  /// How long a runtime may take from the connection to the end of Synchronize. It accepts plugins
  /// one after another and waits 5 s + 2 s for each that is stuck in front of us; who leaves
  /// earlier goes back to the end of that queue.
  std::chrono::milliseconds registration_wait{30000};
  /// 0 ≤ x < 1, for jitter; a parameter so that tests are repeatable.
  std::function<double()> random;
  /// By which answers are timed; none: they are not.
  std::function<std::chrono::steady_clock::time_point()> now = {};
};

/// Counters of a session since start.
struct SessionStats {
  std::uint64_t registrations = 0;
  std::uint64_t protocol_errors = 0;
  std::uint64_t requests = 0;  ///< CreateContainer
  std::uint64_t deadlines_missed = 0;
  bool connected = false;  ///< registered, configured and synchronized
};

/// What all parts of a connection's conversation need of its session.
struct SessionParts {
  boost::asio::io_context& loop;
  const SessionOptions& options;
  Handler& handler;
  SessionStats& stats;
};

/// The plugin side of NRI over its multiplexed ttrpc socket: connects, registers, is configured and
/// synchronized, answers CreateContainer, and starts again from the beginning whenever the
/// connection ends, for ever, with jittered back-off.
class Session {
 public:
  Session(boost::asio::io_context& loop, SessionOptions options, Handler& handler);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start();
  /// Closes the connection and makes no new one. Idempotent.
  void stop();

  [[nodiscard]] const SessionStats& stats() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with what the loop still has queued
};

}  // namespace railhead::nri
