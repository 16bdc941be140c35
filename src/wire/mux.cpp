// SPDX-License-Identifier: Apache-2.0
#include "wire/mux.h"

#include <algorithm>
#include <utility>

#include "wire/big_endian.h"

namespace railhead::wire {
namespace {

void append_mux_header(FramedMessage& message, std::uint32_t connection, std::size_t length) {
  store_be32(message.head_bytes.data() + message.head_size, connection);
  store_be32(message.head_bytes.data() + message.head_size + 4, static_cast<std::uint32_t>(length));
  message.head_size += kMuxHeaderBytes;
}

}  // namespace

Result<std::optional<Slice>> FrameReader::next(std::string_view& input) {
  while (payload_left_ == 0) {
    if (!header_.feed(input)) return std::optional<Slice>();
    connection_ = load_be32(header_.bytes().data());
    payload_left_ = load_be32(header_.bytes().data() + 4);
    if (payload_left_ > kMuxMaxReadBytes) {
      return Error{ErrorCode::malformed, "nri multiplexer: a frame for connection " +
                                             std::to_string(connection_) + " claims " +
                                             std::to_string(payload_left_) + " bytes"};
    }
  }
  if (input.empty()) return std::optional<Slice>();
  const Slice slice{connection_, input.substr(0, payload_left_)};
  input.remove_prefix(slice.bytes.size());
  payload_left_ -= slice.bytes.size();
  return std::optional<Slice>(slice);
}

Result<FramedMessage> frame_message(std::uint32_t connection, std::uint32_t stream,
                                    MessageType type, std::string body) {
  if (body.size() > kTtrpcMaxDataBytes) {
    return Error{ErrorCode::too_large, "a ttrpc message of " + std::to_string(body.size()) +
                                           " bytes is above the limit of 4 MiB"};
  }
  FramedMessage message;
  const std::size_t total = kTtrpcHeaderBytes + body.size();
  const bool single = total <= kMuxSingleFrameBytes;
  append_mux_header(message, connection, single ? total : kTtrpcHeaderBytes);
  const auto header =
      encode_header({static_cast<std::uint32_t>(body.size()), stream, type, /*flags=*/0});
  std::copy(header.begin(), header.end(), message.head_bytes.data() + message.head_size);
  message.head_size += header.size();
  if (!single) {
    append_mux_header(message, connection, body.size());
    message.frames = 2;
  }
  message.body = std::move(body);
  return message;
}

}  // namespace railhead::wire
