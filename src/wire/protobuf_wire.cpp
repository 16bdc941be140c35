// SPDX-License-Identifier: Apache-2.0
#include "wire/protobuf_wire.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/utf8.h"

namespace railhead::wire {

namespace {

// These take what they read off `bytes`, and are false where it ends before that.

bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift <= kLastVarintShift; shift += kVarintBits) {
    if (bytes.empty()) return false;
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == kLastVarintShift && byte > 1) return false;
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool take_fixed(std::string_view& bytes, unsigned size, std::uint64_t& value) {
  if (bytes.size() < size) return false;
  value = 0;
  for (unsigned i = 0; i < size; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[i])) << (8 * i);
  }
  bytes.remove_prefix(size);
  return true;
}

bool take_bytes(std::string_view& bytes, std::string_view& value) {
  std::uint64_t length = 0;
  if (!take_varint(bytes, length) || length > bytes.size()) return false;
  value = bytes.substr(0, static_cast<std::size_t>(length));
  bytes.remove_prefix(value.size());
  return true;
}

bool take_field(std::string_view& bytes, Field& field) {
  std::uint64_t key = 0;
  if (!take_varint(bytes, key)) return false;
  if (key > std::numeric_limits<std::uint32_t>::max() || (key >> 3U) == 0) return false;
  field.key = static_cast<std::uint32_t>(key);
  switch (static_cast<WireType>(key & 7U)) {
    case WireType::varint: return take_varint(bytes, field.value);
    case WireType::fixed64: return take_fixed(bytes, 8, field.value);
    case WireType::fixed32: return take_fixed(bytes, 4, field.value);
    case WireType::bytes: return take_bytes(bytes, field.bytes);
  }
  return false;
}

}  // namespace

FieldReader::Read FieldReader::read_field(const char* at, const char* end) {
  Read read;
  std::string_view bytes(at, static_cast<std::size_t>(end - at));
  if (take_field(bytes, read.field)) read.after = bytes.data();
  return read;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
    value >>= kVarintBits;
  }
  out.push_back(static_cast<char>(value));
}

// Nearly all messages have a length of one byte.
void write_length(std::string& out, std::size_t begin) {
  const std::size_t length = out.size() - begin;
  if (length < 0x80) {
    out[begin - 1] = static_cast<char>(length);
    return;
  }
  std::string varint;
  append_varint(varint, length);
  out.replace(begin - 1, 1, varint);
}

void append_varint_field(std::string& out, int number, std::uint64_t value) {
  if (value == 0) return;
  append_varint(out, varint_key(number));
  append_varint(out, value);
}

void append_bytes_field(std::string& out, int number, std::string_view value) {
  if (!value.empty()) append_entry_field(out, number, value);
}

void append_entry_field(std::string& out, int number, std::string_view value) {
  append_varint(out, bytes_key(number));
  append_varint(out, value.size());
  out.append(value);
}

void append_text_field(std::string& out, int number, std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<std::uint8_t>(c) < 0x80; });
  if (ascii) return append_bytes_field(out, number, text);
  append_bytes_field(out, number, to_utf8(text));
}

std::string to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto first = first_character(text);
    out.append(first.is_valid ? text.substr(0, first.bytes) : "?");
    text.remove_prefix(first.bytes);
  }
  return out;
}

}  // namespace railhead::wire
