// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/value.h"

namespace railhead::pools {

/// How strictly keys are read. Other plugins are Go programs: encoding/json takes keys in any case,
/// the last of those that are the same, and ignores those it does not know; so do we, with a
/// warning.
enum class Keys : std::uint8_t { ours, theirs };

/// One map of a file that is being read: it knows what to call itself in messages, and which keys
/// were asked for. A null value is an absent one. Asking twice for a key is fine.
class Section {
 public:
  /// Malformed when the value is no map.
  static Result<Section> of(std::string file, std::string path, const data::Value& value,
                            Keys keys);

  const data::Value* find(std::string_view key);
  Result<std::optional<std::string>> text(std::string_view key);
  Result<bool> flag(std::string_view key);  ///< absent: false
  Result<std::vector<std::string>> texts(
      std::string_view key);  ///< absent: none; ours: one text, too
  Result<std::optional<std::int64_t>> number(std::string_view key);

  /// The map at `key` as a section of its own.
  Result<std::optional<Section>> section(std::string_view key);

  /// Keys that nobody asked for: an error in ours, warnings in theirs.
  Status finish(std::vector<std::string>& warnings) const;

  /// "pools.yaml:3:5: pools[0].slots: <what>"
  [[nodiscard]] Error error(std::string_view key, const std::string& what) const;
  [[nodiscard]] std::string place(std::string_view key) const;  ///< "pools.yaml:3:5"
  [[nodiscard]] std::string place() const;
  [[nodiscard]] std::string path_of(std::string_view key) const;

  [[nodiscard]] const std::string& file() const { return file_; }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Section(std::string file, std::string path, const data::Value& value, Keys keys);
  [[nodiscard]] const data::Value::Entry* entry(std::string_view key) const;
  template <typename T>
  Result<std::optional<T>> value_as(std::string_view key, Result<T> (data::Value::*as)() const);

  std::string file_;
  std::string path_;
  const data::Value* value_;
  Keys keys_;
  std::vector<std::string> asked_;
};

}  // namespace railhead::pools
