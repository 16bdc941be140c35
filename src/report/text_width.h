// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::report {

enum class Weight : std::uint8_t { regular, bold };

/// Text that any document may hold: valid UTF-8 without control characters, without the ones that
/// reverse the direction of what follows, and without non-characters; each is replaced by U+FFFD.
std::string printable(std::string_view text);

/// Upper estimate, in pixels, for a line of printable() text. Railhead embeds no font and knows not
/// which one a viewer has: these are the widths of DejaVu Sans, the widest of the common ones.
int text_width(std::string_view text, int font_px, Weight weight = Weight::regular);

/// The text if it fits, else its beginning and its end (numbers of devices stand there) around "…".
std::string cut_to(std::string_view text, int width_px, int font_px,
                   Weight weight = Weight::regular);

/// Lines that fit, broken at spaces; a word that does not fit alone is cut.
std::vector<std::string> wrap_to(std::string_view text, int width_px, int font_px);

}  // namespace railhead::report
