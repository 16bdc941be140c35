// SPDX-License-Identifier: Apache-2.0
// The Plugin service: what the runtime calls, on connection 1. No socket.
//
// Invariants
// * Every request gets exactly one response on its own stream id; everything that is no request is
//   ignored (types to come, streams).
// * What cannot be read is answered INVALID_ARGUMENT, what is not known UNIMPLEMENTED (a runtime
//   falls back to StateChange by it), and the session lives on. Stream ids that are even or do not
//   increase are refused as Go's server does.
// * Events are answered with success, whether or not we subscribed them and can read them, by their
//   own request (NRI 0.12) or as StateChange: an error would fail the pod. The answer comes before
//   anything is done about the event.
// * A large Synchronize is read as it arrives (synchronize.h), whatever else lies in one piece.
// * Each chunk of a Synchronize is answered with its own `more` and no updates. UpdateContainers is
//   never called: it can deadlock containerd before 2.4 and CRI-O (containerd issue 13733).
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "nri/create_calls.h"
#include "nri/session.h"
#include "nri/synchronize.h"
#include "wire/ttrpc.h"
#include "wire/ttrpc_envelope.h"

namespace railhead::nri {

class PluginService : public wire::MessageSink {
 public:
  PluginService(SessionParts session, CreateCalls::Reply reply);

  /// SO_PEERCRED of the connection, for Handler::configured.
  void set_peer_pid(std::optional<int> pid) { peer_.pid = pid; }

  /// Whether a large message is a Synchronize that may be started, and pieces of its data.
  bool wants(const wire::MessageHeader& header, std::string_view beginning) override;
  void take(std::string_view piece) override;

  /// Takes a message of the plugin connection, or the end of one that take() was given; may move
  /// its body away. Fails only where the connection is of no further use: Shutdown, or more state
  /// than we keep.
  Status handle(wire::Message& message);

  /// The last chunk of a Synchronize has been answered and delivered.
  [[nodiscard]] bool synchronized() const { return synchronized_; }

  /// No callback from here on.
  void close();

 private:
  struct Request {
    std::uint32_t stream;
    wire::RequestEnvelope envelope;
    wire::Bytes& body;  // which the envelope points into
  };

  struct Method {
    std::string_view name;
    Status (PluginService::*run)(const Request&);
  };

  static const Method* find_method(std::string_view name);

  Status dispatch(const Request& request);
  Status create_container(const Request& request);
  Status configure(const Request& request);
  Status synchronize(const Request& request);
  Status end_chunk(std::uint32_t stream);
  Status shutdown(const Request& request);
  Status run_pod_sandbox(const Request& request);
  Status state_change(const Request& request);
  Status nothing_to_do(const Request& request);

  [[nodiscard]] bool may_start(std::uint32_t stream) const {
    return stream % 2 == 1 && stream > last_stream_;
  }

  /// False, and answered, where a server may not start this request.
  bool admit(const wire::Message& message);
  void refuse(std::uint32_t stream, wire::StatusCode code, std::string_view why);

  SessionParts session_;
  CreateCalls::Reply reply_;
  std::shared_ptr<CreateCalls> calls_;
  Synchronize state_;
  wire::RequestPayload streamed_;
  RuntimePeer peer_;
  std::uint32_t last_stream_ = 0;
  bool synchronized_ = false;
  bool closed_ = false;
};

}  // namespace railhead::nri
