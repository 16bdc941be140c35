// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "data/json.h"
#include "data/value_builder.h"

namespace railhead {
namespace {

/// Where the lexer is: it reads one byte after the other and never goes back.
struct Position {
  Mark mark{1, 0};

  void pass(char c) {
    if (c == '\n') {
      ++mark.line;
      mark.column = 0;
    } else {
      ++mark.column;
    }
  }
};

/// Counts what is consumed, since the SAX interface tells no positions. Marks are those of the last
/// byte of a token.
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

  CountingIterator operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }

  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ != b.at_;
  }

 private:
  const char* at_;
  Position* position_;
};

class Events : public nlohmann::json_sax<Json> {
 public:
  Events(ValueBuilder& builder, const Position& position)
      : builder_(builder),
        position_(position) {}

  bool null() override {
    builder_.null(position_.mark);
    return !builder_.failed();
  }

  bool boolean(bool value) override { return plain(value ? "true" : "false"); }

  bool number_integer(number_integer_t value) override { return plain(std::to_string(value)); }

  bool number_unsigned(number_unsigned_t value) override { return plain(std::to_string(value)); }

  bool number_float(number_float_t, const string_t& text) override { return plain(text); }

  bool string(string_t& value) override {
    builder_.scalar(position_.mark, value, true);
    return !builder_.failed();
  }

  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override {
    builder_.start(Value::Kind::map, position_.mark);
    return !builder_.failed();
  }

  bool key(string_t& value) override {
    builder_.key(position_.mark, value);
    return !builder_.failed();
  }

  bool end_object() override { return end(); }

  bool start_array(std::size_t) override {
    builder_.start(Value::Kind::list, position_.mark);
    return !builder_.failed();
  }

  bool end_array() override { return end(); }

  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception&) override {
    builder_.fail(position_.mark, "not JSON near " + std::string(token.substr(0, 32)));
    return false;
  }

 private:
  bool plain(std::string text) {
    builder_.scalar(position_.mark, std::move(text), false);
    return !builder_.failed();
  }

  bool end() {
    builder_.end();
    return !builder_.failed();
  }

  ValueBuilder& builder_;
  const Position& position_;
};

}  // namespace

Result<Value> parse_json(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{ErrorCode::too_large, "more than " + std::to_string(limits.bytes) + " bytes"};
  }
  ValueBuilder builder(limits);
  Position position;
  Events events(builder, position);
  const CountingIterator first(text.data(), &position);
  const CountingIterator last(text.data() + text.size(), &position);
  if (!Json::sax_parse(first, last, &events) && !builder.failed())
    builder.fail(position.mark, "not JSON");
  return std::move(builder).finish();
}

}  // namespace railhead
