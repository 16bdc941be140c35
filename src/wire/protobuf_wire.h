// SPDX-License-Identifier: Apache-2.0
// The protobuf wire format, read in place. Facts: protobuf.dev, "Encoding".
//
// Invariants
// * Nothing is copied and nothing recurses: an embedded message is a view, read by another reader.
// * A truncated field, a varint above 64 bits, field number 0 and the group wire types (3 and 4,
//   which proto3 lacks) are malformed, and a malformed message has no further fields.
// * A field of the right number and the wrong wire type is an unknown field, as in every protobuf
//   library: keys below carry both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace railhead::wire {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// Bits that a byte of a varint holds, and where its tenth byte begins, which holds one.
inline constexpr unsigned kVarintBits = 7;
inline constexpr unsigned kLastVarintShift = 63;

/// A field's key as on the wire: number and wire type in one, fit for `case` labels.
constexpr std::uint32_t field_key(int number, WireType type) {
  return (static_cast<std::uint32_t>(number) << 3U) | static_cast<std::uint32_t>(type);
}

constexpr std::uint32_t varint_key(int number) {
  return field_key(number, WireType::varint);
}

constexpr std::uint32_t bytes_key(int number) {
  return field_key(number, WireType::bytes);
}

struct Field {
  std::uint32_t key = 0;
  std::uint64_t value = 0;  ///< varint, fixed64, fixed32; two's complement for signed types
  std::string_view bytes;   ///< string, bytes, embedded message
};

/// The fields of one message, in wire order.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message)
      : at_(message.data()),
        end_(message.data() + message.size()) {}

  /// The next field; false at the end and where the message is malformed.
  bool next(Field& field) {
    if (at_ == end_) return false;
    if (next_short_string(field)) return true;
    const Read read = read_field(at_, end_);
    malformed_ = read.after == nullptr;
    at_ = malformed_ ? end_ : read.after;
    field = read.field;
    return !malformed_;
  }

  [[nodiscard]] bool malformed() const { return malformed_; }

 private:
  struct Read {
    Field field;
    const char* after = nullptr;  ///< where the next one begins; null: malformed
  };

  // Any field. By value, so that the reader and the field of a loop can be in registers.
  static Read read_field(const char* at, const char* end);

  // Nearly all fields of a container: a string or message with its number in one byte and its
  // length in one or two. What is not, or reaches beyond the end, is for read_field().
  bool next_short_string(Field& field) {
    constexpr std::ptrdiff_t kMaxHead = 3;
    if (end_ - at_ < kMaxHead) return false;
    const auto byte = [this](int i) { return static_cast<std::uint8_t>(at_[i]); };
    const std::uint32_t key = byte(0);
    if ((key & 0x87U) != static_cast<unsigned>(WireType::bytes) || key < 8) return false;
    std::ptrdiff_t head = 2;
    std::size_t length = byte(1);
    if (length >= 0x80) {
      if (byte(2) >= 0x80) return false;
      head = kMaxHead;
      length = (length & 0x7FU) | (static_cast<std::size_t>(byte(2)) << 7U);
    }
    if (length > static_cast<std::size_t>(end_ - at_ - head)) return false;
    field = {key, 0, {at_ + head, length}};
    at_ += head + static_cast<std::ptrdiff_t>(length);
    return true;
  }

  const char* at_;
  const char* end_;
  bool malformed_ = false;
};

void append_varint(std::string& out, std::uint64_t value);

/// Appends nothing for 0: proto3 leaves default values out.
void append_varint_field(std::string& out, int number, std::uint64_t value);

/// Appends nothing for an empty value.
void append_bytes_field(std::string& out, int number, std::string_view value);

/// Appends the field also where it is empty: an entry of a list, or a message that is there.
void append_entry_field(std::string& out, int number, std::string_view value);

/// Puts the length of all that stands from `begin` on in place of the byte before it.
void write_length(std::string& out, std::size_t begin);

/// A message that is a field of another, or an entry of a list; there also where it is empty.
/// `body` appends its fields to `out`, so that what is nested needs no text of its own.
template <typename Body>
void append_message_field(std::string& out, int number, Body body) {
  append_varint(out, bytes_key(number));
  out.push_back('\0');
  const std::size_t begin = out.size();
  body();
  write_length(out, begin);
}

/// A proto3 string: Go rejects the whole message where one is not UTF-8, so other bytes become '?'.
/// Appends nothing for an empty one.
void append_text_field(std::string& out, int number, std::string_view text);

/// `text` with every byte that is not part of well-formed UTF-8 replaced by '?': a proto3 string
/// that is not UTF-8 makes Go reject the whole message.
std::string to_utf8(std::string_view text);

}  // namespace railhead::wire
