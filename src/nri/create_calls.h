// SPDX-License-Identifier: Apache-2.0
// CreateContainer requests between their arrival and their answer.
//
// Invariants
// * Each is answered exactly once: by the handler, or by on_deadline when our own deadline passes
//   before. The deadline is a share of what the runtime grants, because a late answer costs the
//   registration and the container is then created unmodified, without an error.
// * A request's bytes live until its `done` is gone, even when the connection is not.
// * Calls and their buffers are used again: the usual request allocates next to nothing, and a
//   handler that answers at once never touches a timer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nri/session.h"
#include "wire/ttrpc.h"

namespace railhead::nri {

/// What we allow ourselves of the time the runtime grants: `share` of its request timeout, or of
/// what the request itself says is left (ttrpc's timeout_nano; 0 or less: nothing said) if that is
/// less.
std::chrono::milliseconds own_deadline(std::chrono::milliseconds request_timeout,
                                       std::int64_t timeout_nano, double share);

class CreateCalls : public std::enable_shared_from_this<CreateCalls> {
 public:
  /// Sends a ttrpc response body on a stream of the plugin connection.
  using Reply = std::function<void(std::uint32_t stream, std::string body)>;

  CreateCalls(SessionParts session, Reply reply);

  /// `payload` is a CreateContainerRequest inside `body`, which is swapped away for another buffer.
  /// Malformed requests are not started; too_large with 256 unanswered ones.
  Status start(std::uint32_t stream, wire::Bytes& body, std::string_view payload,
               std::chrono::milliseconds deadline);

  /// Drops all calls unanswered; nothing is called back any more.
  void close();

 private:
  struct Call;

  std::shared_ptr<Call> idle_call();
  void wait_for_answer(const std::shared_ptr<Call>& call, std::chrono::milliseconds deadline);
  static void shrink(Call& call);
  void finish(Call& call, const CreateAnswer& answer);

  SessionParts session_;
  Reply reply_;
  bool closed_ = false;
  std::vector<std::shared_ptr<Call>> calls_;  // in flight, and idle ones to use again
};

}  // namespace railhead::nri
