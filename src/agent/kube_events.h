// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "agent/event_outbox.h"
#include "kube/client.h"
#include "kube/retries.h"

namespace railhead::agent {

struct KubeEventsOptions {
  std::string node;  ///< its name in Kubernetes
  kube::AccessSource access;
  std::chrono::milliseconds look_every{1000};
  /// An event that was posted is patched so much later at the earliest.
  std::chrono::milliseconds repeat_after{60000};
  /// So many requests at once, and one more for each time that passes.
  unsigned burst = 20;
  std::chrono::milliseconds refill{1000};
  std::chrono::milliseconds first_retry{1000};  ///< each further one after twice the time
  std::chrono::milliseconds longest_retry{300000};
  bool try_at_start = true;  ///< that Events can be posted at all
};

/// Posts what is in the outbox to the API server, one request at a time. What it costs does not
/// depend on the server: a slow, absent or refusing one leaves a line in the log for each kind of
/// failure, and the outbox bounds what waits. Lives on a thread of its own: it reads files.
class KubeEvents {
 public:
  KubeEvents(Context context, KubeEventsOptions options, EventOutbox& outbox);

  /// Says at once if Events cannot be posted. Looks now, and whenever it is time.
  void start();

 private:
  /// An Event that the server has.
  struct Posted {
    std::string name;
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point again{};  ///< it may be patched from then on
  };

  using Key = std::pair<kube::EventObject, std::string>;  ///< with the reason

  void look();
  void try_one();
  void post_next();
  [[nodiscard]] bool has_token();
  void post(kube::Event event);
  void answered(kube::Event event, const std::string& name, const kube::Request& request,
                const Result<kube::Answer>& answer);
  void posted(const kube::Event& event, const std::string& name);
  void failed(const kube::Request& request, const Result<kube::Answer>& answer);
  std::string new_name(const kube::EventObject& about);

  Context context_;
  KubeEventsOptions options_;
  EventOutbox& outbox_;
  boost::asio::steady_timer timer_;
  kube::Client client_;
  std::map<Key, Posted> posted_;
  bool is_asking_ = false;
  unsigned tokens_;
  std::chrono::steady_clock::time_point refilled_;
  std::chrono::steady_clock::time_point not_before_{};
  kube::Retries retries_;
  std::uint64_t last_number_ = 0;
  std::set<int> said_;  ///< kinds of failure that the log has
};

}  // namespace railhead::agent
