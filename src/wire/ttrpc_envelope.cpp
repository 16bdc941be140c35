// SPDX-License-Identifier: Apache-2.0
#include "wire/ttrpc_envelope.h"

#include "wire/protobuf_wire.h"

namespace railhead::wire {
namespace {

constexpr int kRequestService = 1;
constexpr int kRequestMethod = 2;
constexpr int kRequestPayload = 3;
constexpr int kRequestTimeoutNano = 4;
constexpr int kResponseStatus = 1;
constexpr int kResponsePayload = 2;
constexpr int kStatusCode = 1;
constexpr int kStatusMessage = 2;

Error malformed(std::string_view what) {
  return {ErrorCode::malformed, "ttrpc " + std::string(what) + " is not a protobuf message"};
}

bool decode_status(std::string_view data, ResponseEnvelope& response) {
  FieldReader fields(data);
  for (Field field; fields.next(field);) {
    switch (field.key) {
      case varint_key(kStatusCode):
        response.code = static_cast<StatusCode>(static_cast<std::int32_t>(field.value));
        break;
      case bytes_key(kStatusMessage): response.message = field.bytes; break;
      default: break;
    }
  }
  return !fields.malformed();
}

}  // namespace

Result<RequestEnvelope> decode_request(std::string_view data) {
  RequestEnvelope request;
  FieldReader fields(data);
  for (Field field; fields.next(field);) {
    switch (field.key) {
      case bytes_key(kRequestService): request.service = field.bytes; break;
      case bytes_key(kRequestMethod): request.method = field.bytes; break;
      case bytes_key(kRequestPayload): request.payload = field.bytes; break;
      case varint_key(kRequestTimeoutNano):
        request.timeout_nano = static_cast<std::int64_t>(field.value);
        break;
      default: break;
    }
  }
  if (fields.malformed()) return malformed("request");
  return request;
}

RequestEnvelope decode_request_start(std::string_view beginning) {
  RequestEnvelope request;
  FieldReader fields(beginning);
  Field field;
  if (fields.next(field) && field.key == bytes_key(kRequestService)) request.service = field.bytes;
  if (fields.next(field) && field.key == bytes_key(kRequestMethod)) request.method = field.bytes;
  return request;
}

bool RequestPayload::next(std::string_view& data, std::string_view& payload) {
  for (FieldPart part; !repeated_ && fields_.next(data, part);) {
    const bool is_payload = part.key == bytes_key(kRequestPayload);
    const bool names_method =
        part.key == bytes_key(kRequestService) || part.key == bytes_key(kRequestMethod);
    if (part.first && begun_ && (is_payload || names_method)) {
      repeated_ = true;
    } else if (is_payload) {
      begun_ = true;
      payload = part.bytes;
      return true;
    }
  }
  return false;
}

Result<ResponseEnvelope> decode_response(std::string_view data) {
  ResponseEnvelope response;
  FieldReader fields(data);
  for (Field field; fields.next(field);) {
    switch (field.key) {
      case bytes_key(kResponseStatus):
        if (!decode_status(field.bytes, response)) return malformed("status");
        break;
      case bytes_key(kResponsePayload): response.payload = field.bytes; break;
      default: break;
    }
  }
  if (fields.malformed()) return malformed("response");
  return response;
}

std::string encode_request(const RequestEnvelope& request) {
  std::string out;
  append_bytes_field(out, kRequestService, request.service);
  append_bytes_field(out, kRequestMethod, request.method);
  append_bytes_field(out, kRequestPayload, request.payload);
  append_varint_field(out, kRequestTimeoutNano, static_cast<std::uint64_t>(request.timeout_nano));
  return out;
}

std::string encode_response(std::string_view payload) {
  std::string out;
  append_bytes_field(out, kResponsePayload, payload);
  return out;
}

std::string encode_status(StatusCode code, std::string_view message) {
  std::string status;
  append_varint_field(status, kStatusCode, static_cast<std::uint64_t>(code));
  append_bytes_field(status, kStatusMessage, to_utf8(message));
  std::string out;
  append_bytes_field(out, kResponseStatus, status);
  return out;
}

}  // namespace railhead::wire
