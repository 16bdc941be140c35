// SPDX-License-Identifier: Apache-2.0
// Go's path/filepath, match.go: "*" is any text without "/", "?" one character, "[^a-z]" one of a
// class, and a backslash takes the meaning from what follows it.
#include "system/go_glob.h"

#include <cstdint>

#include "base/utf8.h"

namespace railhead::system {
namespace {

/// One step of a pattern.
struct Token {
  enum class Kind : std::uint8_t { one, any, star, one_of };
  Kind kind = Kind::one;
  char32_t letter = 0;
  bool negated = false;
  std::vector<std::pair<char32_t, char32_t>> ranges{};
};

/// The characters of a text; a byte that is none of UTF-8 is U+FFFD, as in Go.
std::u32string characters(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const auto [code, bytes, is_valid] = first_character(text);
    out.push_back(is_valid ? code : U'\uFFFD');
    text.remove_prefix(bytes);
  }
  return out;
}

/// A character of a class. Absent: there is none.
std::optional<char32_t> letter_of_class(std::u32string_view& rest) {
  if (rest.empty() || rest[0] == '-' || rest[0] == ']') return std::nullopt;
  if (rest[0] == '\\') rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  const auto letter = rest[0];
  rest.remove_prefix(1);
  // A class that ends with the text is not closed.
  if (rest.empty()) return std::nullopt;
  return letter;
}

std::optional<Token> class_of(std::u32string_view& rest) {
  Token token{.kind = Token::Kind::one_of};
  if (!rest.empty() && rest[0] == '^') {
    token.negated = true;
    rest.remove_prefix(1);
  }
  while (rest.empty() || rest[0] != ']' || token.ranges.empty()) {
    const auto low = letter_of_class(rest);
    if (!low) return std::nullopt;
    auto high = low;
    if (rest[0] == '-') {
      rest.remove_prefix(1);
      high = letter_of_class(rest);
      if (!high) return std::nullopt;
    }
    token.ranges.emplace_back(*low, *high);
  }
  rest.remove_prefix(1);
  return token;
}

std::optional<std::vector<Token>> tokens_of(std::string_view pattern) {
  const auto all = characters(pattern);
  std::u32string_view rest = all;
  std::vector<Token> tokens;
  while (!rest.empty()) {
    const auto letter = rest[0];
    rest.remove_prefix(1);
    if (letter == '*') {
      tokens.push_back({.kind = Token::Kind::star});
    } else if (letter == '?') {
      tokens.push_back({.kind = Token::Kind::any});
    } else if (letter == '[') {
      auto token = class_of(rest);
      if (!token) return std::nullopt;
      tokens.push_back(*std::move(token));
    } else if (letter == '\\') {
      if (rest.empty()) return std::nullopt;
      tokens.push_back({.letter = rest[0]});
      rest.remove_prefix(1);
    } else {
      tokens.push_back({.letter = letter});
    }
  }
  return tokens;
}

bool fits(const Token& token, char32_t letter) {
  if (token.kind == Token::Kind::any) return true;
  if (token.kind == Token::Kind::one) return token.letter == letter;
  bool is_in = false;
  for (const auto& [low, high] : token.ranges) is_in |= low <= letter && letter <= high;
  return is_in != token.negated;
}

bool matches(const std::vector<Token>& tokens, const std::u32string& name) {
  std::size_t token = 0;
  std::size_t letter = 0;
  std::optional<std::size_t> star;  // the last one, and where the name goes on behind it
  std::size_t behind = 0;
  while (letter < name.size()) {
    if (token < tokens.size() && tokens[token].kind == Token::Kind::star) {
      star = token++;
      behind = letter;
    } else if (token < tokens.size() && fits(tokens[token], name[letter])) {
      ++token;
      ++letter;
    } else if (star) {
      token = *star + 1;
      letter = ++behind;
    } else {
      return false;
    }
  }
  while (token < tokens.size() && tokens[token].kind == Token::Kind::star) ++token;
  return token == tokens.size();
}

bool has_meta(std::string_view path) {
  return path.find_first_of("*?[\\") != std::string_view::npos;
}

}  // namespace

std::optional<bool> go_match(std::string_view pattern, std::string_view name) {
  const auto tokens = tokens_of(pattern);
  if (!tokens) return std::nullopt;
  return matches(*tokens, characters(name));
}

std::optional<std::vector<std::string>> go_glob(const std::string& pattern, const NamesIn& names) {
  if (!tokens_of(pattern)) return std::nullopt;
  const auto slash = pattern.rfind('/');
  const auto folder = slash == std::string::npos ? std::string() : pattern.substr(0, slash);
  const auto last =
      tokens_of(std::string_view(pattern).substr(slash == std::string::npos ? 0 : slash + 1));
  if (!last) return std::nullopt;
  std::vector<std::string> folders{folder};
  if (has_meta(folder)) {
    auto found = go_glob(folder, names);
    if (!found) return std::nullopt;
    folders = *std::move(found);
  }
  std::vector<std::string> paths;
  for (const auto& in : folders) {
    for (const auto& name : names(in.empty() ? "/" : in)) {
      if (matches(*last, characters(name))) paths.push_back((in + "/").append(name));
    }
  }
  return paths;
}

}  // namespace railhead::system
