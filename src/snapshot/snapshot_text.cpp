// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_text.h"

#include <algorithm>

#include "snapshot/hex_text.h"

namespace railhead::snapshot {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool needs_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7f || c == '%';
}

}  // namespace

std::string escape_path(std::string_view path) {
  std::string escaped;
  escaped.reserve(path.size());
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (!needs_escape(c)) {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kHexDigits[byte >> 4U];
      escaped += kHexDigits[byte & 0xfU];
    }
  }
  return escaped;
}

std::optional<std::string> unescape_path(std::string_view text) {
  const auto first = std::ranges::find_if(text, needs_escape);
  std::string path(text.begin(), first);
  for (auto i = static_cast<std::size_t>(first - text.begin()); i < text.size(); ++i) {
    if (!needs_escape(text[i])) {
      path += text[i];
      continue;
    }
    if (text[i] != '%' || i + 2 >= text.size()) return std::nullopt;
    const auto byte = bytes_of_hex(text.substr(i + 1, 2));
    if (!byte || byte->front() == '\0') return std::nullopt;
    path += *byte;
    i += 2;
  }
  return path;
}

std::string without_controls(std::string_view text) {
  std::string clean{text};
  for (char& c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  return clean;
}

bool is_canonical_path(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  if (path.find('\0') != std::string_view::npos) return false;
  if (path == "/") return true;
  for (std::size_t slash = 0; slash < path.size();) {
    const std::size_t next = std::min(path.find('/', slash + 1), path.size());
    const std::string_view part = path.substr(slash + 1, next - slash - 1);
    if (part.empty() || part == "." || part == "..") return false;
    slash = next;
  }
  return true;
}

}  // namespace railhead::snapshot
