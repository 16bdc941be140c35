// SPDX-License-Identifier: Apache-2.0
#include "wire/field_stream.h"

#include <algorithm>
#include <limits>

namespace railhead::wire {
namespace {

constexpr unsigned kByteBits = 8;

}  // namespace

bool FieldStream::next(std::string_view& input, FieldPart& part) {
  if (state_ == State::bytes) return take_bytes(input, part);
  while (!input.empty() && state_ != State::malformed) {
    switch (state_) {
      case State::key:
        if (take_varint(input)) start_field();
        break;
      case State::varint:
        if (take_varint(input)) return finish_number(part);
        break;
      case State::fixed:
        if (take_fixed(input)) return finish_number(part);
        break;
      case State::length:
        if (!take_varint(input)) break;
        left_ = number_;
        bits_ = 0;
        first_ = true;
        state_ = State::bytes;
        return take_bytes(input, part);
      case State::bytes:
      case State::malformed: break;
    }
  }
  return false;
}

bool FieldStream::take_varint(std::string_view& input) {
  while (!input.empty()) {
    const auto byte = static_cast<std::uint8_t>(input.front());
    input.remove_prefix(1);
    if (bits_ == 0) number_ = 0;
    if (bits_ > kLastVarintShift || (bits_ == kLastVarintShift && byte > 1)) {
      state_ = State::malformed;
      return false;
    }
    number_ |= static_cast<std::uint64_t>(byte & 0x7FU) << bits_;
    bits_ += kVarintBits;
    if (byte < 0x80) return true;
  }
  return false;
}

bool FieldStream::take_fixed(std::string_view& input) {
  while (!input.empty() && bits_ < left_) {
    if (bits_ == 0) number_ = 0;
    number_ |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(input.front())) << bits_;
    bits_ += kByteBits;
    input.remove_prefix(1);
  }
  return bits_ == left_;
}

void FieldStream::start_field() {
  bits_ = 0;
  state_ = State::malformed;
  if (number_ > std::numeric_limits<std::uint32_t>::max() || (number_ >> 3U) == 0) return;
  key_ = static_cast<std::uint32_t>(number_);
  switch (static_cast<WireType>(key_ & 7U)) {
    case WireType::varint: state_ = State::varint; break;
    case WireType::bytes: state_ = State::length; break;
    case WireType::fixed64:
      state_ = State::fixed;
      left_ = 64;
      break;
    case WireType::fixed32:
      state_ = State::fixed;
      left_ = 32;
      break;
  }
}

bool FieldStream::finish_number(FieldPart& part) {
  part = {key_, number_, {}, 0, /*first=*/true};
  bits_ = 0;
  state_ = State::key;
  return true;
}

bool FieldStream::take_bytes(std::string_view& input, FieldPart& part) {
  if (input.empty() && left_ > 0) return false;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  left_ -= size;
  part = {key_, 0, input.substr(0, size), left_, first_};
  input.remove_prefix(size);
  first_ = false;
  if (left_ == 0) state_ = State::key;
  return true;
}

}  // namespace railhead::wire
