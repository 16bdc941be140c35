// SPDX-License-Identifier: Apache-2.0
// What the API server says, as a value. Invariants:
// * a kind that could not be listed has its problem, and never looks empty;
// * a kind that the server does not know (404) is absent, which is ordinary;
// * objects are as the server has them, less managedFields.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/clock.h"
#include "kube/client.h"
#include "lint/given.h"

namespace railhead::cluster {

/// Objects of one kind.
struct Listing {
  std::string target;  ///< that was asked: "/api/v1/pods"
  std::vector<data::Value> items;
  std::string problem;     ///< why it is not known; "": it is
  bool is_absent = false;  ///< the server has no such kind
};

/// What else was asked of the server, about one thing.
struct Reply {
  std::string subject;  ///< the node, or "NAMESPACE/POD/CONTAINER"
  std::string target;
  std::string text;
  std::string problem;  ///< "": `text` is what it says
};

struct Cluster {
  std::string server;
  std::map<std::string, Listing, std::less<>> kinds;  ///< by the name of the row, "Pod"
  Reply version;
  std::vector<Reply> configz;  ///< of nodes with GPUs
  std::vector<Reply> logs;     ///< of containers with GPUs or NICs that run
  /// The ends of logs: of containers because of which a driver's or operator's pod is not ready.
  std::vector<Reply> driver_logs;
  std::size_t left_out = 0;  ///< questions that were not asked any more
  lint::Given given;         ///< its objects, for rules

  /// Never null: a kind that is not read is absent.
  [[nodiscard]] const Listing& kind(std::string_view name) const;
};

struct ReadLimits {
  std::chrono::milliseconds time{10'000};        ///< of everything
  std::chrono::milliseconds answer_time{5'000};  ///< of one answer
  std::size_t bytes = std::size_t{256} << 20;    ///< of everything
  std::size_t page_bytes = std::size_t{32} << 20;
  std::size_t pages = 200;  ///< of one kind
  std::size_t nodes = 16;   ///< whose kubelet is asked
  std::size_t logs = 16;    ///< that are read, from their beginning
  std::size_t log_bytes = std::size_t{512} << 10;
  std::size_t driver_logs = 8;       ///< that are read, their last lines
  std::size_t driver_log_lines = 8;  ///< of each
  std::size_t driver_log_bytes = std::size_t{16} << 10;
};

using Ask = std::function<Result<kube::Answer>(const kube::Request&, kube::AnswerLimits)>;

/// Asks for everything that checks look at. Returns within the limits; what could not be asked says
/// so. A server that gives no answer at all is asked once.
Cluster read_cluster(std::string server, const Ask& ask, const ReadLimits& limits,
                     host::Clock& clock);

/// "ai/pod-1", or "node-1" where it has no namespace.
std::string object_name(const data::Value& object);

/// Whether a condition of its status has this status: condition(pod, "Ready") == "True"; "" where
/// it has none.
std::string_view condition(const data::Value& object, std::string_view type);

}  // namespace railhead::cluster
