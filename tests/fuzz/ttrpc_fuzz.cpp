// SPDX-License-Identifier: Apache-2.0
// ttrpc messages from any bytes in any pieces, and the envelopes inside them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/protobuf_wire.h"
#include "wire/ttrpc.h"
#include "wire/ttrpc_envelope.h"

namespace {

using namespace railhead::wire;

constexpr std::size_t kMaxDataBytes = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

// What is read can be written, and read again to the same.
void round_trip(const RequestEnvelope& request) {
  const std::string bytes = encode_request(request);
  const auto again = decode_request(bytes);
  require(static_cast<bool>(again));
  require(again->service == request.service && again->method == request.method &&
          again->payload == request.payload && again->timeout_nano == request.timeout_nano);
}

void look_inside(std::string_view data) {
  if (const auto request = decode_request(data)) round_trip(*request);
  if (const auto response = decode_response(data)) {
    const std::string bytes = encode_status(response->code, response->message);
    const auto again = decode_response(bytes);
    require(again && again->code == response->code);
  }
  const std::string text = to_utf8(data);
  require(to_utf8(text) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  MessageReader reader(kMaxDataBytes);
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    std::string_view input = stream.substr(at, piece);
    while (reader.feed(input)) {
      require(reader.message().body.size() <= kMaxDataBytes);
      if (!reader.message().oversized) look_inside(view_of(reader.message().body));
    }
    require(input.empty());
  }
  look_inside(stream);
  return 0;
}
