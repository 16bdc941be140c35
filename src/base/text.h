// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead {

/// Without ASCII white space at both ends.
std::string_view trim(std::string_view text);

/// Pieces between separators, which are views of the text; an empty text has one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);
std::vector<std::string_view> split(std::string&& text, char separator) = delete;

/// Pieces between runs of ASCII white space, which are views of the text; none are empty.
std::vector<std::string_view> split_words(std::string_view text);
std::vector<std::string_view> split_words(std::string&& text) = delete;

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// The same of what a member, or a function, says of each of a list.
template <typename List, typename TextOf>
std::string join(const List& list, std::string_view separator, const TextOf& text_of) {
  std::vector<std::string> parts;
  for (const auto& one : list) parts.emplace_back(std::invoke(text_of, one));
  return join(parts, separator);
}

std::string to_lower(std::string_view text);

/// "1 NIC", "2 NICs", "2 addresses"
std::string counted(std::uint64_t count, std::string_view what);

/// ASCII digits and letters, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_letter_or_digit(char c) {
  return is_letter(c) || is_digit(c);
}

inline constexpr std::string_view kDecimalDigits = "0123456789";

/// Whole text as an unsigned decimal number; malformed on sign, space, empty or overflow.
Result<std::uint64_t> parse_unsigned(std::string_view text);

/// Whole text as a decimal number with optional minus sign.
Result<std::int64_t> parse_signed(std::string_view text);

/// Whole text as hexadecimal, with or without 0x.
Result<std::uint64_t> parse_hex(std::string_view text);

/// Whole text in the notation of C: 0x… hexadecimal, otherwise decimal.
Result<std::uint64_t> parse_number(std::string_view text);

/// Lower-case hexadecimal, with exactly so many digits: leading zeros, or without what does not
/// fit.
std::string to_hex(std::uint64_t number, unsigned digits);
void append_hex(std::string& out, std::uint64_t number, unsigned digits);

/// With as many decimal places as it needs, six at most: "400", "2.5".
std::string decimal_text(double number);

/// Text for a message: quoted, control characters escaped, cut at `limit` bytes with "…".
std::string in_quotes(std::string_view text, std::size_t limit = 64);
void append_in_quotes(std::string& out, std::string_view text, std::size_t limit);

/// Shell-style match of a whole name: * any run, ? one character; no brackets.
bool glob_match(std::string_view pattern, std::string_view text);

/// A list of ranges as the kernel prints it ("0-3,8,10-11") as numbers. At most `limit` numbers.
Result<std::vector<unsigned>> parse_range_list(std::string_view text, std::size_t limit = 65536);

}  // namespace railhead
