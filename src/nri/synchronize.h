// SPDX-License-Identifier: Apache-2.0
// The state a runtime sends after Configure: every pod and container it has.
//
// Invariants
// * It may come in chunks; a container may come before its pod. So nothing is handed on before the
//   last chunk, and until then the chunks are kept as the bytes they came as, with a view of each
//   pod and container: no object is built for any of them.
// * A chunk is checked as a whole before it is kept: deliver() cannot fail.
// * At most kSynchronizeMaxBytes are kept. Afterwards nothing is.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "container/request.h"
#include "wire/ttrpc.h"

namespace railhead::nri {

inline constexpr std::size_t kSynchronizeMaxBytes = std::size_t{64} << 20U;

class Handler;

class Synchronize {
 public:
  /// Takes a chunk: `payload` is a SynchronizeRequest inside `body`, which is moved away on
  /// success. True when more chunks follow. Malformed chunks are not kept; too_large when the sum
  /// exceeds the limit.
  Result<bool> add(wire::Bytes& body, std::string_view payload);

  /// Hands every container, with its pod if that is known, to the handler, then the two counts;
  /// forgets everything and gives the memory back to the system.
  void deliver(Handler& handler);

  /// Forgets everything; from inside deliver(), also what is not yet delivered.
  void clear();

 private:
  struct Chunk {
    std::vector<std::pair<std::string_view, std::string_view>> pods;  // id, message
    std::vector<std::string_view> containers;
    bool more = false;

    [[nodiscard]] std::string_view pod_with_id(std::string_view id) const;
  };

  Result<Chunk> parse(std::string_view payload);
  void deliver_containers(Handler& handler);

  Chunk all_;
  std::vector<wire::Bytes> bodies_;
  std::size_t bytes_ = 0;
  bool delivering_ = false;
  ContainerRequest request_;
};

}  // namespace railhead::nri
