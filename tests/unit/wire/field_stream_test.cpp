// SPDX-License-Identifier: Apache-2.0
#include "wire/field_stream.h"

#include <string>

#include <gtest/gtest.h>

#include "hex.h"

namespace railhead::wire {
namespace {

// Fields as text, "key:value" or "key:bytes", whatever the pieces; "!" where it is malformed and
// "…" where it may not end.
std::string read(const std::string& message, std::size_t piece) {
  FieldStream stream;
  std::string out;
  for (std::size_t at = 0; at < message.size(); at += piece) {
    std::string_view input = std::string_view(message).substr(at, piece);
    for (FieldPart part; stream.next(input, part);) {
      const bool number = (part.key & 7U) != 2;
      if (part.first) out += std::to_string(part.key) + ":";
      out += number ? std::to_string(part.value) : std::string(part.bytes);
      if (part.left == 0) out += ";";
    }
  }
  if (stream.malformed()) return out + "!";
  return stream.at_border() ? out : out + "…";
}

TEST(FieldStream, fields_come_out_alike_whatever_the_pieces) {
  const std::string message = bytes({0x08, 0xac, 0x02}) + bytes({0x12, 3}) + "abc" +
                              bytes({0x1a, 0}) + bytes({0x21, 1, 0, 0, 0, 0, 0, 0, 1}) +
                              bytes({0x2d, 255, 0, 0, 1}) + bytes({0xf2, 0x01, 1}) + "z";
  for (std::size_t piece = 1; piece <= message.size(); ++piece) {
    EXPECT_EQ(read(message, piece), "8:300;18:abc;26:;33:72057594037927937;45:16777471;242:z;")
        << piece;
  }
}

TEST(FieldStream, is_malformed_where_a_reader_in_place_is) {
  for (const std::string& message :
       {bytes({0x00, 1}), bytes({0x0b}), bytes({0x0c}), bytes({0x0e}), bytes({0x0f}),
        bytes({0xff, 0xff, 0xff, 0xff, 0x1f, 0}), bytes({0x08}) + std::string(10, '\xff'),
        bytes({0x08}) + std::string(9, '\xff') + bytes({2}), std::string(11, '\x80')}) {
    FieldReader reader(message);
    for (Field field; reader.next(field);) continue;
    EXPECT_TRUE(reader.malformed());
    EXPECT_EQ(read(message, 1), "!");
    EXPECT_EQ(read(message, message.size()), "!");
  }
}

TEST(FieldStream, may_end_only_between_fields) {
  const std::string message =
      bytes({0x08, 0xac, 0x02}) + bytes({0x12, 2}) + "ab" + bytes({0x2d, 1, 0, 0, 0});
  for (std::size_t end = 0; end <= message.size(); ++end) {
    const bool border = end == 0 || end == 3 || end == 7 || end == message.size();
    EXPECT_EQ(read(message.substr(0, end), 1).ends_with("…"), !border) << end;
  }
}

TEST(FieldStream, the_largest_numbers_are_whole) {
  EXPECT_EQ(read(bytes({0x08}) + std::string(9, '\xff') + bytes({1}), 1),
            "8:18446744073709551615;");
  EXPECT_EQ(read(bytes({0x0a}) + std::string(9, '\xff') + bytes({1}) + "abc", 2), "10:abc…");
}

}  // namespace
}  // namespace railhead::wire
