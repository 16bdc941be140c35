// SPDX-License-Identifier: Apache-2.0
#include "wire/ttrpc.h"

#include <algorithm>

#include "wire/big_endian.h"

namespace railhead::wire {
namespace {

// A buffer above this is given back after use: one large Synchronize must not stay resident.
constexpr std::size_t kKeptCapacity = std::size_t{64} << 10U;

}  // namespace

MessageHeader decode_header(const std::array<char, kTtrpcHeaderBytes>& bytes) {
  return {load_be32(bytes.data()), load_be32(bytes.data() + 4),
          static_cast<MessageType>(static_cast<std::uint8_t>(bytes[8])),
          static_cast<std::uint8_t>(bytes[9])};
}

std::array<char, kTtrpcHeaderBytes> encode_header(const MessageHeader& header) {
  std::array<char, kTtrpcHeaderBytes> bytes{};
  store_be32(bytes.data(), header.length);
  store_be32(bytes.data() + 4, header.stream);
  bytes[8] = static_cast<char>(header.type);
  bytes[9] = static_cast<char>(header.flags);
  return bytes;
}

MessageReader::MessageReader(std::size_t max_data_bytes, MessageSink* sink)
    : max_data_bytes_(max_data_bytes),
      sink_(sink) {}

bool MessageReader::feed(std::string_view& input) {
  if (state_ == State::discard && !pass_on(input)) return false;
  if (state_ == State::header) {
    if (!header_.feed(input)) return false;
    start_body();
    if (state_ == State::discard) return true;
  }
  if (state_ == State::offer) {
    if (!feed_body(input, kOfferedBytes)) return false;
    offer();
  }
  if (state_ == State::stream) return pass_on(input);
  if (!feed_body(input, message_.header.length)) return false;
  state_ = State::header;
  return true;
}

void MessageReader::start_body() {
  message_.header = decode_header(header_.bytes());
  message_.oversized = message_.header.length > max_data_bytes_;
  message_.streamed = false;
  message_.body.clear();
  if (message_.body.capacity() > kKeptCapacity) message_.body = Bytes();
  left_ = message_.header.length;
  if (message_.oversized) {
    state_ = State::discard;
  } else if (sink_ != nullptr && left_ > kStreamAboveBytes) {
    state_ = State::offer;
  } else {
    state_ = State::body;
    message_.body.reserve(left_);
  }
}

void MessageReader::offer() {
  message_.streamed = sink_->wants(message_.header, view_of(message_.body));
  if (!message_.streamed) {
    state_ = State::body;
    message_.body.reserve(message_.header.length);
    return;
  }
  state_ = State::stream;
  left_ -= message_.body.size();
  sink_->take(view_of(message_.body));
  message_.body.clear();
}

bool MessageReader::pass_on(std::string_view& input) {
  const std::string_view piece = input.substr(0, left_);
  input.remove_prefix(piece.size());
  left_ -= piece.size();
  if (state_ == State::stream && !piece.empty()) sink_->take(piece);
  if (left_ > 0) return false;
  state_ = State::header;
  return true;
}

bool MessageReader::feed_body(std::string_view& input, std::size_t size) {
  const std::string_view piece = input.substr(0, size - message_.body.size());
  message_.body.insert(message_.body.end(), piece.begin(), piece.end());
  input.remove_prefix(piece.size());
  return message_.body.size() == size;
}

}  // namespace railhead::wire
