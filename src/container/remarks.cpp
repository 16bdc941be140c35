// SPDX-License-Identifier: Apache-2.0
#include "container/remarks.h"

#include <utility>

namespace railhead::container {
namespace {

constexpr std::string_view kCut = "…";

/// Cuts between characters of UTF-8.
void shorten(std::string& text) {
  if (text.size() <= Remarks::kMostBytes) return;
  auto end = Remarks::kMostBytes - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  text += kCut;
}

}  // namespace

void Remarks::add(std::string_view code, std::string text) {
  if (full()) return skip();
  shorten(text);
  list_.push_back({std::string(code), std::move(text)});
}

void Remarks::append(const Remarks& others) {
  for (const auto& one : others.list_) full() ? skip() : list_.push_back(one);
  more_ += others.more_;
}

}  // namespace railhead::container
