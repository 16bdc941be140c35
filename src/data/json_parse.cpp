// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "base/text.h"
#include "data/json.h"
#include "data/value_builder.h"

namespace railhead::data {
namespace {

/// Where the lexer is, and where the token that it reads began: it consumes one byte after the
/// other and never goes back, so the first byte after an event that can begin a token did.
class Position {
 public:
  void pass(char c) {
    if (c == '\n') {
      ++now_.line;
      now_.column = 0;
    } else {
      ++now_.column;
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') before_ = std::exchange(last_, c);
    const bool between = c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':';
    if (!waiting_ || between) return;
    token_ = now_;
    waiting_ = false;
  }

  /// The first byte of the token that the current event is about.
  Mark token() {
    waiting_ = true;
    return token_;
  }

  [[nodiscard]] Mark now() const { return now_; }

  /// The last two bytes that are no space stand one after the other in no JSON text.
  [[nodiscard]] bool is_comma_before_end() const {
    return before_ == ',' && (last_ == ']' || last_ == '}');
  }

 private:
  char before_ = 0;
  char last_ = 0;
  Mark now_{1, 0};
  Mark token_{1, 1};
  bool waiting_ = true;
};

/// Tells a Position what is consumed; nlohmann's SAX interface has no positions.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Position* position)
      : at_(at),
        position_(position) {}

  reference operator*() const { return *at_; }

  CountingIterator& operator++() {
    position_->pass(*at_++);
    return *this;
  }

  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  Position* position_;
};

class JsonEvents : public nlohmann::json_sax<Json> {
 public:
  JsonEvents(ValueBuilder& builder, Position& position)
      : builder_(builder),
        position_(position) {}

  bool null() override { return plain("null"); }

  bool boolean(bool value) override { return plain(value ? "true" : "false"); }

  bool number_integer(number_integer_t value) override { return plain(std::to_string(value)); }

  bool number_unsigned(number_unsigned_t value) override { return plain(std::to_string(value)); }

  bool number_float(number_float_t, const string_t& text) override { return plain(text); }

  bool string(string_t& value) override {
    builder_.scalar(position_.token(), value, true);
    return !builder_.failed();
  }

  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override {
    builder_.start(Value::Kind::map, position_.token());
    return !builder_.failed();
  }

  bool key(string_t& value) override {
    builder_.key(position_.token(), value);
    return !builder_.failed();
  }

  bool end_object() override { return end(); }

  bool start_array(std::size_t) override {
    builder_.start(Value::Kind::list, position_.token());
    return !builder_.failed();
  }

  bool end_array() override { return end(); }

  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    builder_.fail(position_.now(), "not JSON: " + what_is_wrong(error.what(), token));
    return false;
  }

 private:
  /// "unexpected '{'; expected string literal" of what the library says.
  [[nodiscard]] std::string what_is_wrong(std::string_view said, std::string_view token) const {
    if (position_.is_comma_before_end()) return "a comma before the end of a list or an object";
    const auto at = said.find(" - ");
    const auto end = said.find("; last read");
    if (at == std::string_view::npos) return "near " + in_quotes(token, 32);
    const auto what = said.substr(at + 3, end == std::string_view::npos ? end : end - at - 3);
    return what.size() <= 80 ? std::string(what) : "near " + in_quotes(token, 32);
  }

  bool plain(std::string text) {
    builder_.scalar(position_.token(), std::move(text), false);
    return !builder_.failed();
  }

  bool end() {
    position_.token();
    builder_.end();
    return !builder_.failed();
  }

  ValueBuilder& builder_;
  Position& position_;
};

}  // namespace

Result<Value> parse_json(std::string_view text, const ParseLimits& limits,
                         std::vector<Error>* repeated) {
  if (text.size() > limits.bytes) {
    return Error{ErrorCode::too_large, "more than " + std::to_string(limits.bytes) + " bytes"};
  }
  ValueBuilder builder(limits, repeated);
  Position position;
  JsonEvents events(builder, position);
  const CountingIterator first(text.data(), &position);
  const CountingIterator last(text.data() + text.size(), &position);
  if (!Json::sax_parse(first, last, &events) && !builder.failed()) {
    builder.fail(position.now(), "not JSON");
  }
  return std::move(builder).finish();
}

}  // namespace railhead::data
