// SPDX-License-Identifier: Apache-2.0
#include "nri/conversation.h"

#include <utility>

#include "base/text.h"
#include "nri/messages.h"
#include "wire/ttrpc_envelope.h"

namespace railhead::nri {
namespace {

// containerd before 1.7.26 sends a Synchronize above ttrpc's limit of 4 MiB as it is, and its
// multiplexer lets 16 MiB pass. The plugins of its time were lost by it (containerd/nri issue 102).
constexpr std::size_t kMaxRequestBytes = std::size_t{16} << 20U;

constexpr std::uint32_t kFirstStream = 1;

}  // namespace

Conversation::Conversation(SessionParts session, Send send)
    : session_(session),
      send_(std::move(send)),
      requests_(kMaxRequestBytes, &service_),
      service_(session, [this](std::uint32_t stream, std::string body) {
        this->send(wire::kPluginConnection, stream, wire::MessageType::response, std::move(body));
      }) {}

void Conversation::begin(std::optional<int> peer_pid) {
  service_.set_peer_pid(peer_pid);
  const std::string payload = encode_register_plugin(session_.options);
  register_stream_ = kFirstStream;
  send(wire::kRuntimeConnection, kFirstStream, wire::MessageType::request,
       wire::encode_request({kRuntimeService, "RegisterPlugin", payload, /*timeout_nano=*/0}));
}

Status Conversation::receive(std::string_view bytes) {
  const auto self = shared_from_this();  // a callback may drop the session
  while (!closed_) {
    auto slice = TRY(frames_.next(bytes));
    if (!slice) break;
    if (slice->connection == wire::kPluginConnection) {
      while (!closed_ && requests_.feed(slice->bytes)) {
        TRY_STATUS(service_.handle(requests_.message()));
      }
    } else if (slice->connection == wire::kRuntimeConnection) {
      while (!closed_ && responses_.feed(slice->bytes)) {
        TRY_STATUS(handle_response(responses_.message()));
      }
    }
  }
  return {};
}

Status Conversation::handle_response(const wire::Message& message) {
  if (message.header.type != wire::MessageType::response) return {};
  if (message.header.stream != register_stream_) return {};
  register_stream_.reset();
  const auto response = wire::decode_response(wire::view_of(message.body));
  if (!response || message.oversized) {
    return Error{ErrorCode::malformed, "nri: unreadable answer to RegisterPlugin"};
  }
  if (response->code == wire::StatusCode::ok) return {};
  constexpr std::size_t kQuotedBytes = 512;
  return Error{ErrorCode::unavailable, "nri: the runtime refused plugin " +
                                           session_.options.plugin_index + "-" +
                                           session_.options.plugin_name + ": " +
                                           in_quotes(response->message, kQuotedBytes)};
}

void Conversation::send(std::uint32_t connection, std::uint32_t stream, wire::MessageType type,
                        std::string body) {
  if (closed_) return;
  auto framed = wire::frame_message(connection, stream, type, std::move(body));
  if (!framed) {
    ++session_.stats.protocol_errors;
    framed = wire::frame_message(
        connection, stream, type,
        wire::encode_status(wire::StatusCode::resource_exhausted, framed.error().message));
  }
  if (framed) send_(std::move(framed).value());
}

void Conversation::close() {
  closed_ = true;
  service_.close();
}

}  // namespace railhead::nri
