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

MessageReader::MessageReader(std::size_t max_data_bytes)
    : max_data_bytes_(max_data_bytes) {}

bool MessageReader::feed(std::string_view& input) {
  if (state_ == State::discard) {
    const std::size_t dropped = std::min(discard_, input.size());
    input.remove_prefix(dropped);
    discard_ -= dropped;
    if (discard_ > 0) return false;
    state_ = State::header;
  }
  if (state_ == State::header) {
    if (!feed_header(input)) return false;
    start_body();
    if (state_ == State::discard) return true;
  }
  feed_body(input);
  if (message_.body.size() < message_.header.length) return false;
  state_ = State::header;
  return true;
}

bool MessageReader::feed_header(std::string_view& input) {
  const std::size_t count = std::min(kTtrpcHeaderBytes - header_filled_, input.size());
  std::copy_n(input.data(), count, header_.data() + header_filled_);
  input.remove_prefix(count);
  header_filled_ += count;
  if (header_filled_ < kTtrpcHeaderBytes) return false;
  header_filled_ = 0;
  return true;
}

void MessageReader::start_body() {
  message_.header = decode_header(header_);
  message_.oversized = message_.header.length > max_data_bytes_;
  message_.body.clear();
  if (message_.body.capacity() > kKeptCapacity) message_.body = Bytes();
  state_ = message_.oversized ? State::discard : State::body;
  if (message_.oversized) {
    discard_ = message_.header.length;
  } else {
    message_.body.reserve(message_.header.length);
  }
}

void MessageReader::feed_body(std::string_view& input) {
  const std::size_t missing = message_.header.length - message_.body.size();
  const std::string_view piece = input.substr(0, missing);
  message_.body.insert(message_.body.end(), piece.begin(), piece.end());
  input.remove_prefix(piece.size());
}

}  // namespace railhead::wire
