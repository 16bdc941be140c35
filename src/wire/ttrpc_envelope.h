// SPDX-License-Identifier: Apache-2.0
// What a ttrpc message carries: Request and Response. Facts: containerd/ttrpc request.proto and
// google/rpc/status.proto (field numbers in ttrpc_envelope.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/field_stream.h"

namespace railhead::wire {

/// The gRPC status codes that occur here; others pass through as numbers.
enum class StatusCode : std::int32_t {
  ok = 0,
  unknown = 2,
  invalid_argument = 3,
  resource_exhausted = 8,
  failed_precondition = 9,
  unimplemented = 12,
};

/// Views into the decoded bytes.
struct RequestEnvelope {
  std::string_view service;
  std::string_view method;
  std::string_view payload;
  std::int64_t timeout_nano = 0;  ///< relative, left when it was sent; 0: none
};

struct ResponseEnvelope {
  StatusCode code = StatusCode::ok;
  std::string_view message;  ///< of the status
  std::string_view payload;
};

/// Malformed where the bytes are no protobuf message; unknown fields (metadata too) are skipped.
Result<RequestEnvelope> decode_request(std::string_view data);
Result<ResponseEnvelope> decode_response(std::string_view data);

/// Service and method of a request of which only the beginning is there; empty where they are not
/// its first fields, as Go writes them.
RequestEnvelope decode_request_start(std::string_view beginning);

/// The payload of a request that comes in pieces; decode_request_start() has read its service and
/// method. A second payload is malformed, and so is a service or method behind the payload: in a
/// whole message the last one counts, but here the first has been used already.
class RequestPayload {
 public:
  /// The next piece of the payload at the front of `data`, which is shortened by it; false when
  /// `data` is used up.
  bool next(std::string_view& data, std::string_view& payload);

  /// The request may end here, and was well-formed.
  [[nodiscard]] bool complete() const { return !repeated_ && fields_.at_border(); }

 private:
  FieldStream fields_;
  bool begun_ = false;
  bool repeated_ = false;
};

std::string encode_request(const RequestEnvelope& request);

/// Success. An empty payload gives an empty message, which is legal and means success.
std::string encode_response(std::string_view payload);

/// A failure; `message` is made valid UTF-8, without which Go would not read it.
std::string encode_status(StatusCode code, std::string_view message);

}  // namespace railhead::wire
