// SPDX-License-Identifier: Apache-2.0
#include "nri/plugin_service.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "nri/messages.h"
#include "nri/request_view.h"

namespace railhead::nri {

PluginService::PluginService(SessionParts session, CreateCalls::Reply reply)
    : session_(session),
      reply_(reply),
      calls_(std::make_shared<CreateCalls>(session, std::move(reply))),
      state_(session.handler) {}

const PluginService::Method* PluginService::find_method(std::string_view name) {
  using Self = PluginService;
  static constexpr std::array kMethods = {
      Method{"CreateContainer", &Self::create_container},
      Method{"Configure", &Self::configure},
      Method{"Synchronize", &Self::synchronize},
      Method{"Shutdown", &Self::shutdown},
      Method{"StateChange", &Self::state_change},
      Method{"RunPodSandbox", &Self::run_pod_sandbox},
      Method{"UpdatePodSandbox", &Self::nothing_to_do},
      Method{"PostUpdatePodSandbox", &Self::nothing_to_do},
      Method{"StopPodSandbox", &Self::nothing_to_do},
      Method{"RemovePodSandbox", &Self::nothing_to_do},
      Method{"PostCreateContainer", &Self::nothing_to_do},
      Method{"StartContainer", &Self::nothing_to_do},
      Method{"PostStartContainer", &Self::nothing_to_do},
      Method{"UpdateContainer", &Self::nothing_to_do},
      Method{"PostUpdateContainer", &Self::nothing_to_do},
      Method{"StopContainer", &Self::nothing_to_do},
      Method{"RemoveContainer", &Self::nothing_to_do},
      // An empty answer rejects nothing; an error would fail every container of the node.
      Method{"ValidateContainerAdjustment", &Self::nothing_to_do},
  };
  const auto* const found = std::find_if(kMethods.begin(), kMethods.end(),
                                         [name](const Method& m) { return m.name == name; });
  return found == kMethods.end() ? nullptr : found;
}

bool PluginService::wants(const wire::MessageHeader& header, std::string_view beginning) {
  if (header.type != wire::MessageType::request || !may_start(header.stream)) return false;
  const auto request = wire::decode_request_start(beginning);
  if (request.service != kPluginService || request.method != "Synchronize") return false;
  streamed_ = {};
  return true;
}

void PluginService::take(std::string_view piece) {
  for (std::string_view payload; !closed_ && streamed_.next(piece, payload);) state_.take(payload);
}

Status PluginService::handle(wire::Message& message) {
  if (closed_) return {};  // from inside take()
  if (message.header.type != wire::MessageType::request) return {};
  if (!admit(message)) return {};
  const std::uint32_t stream = message.header.stream;
  if (message.streamed) {
    if (streamed_.complete()) return end_chunk(stream);
    state_.clear();
    refuse(stream, wire::StatusCode::invalid_argument, "ttrpc request is not a protobuf message");
    return {};
  }
  const auto envelope = wire::decode_request(wire::view_of(message.body));
  if (!envelope) {
    refuse(stream, wire::StatusCode::invalid_argument, envelope.error().message);
    return {};
  }
  return dispatch({stream, *envelope, message.body});
}

bool PluginService::admit(const wire::Message& message) {
  const std::uint32_t stream = message.header.stream;
  if (!may_start(stream)) {
    refuse(stream, wire::StatusCode::invalid_argument,
           "stream ids must be odd and increase, not " + std::to_string(stream) + " after " +
               std::to_string(last_stream_));
    return false;
  }
  last_stream_ = stream;
  if (message.oversized) {
    refuse(stream, wire::StatusCode::resource_exhausted,
           "a request of " + std::to_string(message.header.length) + " bytes is too large");
    return false;
  }
  return true;
}

Status PluginService::dispatch(const Request& request) {
  const auto& [service, method, payload, timeout] = request.envelope;
  const Method* const known = service == kPluginService ? find_method(method) : nullptr;
  if (known != nullptr) return (this->*known->run)(request);
  // Runtimes newer than us may ask for more: no error of theirs.
  reply_(request.stream, wire::encode_status(wire::StatusCode::unimplemented,
                                             "railhead does not serve " + in_quotes(service) + " " +
                                                 in_quotes(method)));
  return {};
}

void PluginService::refuse(std::uint32_t stream, wire::StatusCode code, std::string_view why) {
  ++session_.stats.protocol_errors;
  reply_(stream, wire::encode_status(code, why));
}

Status PluginService::create_container(const Request& request) {
  const auto deadline = own_deadline(peer_.request_timeout, request.envelope.timeout_nano,
                                     session_.options.deadline_share);
  const std::string_view payload = request.envelope.payload;
  const auto started = calls_->start(request.stream, request.body, payload, deadline);
  if (started) return {};
  // An error would fail the container, and with a runtime that we cannot read all containers of the
  // node.
  ++session_.stats.protocol_errors;
  reply_(request.stream, {});
  session_.handler.not_understood(started.error());
  return {};
}

Status PluginService::configure(const Request& request) {
  const auto peer = decode_configure(request.envelope.payload);
  if (!peer) {
    refuse(request.stream, wire::StatusCode::invalid_argument, peer.error().message);
    return {};
  }
  const auto pid = peer_.pid;
  peer_ = *peer;
  peer_.pid = pid;
  session_.handler.configured(peer_);
  if (closed_) return {};
  reply_(request.stream,
         wire::encode_response(encode_configure_response(session_.options.fail_request)));
  return {};
}

Status PluginService::synchronize(const Request& request) {
  state_.take(request.envelope.payload);
  return closed_ ? Status() : end_chunk(request.stream);
}

Status PluginService::end_chunk(std::uint32_t stream) {
  const auto more = state_.end_chunk();
  if (!more) {
    refuse(stream, wire::StatusCode::invalid_argument, more.error().message);
    return {};
  }
  // All chunks share one timeout of the runtime: answer before what is left to look at.
  reply_(stream, wire::encode_response(encode_synchronize_response(*more)));
  if (*more || closed_) return {};
  if (!std::exchange(synchronized_, true)) ++session_.stats.registrations;
  session_.stats.connected = true;
  state_.finish();
  return {};
}

Status PluginService::shutdown(const Request& request) {
  reply_(request.stream, {});
  return Error{ErrorCode::unavailable, "nri: the runtime asked to shut down"};
}

Status PluginService::run_pod_sandbox(const Request& request) {
  reply_(request.stream, {});
  container::Request pod;
  if (!closed_ && read_create_request(request.envelope.payload, pod))
    session_.handler.sandbox_runs(pod);
  return {};
}

Status PluginService::state_change(const Request& request) {
  reply_(request.stream, {});
  container::Request pod;
  const auto runs = read_sandbox_runs(request.envelope.payload, pod);
  if (!closed_ && runs && *runs) session_.handler.sandbox_runs(pod);
  return {};
}

Status PluginService::nothing_to_do(const Request& request) {
  reply_(request.stream, {});
  return {};
}

void PluginService::close() {
  closed_ = true;
  calls_->close();
  state_.clear();
}

}  // namespace railhead::nri
