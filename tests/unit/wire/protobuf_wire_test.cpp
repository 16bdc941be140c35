// SPDX-License-Identifier: Apache-2.0
#include "wire/protobuf_wire.h"

#include <gtest/gtest.h>

#include "hex.h"

namespace railhead::wire {
namespace {

bool malformed(const std::string& message) {
  FieldReader fields(message);
  for (Field field; fields.next(field);) {
  }
  return fields.malformed();
}

TEST(ProtobufWire, reads_the_example_of_the_specification) {
  const std::string message = bytes({0x08, 0x96, 0x01, 0x12, 0x07}) + "testing";
  FieldReader fields(message);
  Field field;
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(field.key, varint_key(1));
  EXPECT_EQ(field.value, 150U);
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(field.key, bytes_key(2));
  EXPECT_EQ(field.bytes, "testing");
  EXPECT_FALSE(fields.next(field));
  EXPECT_FALSE(fields.malformed());
}

TEST(ProtobufWire, an_empty_message_has_no_fields) {
  EXPECT_FALSE(malformed(""));
}

TEST(ProtobufWire, fixed_width_fields_are_little_endian) {
  const std::string message = bytes({0x0d, 1, 2, 3, 4, 0x11, 1, 0, 0, 0, 0, 0, 0, 0x80});
  FieldReader fields(message);
  Field field;
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(field.value, 0x04030201U);
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(field.value, 0x8000000000000001U);
  EXPECT_FALSE(fields.next(field));
}

TEST(ProtobufWire, a_negative_number_takes_ten_bytes) {
  const std::string message = bytes({8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1});
  FieldReader fields(message);
  Field field;
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(static_cast<std::int64_t>(field.value), -1);
}

TEST(ProtobufWire, a_varint_above_64_bits_is_malformed) {
  EXPECT_TRUE(malformed(bytes({8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2})));
  EXPECT_TRUE(malformed(bytes({8, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0})));
}

TEST(ProtobufWire, every_truncation_is_malformed) {
  const std::string message =
      bytes({0x08, 0x96, 0x01, 0x12, 2, 'a', 'b', 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8});
  for (const std::size_t border : {0U, 3U, 7U, 12U, 21U}) {
    EXPECT_FALSE(malformed(message.substr(0, border))) << border;
  }
  for (const std::size_t inside : {1U, 2U, 4U, 5U, 6U, 8U, 11U, 13U, 20U}) {
    EXPECT_TRUE(malformed(message.substr(0, inside))) << inside;
  }
}

TEST(ProtobufWire, a_length_beyond_the_end_is_malformed_however_large) {
  EXPECT_TRUE(malformed(bytes({0x0a, 1})));
  EXPECT_TRUE(malformed(bytes({0x0a, 255, 255, 255, 255, 15, 'x'})));
  EXPECT_TRUE(malformed(bytes({0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 'x'})));
}

TEST(ProtobufWire, groups_field_zero_and_unknown_wire_types_are_malformed) {
  for (const unsigned key : {0x0bU, 0x0cU, 0x0eU, 0x0fU, 0x00U, 0x02U}) {
    EXPECT_TRUE(malformed(bytes({key, 0}))) << key;
  }
  EXPECT_TRUE(malformed(bytes({0x88, 0x80, 0x80, 0x80, 0x10, 0})));  // number above 29 bits
}

TEST(ProtobufWire, nothing_follows_a_malformed_field) {
  const std::string message = bytes({0x0b, 0x08, 0x01});
  FieldReader fields(message);
  Field field;
  EXPECT_FALSE(fields.next(field));
  EXPECT_FALSE(fields.next(field));
}

TEST(ProtobufWire, writes_what_the_specification_says) {
  std::string out;
  append_varint_field(out, 1, 150);
  append_bytes_field(out, 2, "testing");
  EXPECT_EQ(out, bytes({0x08, 0x96, 0x01, 0x12, 0x07}) + "testing");
}

TEST(ProtobufWire, the_length_of_a_message_may_have_more_than_one_byte) {
  for (const std::size_t size : {0U, 1U, 127U, 128U, 16383U, 16384U}) {
    const std::string text(size, 'x');
    std::string expected = "before";
    append_entry_field(expected, 3, text);
    std::string out = "before";
    append_message_field(out, 3, [&] { out += text; });
    EXPECT_EQ(out, expected) << size;
  }
}

TEST(ProtobufWire, a_message_in_a_message_is_written_in_its_place) {
  std::string out;
  append_message_field(out, 1, [&] {
    append_message_field(out, 2, [&] { append_bytes_field(out, 3, std::string(200, 'x')); });
    append_varint_field(out, 4, 1);
  });
  EXPECT_EQ(out, bytes({0x0a, 0xd0, 0x01, 0x12, 0xcb, 0x01, 0x1a, 0xc8, 0x01}) +
                     std::string(200, 'x') + bytes({0x20, 0x01}));
}

TEST(ProtobufWire, default_values_are_left_out) {
  std::string out;
  append_varint_field(out, 1, 0);
  append_bytes_field(out, 2, "");
  EXPECT_EQ(out, "");
}

TEST(ProtobufWire, the_largest_number_survives) {
  std::string out;
  append_varint_field(out, 2, ~std::uint64_t{0});
  FieldReader fields(out);
  Field field;
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(field.value, ~std::uint64_t{0});
}

TEST(ProtobufWire, text_that_is_utf8_stays) {
  for (const std::string_view text :
       {"", "plain", "caf\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x9A\x82"}) {
    EXPECT_EQ(to_utf8(text), text);
  }
}

TEST(ProtobufWire, bytes_that_are_not_utf8_are_replaced) {
  EXPECT_EQ(to_utf8("cut \xE2\x82"), "cut ??");
  EXPECT_EQ(to_utf8("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(to_utf8("\xE0\x80\xAF"), "???");       // overlong
  EXPECT_EQ(to_utf8("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(to_utf8("\xF4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(to_utf8("a\xFFz"), "a?z");
}

TEST(ProtobufWire, short_strings_at_the_end_are_bounded) {
  for (std::size_t size = 0; size < 7; ++size) {
    const std::string message = bytes({0x12, 5}) + std::string(size < 2 ? 0 : size - 2, 'x');
    const std::string cut = message.substr(0, size);
    FieldReader reader(cut);
    Field field;
    EXPECT_FALSE(reader.next(field)) << size;
    EXPECT_EQ(reader.malformed(), size > 0) << size;
  }
  const std::string medium = bytes({0x12, 0xC8, 0x01}) + std::string(200, 'x');
  for (std::size_t size = 1; size < medium.size(); ++size) {
    const std::string cut = medium.substr(0, size);
    FieldReader reader(cut);
    Field field;
    EXPECT_FALSE(reader.next(field)) << size;
    EXPECT_TRUE(reader.malformed()) << size;
  }
  for (const std::size_t length : {0, 127, 128, 16383, 16384}) {
    std::string message;
    append_entry_field(message, 15, std::string(length, 'x'));
    append_entry_field(message, 16, std::string(length, 'y'));
    FieldReader reader(message);
    Field field;
    ASSERT_TRUE(reader.next(field));
    EXPECT_EQ(field.key, bytes_key(15));
    EXPECT_EQ(field.bytes, std::string(length, 'x'));
    ASSERT_TRUE(reader.next(field));
    EXPECT_EQ(field.key, bytes_key(16));
    EXPECT_EQ(field.bytes, std::string(length, 'y'));
    EXPECT_FALSE(reader.next(field));
    EXPECT_FALSE(reader.malformed());
  }
}

TEST(ProtobufWire, text_is_made_utf8_and_left_out_when_empty) {
  std::string out;
  append_text_field(out, 1, "");
  append_text_field(out, 1, "plain");
  append_text_field(out, 2, "\xC3\xA4\xFF");
  EXPECT_EQ(out, bytes({0x0a, 5}) + "plain" + bytes({0x12, 3}) + "\xC3\xA4?");
}

}  // namespace
}  // namespace railhead::wire
