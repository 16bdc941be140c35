// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace railhead::proof {

/// What a file is that is no text, and the command that makes it text.
struct TextForm {
  std::string_view magic;  ///< its first bytes
  std::string_view what;
  std::string_view remedy;
};

/// nullptr where the first four bytes of a file (or all of a shorter one) may be text.
const TextForm* form_other_than_text(std::string_view head);

/// What stands in a line of a log beside text, as where something compressed was appended to it:
/// "compressed by gzip", "no text". "" for text, in whatever encoding of a language: what it lacks
/// is characters that control.
std::string_view what_is_no_text(std::string_view line);

}  // namespace railhead::proof
