// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace railhead {

/// RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF.
struct Utf8Character {
  char32_t code = 0;      ///< 0 too where the bytes are no character
  std::size_t bytes = 1;  ///< 1 where they are none
  bool is_valid = false;
};

/// What a text begins with; it is not empty.
Utf8Character first_character(std::string_view text);

/// Control characters of ASCII and of ISO 8859-1 (C1), which terminals obey too; not the space.
bool is_control(char32_t code);

/// True for a character that a terminal, an editor or a browser obeys or hides: controls, ends of
/// lines and paragraphs, what turns the direction of a text, what has no width. Source: Unicode 15,
/// general categories Cc, Cf (without the soft hyphen and what belongs to a script's own letters),
/// Zl and Zp; UAX #9, section 2.
bool is_obeyed(char32_t code);

/// Whether a text fits in one line that every terminal shows: only characters, and no control.
bool is_plain_text(std::string_view text);

/// The beginning of a text: at most so many bytes, and no character in two.
std::string_view whole_characters(std::string_view text, std::size_t bytes);

}  // namespace railhead
