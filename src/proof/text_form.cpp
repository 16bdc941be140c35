// SPDX-License-Identifier: Apache-2.0
#include "proof/text_form.h"

#include <algorithm>
#include <array>

namespace railhead::proof {
namespace {

using namespace std::string_view_literals;

constexpr std::array kForms = {TextForm{"\x1f\x8b"sv, "compressed by gzip", "zcat"},
                               TextForm{"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "zstdcat"},
                               TextForm{"\xfd\x37\x7a\x58"sv, "compressed by xz", "xzcat"},
                               TextForm{"BZh"sv, "compressed by bzip2", "bzcat"},
                               TextForm{"PK\x03\x04"sv, "a zip archive", "unzip -p"},
                               TextForm{"\xff\xfe"sv, "in UTF-16", "iconv -f UTF-16 -t UTF-8"},
                               TextForm{"\xfe\xff"sv, "in UTF-16", "iconv -f UTF-16 -t UTF-8"}};

/// Longer, as they may stand anywhere.
constexpr std::array kMagicsWithin = {TextForm{"\x1f\x8b\x08"sv, "compressed by gzip", ""},
                                      TextForm{"\x28\xb5\x2f\xfd"sv, "compressed by zstd", ""},
                                      TextForm{"\xfd\x37\x7a\x58\x5a"sv, "compressed by xz", ""},
                                      TextForm{"BZh91AY&SY"sv, "compressed by bzip2", ""},
                                      TextForm{"\x04\x22\x4d\x18"sv, "compressed by lz4", ""},
                                      TextForm{"PK\x03\x04"sv, "a zip archive", ""}};

constexpr TextForm kUtf16 = {""sv, "in UTF-16", "iconv -f UTF-16 -t UTF-8"};

}  // namespace

const TextForm* form_other_than_text(std::string_view head) {
  for (const auto& form : kForms) {
    if (head.starts_with(form.magic)) return &form;
  }
  // UTF-16 of ASCII has every other byte 0.
  const bool is_wide = head.size() == 4 && (head[0] == 0) == (head[2] == 0) &&
                       (head[1] == 0) == (head[3] == 0) && (head[0] == 0) != (head[1] == 0);
  return is_wide ? &kUtf16 : nullptr;
}

std::string_view what_is_no_text(std::string_view line) {
  // Terminals have colours, bells, steps back and other sets of letters (ESC, BEL, BS, SO, SI).
  std::size_t controls = 0;
  bool is_ascii = true;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    is_ascii &= byte < 128;
    if (byte < 32 && byte != 0 && (byte < 7 || byte > 15) && byte != 27) ++controls;
  }
  if (controls == 0 && is_ascii) return {};
  for (const auto& form : kMagicsWithin) {
    if (line.find(form.magic) != std::string_view::npos) return form.what;
  }
  return controls > 1 ? "no text" : std::string_view();
}

}  // namespace railhead::proof
