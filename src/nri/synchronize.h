// SPDX-License-Identifier: Apache-2.0
// The state a runtime sends after Configure: every pod and container it has.
//
// Invariants
// * It may come in chunks, a chunk in pieces, a container before its pod. No chunk is ever held:
//   a pod is kept as a record of what a decision looks at, a container whose pod is known is handed
//   on at once and forgotten, and one that came before its pod is kept as a record until the pod
//   comes or the last chunk has ended. Of pods with equal ids the first counts.
// * A malformed chunk fails as a whole and forgets what is kept. What was handed on before stays
//   handed on: that harms nobody, because Handler::existing only reports.
// * What is kept at a time is at most kSynchronizeMaxKeptBytes, which 10,000 pods with a kilobyte
//   of annotations each are below. Pods can be larger, and who writes them must not keep the agent
//   from the runtime: what does not fit is passed over and counted, and with it all containers
//   whose pod may have been among it.
// * After the last chunk nothing is kept, and the memory goes back to the system.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "container/request.h"
#include "nri/session.h"
#include "wire/field_stream.h"

namespace railhead::nri {

inline constexpr std::size_t kSynchronizeMaxKeptBytes = std::size_t{16} << 20U;

class Synchronize {
 public:
  explicit Synchronize(Handler& handler);

  /// Takes the next piece of a chunk, a SynchronizeRequest. After a failure, which end_chunk()
  /// tells, the rest of the chunk is passed over.
  void take(std::string_view piece);

  /// The chunk has ended: true when more follow. Malformed where it was no such message; then it
  /// begins from nothing.
  Result<bool> end_chunk();

  /// After the last chunk: hands on the containers whose pod never came, then the counts.
  void finish();

  /// Forgets everything; from inside a call of the handler as soon as that returns, and nothing
  /// more is handed on.
  void clear();

  /// What counts against kSynchronizeMaxKeptBytes just now.
  [[nodiscard]] std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  using Records = std::multimap<std::string, std::string, std::less<>>;  // by pod id

  Status take_part(const wire::FieldPart& part);
  Status take_item(std::uint32_t key, std::string_view message);
  Status take_pod(std::string_view message);
  Status take_container(std::string_view message);
  /// False where it does not fit.
  bool keep(Records& records, std::string_view pod_id, std::string record);
  void drop_unread_annotations(container::KeyValues& annotations);
  void hand_on_waiting(Records::iterator from, Records::iterator to);
  void call_existing();
  void reset();

  Handler& handler_;
  wire::FieldStream fields_;
  std::optional<Error> failure_;  // of this chunk
  bool more_ = false;
  std::string item_;  // a pod or container of which only a part has come
  container::Request request_;
  Records pods_;
  Records waiting_;  // containers
  StateCounts counts_;
  bool lacks_pods_ = false;  // one did not fit
  std::size_t bytes_ = 0;
  std::size_t kept_bytes_ = 0;
  bool calling_ = false;  // the handler, which views what is kept
  bool stopped_ = false;  // cleared from inside that call
};

}  // namespace railhead::nri
