// SPDX-License-Identifier: Apache-2.0
// One protobuf message that comes in pieces. Facts: protobuf.dev, "Encoding".
//
// Invariants
// * What is malformed for FieldReader (protobuf_wire.h) is malformed here, except a field that
//   reaches beyond the message: only the end shows that. at_border() is then false.
// * Nothing is kept but the key and the number that is being read: memory does not depend on what
//   the message claims.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/protobuf_wire.h"

namespace railhead::wire {

/// A field, or the next part of one: only strings, bytes and embedded messages come in parts.
struct FieldPart {
  std::uint32_t key = 0;
  std::uint64_t value = 0;  ///< varint, fixed64, fixed32
  std::string_view bytes;   ///< as much as has come
  std::uint64_t left = 0;   ///< bytes of the field that follow in later parts
  bool first = false;

  [[nodiscard]] bool whole() const { return first && left == 0; }
};

class FieldStream {
 public:
  /// The next part at the front of `input`, which is shortened by it. False when `input` is used up
  /// and where the message is malformed. An empty string is one part without bytes.
  bool next(std::string_view& input, FieldPart& part);

  [[nodiscard]] bool malformed() const { return state_ == State::malformed; }

  /// Between two fields: the message may end here.
  [[nodiscard]] bool at_border() const { return state_ == State::key && bits_ == 0; }

 private:
  enum class State : std::uint8_t { key, varint, fixed, length, bytes, malformed };

  bool take_varint(std::string_view& input);
  bool take_fixed(std::string_view& input);
  void start_field();
  bool take_bytes(std::string_view& input, FieldPart& part);
  bool finish_number(FieldPart& part);

  State state_ = State::key;
  bool first_ = false;
  std::uint32_t key_ = 0;
  std::uint64_t number_ = 0;  // the key, number or length as far as it has come
  unsigned bits_ = 0;         // how many bits of it have come
  std::uint64_t left_ = 0;    // bytes of a string, bits of a fixed number
};

}  // namespace railhead::wire
