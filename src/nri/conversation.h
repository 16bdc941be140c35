// SPDX-License-Identifier: Apache-2.0
// One connection's conversation with the runtime, from RegisterPlugin on: bytes in, messages out,
// no socket.
//
// Invariants
// * Connection 2 carries our calls with stream ids 1, 3, 5…; responses are matched by id, others
//   dropped. Connection 1 carries the runtime's calls (plugin_service.h). Other connections and
//   other message types are ignored.
// * Configure may arrive before the answer to RegisterPlugin: nothing waits for that answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "nri/plugin_service.h"
#include "nri/session.h"
#include "wire/mux.h"

namespace railhead::nri {

class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  using Send = std::function<void(wire::FramedMessage)>;

  Conversation(SessionParts session, Send send);

  /// Sends RegisterPlugin.
  void begin(std::optional<int> peer_pid);

  /// Takes bytes from the runtime. After a failure the connection is of no further use.
  Status receive(std::string_view bytes);

  /// Registered, configured, and Synchronize delivered.
  [[nodiscard]] bool synchronized() const { return service_.synchronized(); }

  /// Neither the handler nor `send` is called from here on.
  void close();

 private:
  Status handle_response(const wire::Message& message);
  void send(std::uint32_t connection, std::uint32_t stream, wire::MessageType type,
            std::string body);

  SessionParts session_;
  Send send_;
  bool closed_ = false;
  wire::FrameReader frames_;
  wire::MessageReader requests_;
  wire::MessageReader responses_;
  std::optional<std::uint32_t> register_stream_;  // of the unanswered RegisterPlugin
  PluginService service_;
};

}  // namespace railhead::nri
