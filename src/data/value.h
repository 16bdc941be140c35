// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::data {

/// Where something stands in a text; both count from 1, 0 is unknown.
struct Mark {
  unsigned line = 0;
  unsigned column = 0;
};

/// "file:3:5"; the file alone where the place is not known.
std::string place_in(const std::string& file, const Mark& mark);

/// "line 3 column 5: what", without the place where it is not known; of a text whose file the
/// caller names.
Error error_at(const Mark& mark, std::string_view what, ErrorCode code = ErrorCode::malformed);

/// "line 3: what"
Error malformed_at(const Mark& mark, std::string_view what);

/// What a parser of outside text may build, so that hostile input costs little.
struct ParseLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 32;
  std::size_t values = 65536;
};

/// A parsed YAML or JSON value that remembers where it stood. Scalars stay text until they are
/// asked for as something.
struct Value {
  enum class Kind : std::uint8_t { null, scalar, list, map };
  struct Entry;

  Kind kind = Kind::null;
  bool quoted = false;  ///< a scalar in quotes: a string even if it looks like a number
  std::string scalar;
  std::vector<Value> items;
  std::vector<Entry> entries;  ///< in the order of the text; keys are unique
  Mark mark;

  [[nodiscard]] const Value* find(std::string_view key) const;

  /// Errors name the line and column and what was found instead.
  [[nodiscard]] Result<std::string> as_string() const;
  [[nodiscard]] Result<bool> as_bool()
      const;  ///< true/false (YAML 1.2 core, any of the three cases)
  [[nodiscard]] Result<std::uint64_t> as_unsigned() const;  ///< decimal or 0x…
  [[nodiscard]] Result<std::int64_t> as_signed() const;
  [[nodiscard]] Result<std::vector<std::string>> as_strings() const;  ///< list of scalars
};

struct Value::Entry {
  std::string key;
  Mark mark;  ///< of the key
  Value value;
};

/// One YAML document. Anchors, aliases, tags and merge keys are refused (a pod author's annotation
/// is parsed by a root daemon), duplicate keys too. An empty text is null.
Result<Value> parse_yaml(std::string_view text, const ParseLimits& limits = {});

/// One JSON document; duplicate keys are refused. Where `repeated` is given, the last value of such
/// a key counts, as in Go's encoding/json, and each repetition is named there; 64 of them at most.
Result<Value> parse_json(std::string_view text, const ParseLimits& limits = {},
                         std::vector<Error>* repeated = nullptr);

}  // namespace railhead::data
