// SPDX-License-Identifier: Apache-2.0
#include "proof/text_form.h"

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

constexpr TextForm kUtf16 = {""sv, "in UTF-16", "iconv -f UTF-16 -t UTF-8"};

}  // namespace

const TextForm* form_other_than_text(std::string_view head) {
  for (const auto& form : kForms) {
    if (head.starts_with(form.magic)) return &form;
  }
  // UTF-16 of ASCII has every other byte 0.
  const bool is_wide =
      head.size() == 4 && ((head[1] == 0 && head[3] == 0) != (head[0] == 0 && head[2] == 0));
  return is_wide ? &kUtf16 : nullptr;
}

}  // namespace railhead::proof
