// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "data/value.h"

namespace railhead::data {

/// Builds a Value from the events of a parser, within limits. After the first failure every further
/// event is ignored; the parser should stop as soon as failed() says so.
class ValueBuilder {
 public:
  /// Keys that stand twice are refused, or named in `repeated`, if that is not null.
  explicit ValueBuilder(const ParseLimits& limits, std::vector<Error>* repeated = nullptr)
      : limits_(limits),
        repeated_(repeated) {}

  /// A plain (not quoted) empty text, ~ or null is the null value.
  void scalar(Mark mark, std::string text, bool quoted);
  void start(Value::Kind kind, Mark mark);
  void end();
  /// The next value of the map belongs to this key.
  void key(Mark mark, std::string text);
  void fail(Mark mark, const std::string& what, ErrorCode code = ErrorCode::malformed);

  [[nodiscard]] bool failed() const { return error_.has_value(); }

  /// True where a map waits for a key.
  [[nodiscard]] bool wants_key() const;
  Result<Value> finish() &&;

 private:
  /// A list or map whose end has not come yet.
  struct Open {
    Value value;
    std::optional<Value::Entry> pending;   ///< a key that waits for its value
    std::unordered_set<std::string> keys;  ///< all so far: a search would cost the square of them
  };

  void add(Value value);
  /// Takes away what a key of the open map had before; fails where that is not allowed.
  void repeat(Mark mark, const std::string& key);
  [[nodiscard]] bool count(Mark mark);

  ParseLimits limits_;
  std::vector<Error>* repeated_;
  std::vector<Open> open_;  ///< from the root down
  std::optional<Value> root_;
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace railhead::data
