// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/retries.h"

namespace railhead::agent {

/// The key of the taint that keeps pods off a node until the agent serves them. Whoever makes the
/// node puts it there.
inline constexpr std::string_view kStartupTaint = "railhead.io/not-ready";

struct StartupTaintOptions {
  std::string node;  ///< its name in Kubernetes
  kube::AccessSource access;
  std::chrono::milliseconds first_retry{1000};  ///< each further one after twice the time
  std::chrono::milliseconds longest_retry{60000};
  std::chrono::milliseconds longest_asked{300000};  ///< of what the API server asks us to wait
  /// A node that was deleted and made again has its taint again.
  std::chrono::milliseconds look_again{300000};
};

/// Takes the startup taint off the node whenever the agent can serve its containers. It never puts
/// the taint there, and touches nothing else. Lives on a thread of its own: it reads files.
class StartupTaint {
 public:
  /// `report` gets what /readyz says of it, whenever that changes.
  StartupTaint(Context context, StartupTaintOptions options,
               std::function<void(std::string)> report);

  /// Whether the agent can serve containers from now on. Nothing is asked while it cannot.
  void serve(bool can);

 private:
  enum class Outcome : std::uint8_t { absent, removed };
  void look();
  void remove(const kube::Request& patch);
  void done(Outcome outcome);
  void failed(const Error& why, std::optional<std::chrono::seconds> asked);
  void look_in(std::chrono::milliseconds time);

  Context context_;
  StartupTaintOptions options_;
  std::function<void(std::string)> report_;
  boost::asio::steady_timer timer_;
  kube::Client client_;
  bool serves_ = false;
  bool is_asking_ = false;
  unsigned conflicts_ = 0;  ///< one after the other
  kube::Retries retries_;
  std::string said_;  ///< last, to the log
};

}  // namespace railhead::agent
