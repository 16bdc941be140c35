// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railhead::container {

/// A remark on a decision. `code` is stable and counted in metrics
/// (railhead_nri_warnings_total{code="…"}).
struct Remark {
  std::string code;  ///< "annotation-refused", "memlock-clamped", "stand-in", …
  std::string text;
};

/// Remarks of which only so many are kept: whoever may create a pod can cause as many as there is
/// room for annotations, and each of them would be a piece of a log line.
class Remarks {
 public:
  static constexpr std::size_t kMost = 31;        ///< and one that says how many more there were
  static constexpr std::size_t kMostBytes = 512;  ///< of one text

  explicit Remarks(std::size_t most = kMost)
      : most_(most) {}

  void add(std::string_view code, std::string text);

  /// Nothing more is kept, so a text need not be composed: skip() counts it.
  [[nodiscard]] bool full() const { return list_.size() >= most_; }

  void skip() { ++more_; }

  void append(const Remarks& others);

  /// Those that were kept, which are not here any more.
  [[nodiscard]] std::vector<Remark> take() { return std::exchange(list_, {}); }

  /// How many were not kept.
  [[nodiscard]] std::size_t more() const { return more_; }

  [[nodiscard]] bool empty() const { return list_.empty(); }

  [[nodiscard]] std::size_t size() const { return list_.size(); }

  [[nodiscard]] auto begin() const { return list_.begin(); }

  [[nodiscard]] auto end() const { return list_.end(); }

  const Remark& operator[](std::size_t at) const { return list_[at]; }

 private:
  std::size_t most_;
  std::size_t more_ = 0;
  std::vector<Remark> list_;
};

}  // namespace railhead::container
