// SPDX-License-Identifier: Apache-2.0
#include "data/toml.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/text.h"

namespace railhead::data {
namespace {

constexpr std::string_view kBlank = " \t";

class TomlParser {
 public:
  TomlParser(std::string_view text, const ParseLimits& limits)
      : text_(text),
        limits_(limits) {}

  Result<Value> parse() {
    if (text_.size() > limits_.bytes) return Error{ErrorCode::too_large, "more than the limit"};
    root_.kind = Value::Kind::map;
    table_ = &root_;
    while (skip_empty_lines(), at_ < text_.size()) {
      TRY_STATUS(peek() == '[' ? header() : assignment(*table_, 1));
      skip(kBlank);
      skip_comment();
      if (at_ < text_.size() && peek() != '\n') return fail("something behind a value");
    }
    return std::move(root_);
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  [[nodiscard]] Error fail(std::string_view what) const { return malformed_at({line_, 0}, what); }

  void skip(std::string_view any) {
    while (at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos) next();
  }

  void next() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  void skip_comment() {
    if (peek() == '\r') next();
    if (peek() != '#') return;
    while (at_ < text_.size() && text_[at_] != '\n') next();
  }

  void skip_empty_lines() {
    for (;;) {
      skip(" \t\r\n");
      if (peek() != '#') return;
      skip_comment();
    }
  }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    for (std::size_t i = 0; i < word.size(); ++i) next();
    return true;
  }

  Status count() {
    if (++values_ > limits_.values) {
      return Error{ErrorCode::too_large, "line " + std::to_string(line_) + ": too many values"};
    }
    return {};
  }

  /// `[a.b]`, or `[[a.b]]`: one more table of a list.
  Status header() {
    const bool is_list = take("[[");
    if (!is_list) next();
    const auto keys = TRY(dotted_key());
    if (!take(is_list ? "]]" : "]")) return fail("a header without its end");
    Value* at = &root_;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool append = is_list && i + 1 == keys.size();
      at = TRY(table_in(*at, keys[i], append));
    }
    table_ = at;
    return {};
  }

  /// The table of this name in another, made where it is not there; of a list its last one.
  Result<Value*> table_in(Value& in, const std::string& key, bool append) {
    Value* found = entry(in, key);
    if (found == nullptr) {
      found = &TRY(add(in, key)).get();
      found->kind = append ? Value::Kind::list : Value::Kind::map;
    }
    if (found->kind == Value::Kind::map && !append) return found;
    if (found->kind != Value::Kind::list) return fail(in_quotes(key) + " is no table");
    if (append) {
      TRY_STATUS(count());
      found->items.emplace_back().kind = Value::Kind::map;
    }
    if (found->items.empty() || found->items.back().kind != Value::Kind::map) {
      return fail(in_quotes(key) + " is no table");
    }
    return &found->items.back();
  }

  static Value* entry(Value& map, std::string_view key) {
    const auto at = std::find_if(map.entries.begin(), map.entries.end(),
                                 [&](const Value::Entry& one) { return one.key == key; });
    return at == map.entries.end() ? nullptr : &at->value;
  }

  Result<std::reference_wrapper<Value>> add(Value& map, const std::string& key) {
    TRY_STATUS(count());
    constexpr std::size_t kMaxKeys = 1024;  // entries are searched one by one
    if (map.entries.size() == kMaxKeys) {
      return Error{ErrorCode::too_large, "line " + std::to_string(line_) + ": too many keys"};
    }
    map.entries.push_back({key, {line_, 0}, {}});
    map.entries.back().value.mark = {line_, 0};
    return std::ref(map.entries.back().value);
  }

  Status assignment(Value& into, std::size_t depth) {
    const auto keys = TRY(dotted_key());
    if (!take("=")) return fail("a key without =");
    Value* map = &into;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) map = TRY(table_in(*map, keys[i], false));
    if (entry(*map, keys.back()) != nullptr) {
      return fail(in_quotes(keys.back()) + " stands twice");
    }
    skip(kBlank);
    auto parsed = TRY(value(depth + keys.size()));
    TRY(add(*map, keys.back())).get() = std::move(parsed);
    return {};
  }

  Result<std::vector<std::string>> dotted_key() {
    std::vector<std::string> keys;
    do {
      skip(kBlank);
      keys.push_back(TRY(simple_key()));
      skip(kBlank);
      if (keys.size() > limits_.depth) {
        return Error{ErrorCode::too_large, "line " + std::to_string(line_) + ": too deep"};
      }
    } while (take("."));
    return keys;
  }

  Result<std::string> simple_key() {
    if (peek() == '"' || peek() == '\'') return quoted();
    const auto start = at_;
    while (is_letter_or_digit(peek()) || peek() == '_' || peek() == '-') next();
    if (at_ == start) return fail("a key is missing");
    return std::string(text_.substr(start, at_ - start));
  }

  Result<Value> value(std::size_t depth) {
    if (depth > limits_.depth) {
      return Error{ErrorCode::too_large, "line " + std::to_string(line_) + ": too deep"};
    }
    TRY_STATUS(count());
    if (peek() == '[') return list(depth);
    if (peek() == '{') return inline_table(depth);
    Value scalar;
    scalar.kind = Value::Kind::scalar;
    scalar.mark = {line_, 0};
    scalar.quoted = peek() == '"' || peek() == '\'';
    if (scalar.quoted) {
      scalar.scalar = TRY(quoted());
      return scalar;
    }
    const auto start = at_;
    while (at_ < text_.size() &&
           std::string_view(",]}#\n\r \t").find(peek()) == std::string::npos) {
      next();
    }
    if (at_ == start) return fail("a value is missing");
    scalar.scalar = std::string(text_.substr(start, at_ - start));
    return scalar;
  }

  Result<Value> list(std::size_t depth) {
    Value all;
    all.kind = Value::Kind::list;
    all.mark = {line_, 0};
    next();
    for (;;) {
      skip_empty_lines();
      if (take("]")) return all;
      all.items.push_back(TRY(value(depth + 1)));
      skip_empty_lines();
      if (!take(",") && peek() != ']') return fail("a list without its end");
    }
  }

  Result<Value> inline_table(std::size_t depth) {
    Value map;
    map.kind = Value::Kind::map;
    map.mark = {line_, 0};
    next();
    for (;;) {
      skip(kBlank);
      if (take("}")) return map;
      TRY_STATUS(assignment(map, depth + 1));
      skip(kBlank);
      if (!take(",") && peek() != '}') return fail("a table without its end");
    }
  }

  Result<std::string> quoted() {
    const char quote = peek();
    const std::string three(3, quote);
    if (take(three)) return long_string(three);
    next();
    std::string out;
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n') return fail("a string without its end");
      take_character(quote, out);
    }
    next();
    return out;
  }

  Result<std::string> long_string(const std::string& end) {
    std::string out;
    if (peek() == '\n') next();
    while (!take(end)) {
      if (at_ >= text_.size()) return fail("a string without its end");
      take_character(end.front(), out);
    }
    return out;
  }

  void take_character(char quote, std::string& out) {
    char c = peek();
    next();
    if (c == '\\' && quote == '"' && at_ < text_.size()) {
      c = peek();
      next();
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    out += c;
  }

  std::string_view text_;
  ParseLimits limits_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
  std::size_t values_ = 0;
  Value root_;
  Value* table_ = nullptr;  ///< that the last header named
};

}  // namespace

Result<Value> parse_toml(std::string_view text, const ParseLimits& limits) {
  return TomlParser(text, limits).parse();
}

}  // namespace railhead::data
