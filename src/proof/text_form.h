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

}  // namespace railhead::proof
