// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proof/nccl_line.h"
#include "proof/nccl_patterns.h"

namespace railhead::proof {

/// Where a line of the logs stands.
struct NcclPlace {
  std::size_t file = 0;    ///< index in NcclLog::files
  std::uint64_t line = 0;  ///< from 1, in its file
};

/// A line of the log as evidence, its message cut and printable.
struct NcclQuote {
  NcclPlace place;
  std::string text;
};

NcclQuote nccl_quote(NcclPlace place, std::string_view text);

/// Something that went wrong, once for each kind.
struct NcclProblem {
  NcclSeverity severity = NcclSeverity::warning;
  std::string meaning;  ///< ours; "" where the line speaks for itself
  /// Stable: "register_memory/ENOMEM", "completion/12"; "not-in-table" where no table has the line;
  /// "" for others.
  std::string code;
  NcclQuote first;
  std::string host;
  std::uint64_t count = 0;
};

std::string_view to_string(NcclSeverity severity);

/// Collects problems: one for each meaning, and the warnings that no pattern knows, one for each
/// text (numbers aside). Memory is bounded; what finds no room is counted.
class NcclProblemList {
 public:
  static constexpr std::size_t kMaxProblems = 128;
  static constexpr std::size_t kMaxUnknown = 64;  ///< of them, warnings that no pattern knows

  /// A message of NCCL's; most are no problem. Returns what it proves.
  NcclShows read(const NcclRecord& record, NcclPlace place);
  /// A line without a message of NCCL's: what UCX, NIXL, Mooncake and vineyard say of RDMA that
  /// does not work, and a failed completion as a framework quotes it.
  NcclShows read_foreign(std::string_view line, NcclPlace place);
  /// Errors first, in the order of their first line.
  [[nodiscard]] std::vector<NcclProblem> take();

  /// Warnings that found no room.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  /// Problems of one key are one; without a key that is the meaning.
  void add(NcclProblem problem, std::string key);
  /// What no row knows is one for each text, unless the line names a call of verbs.
  void add_without_row(NcclProblem problem, std::string_view text);

  std::vector<NcclProblem> problems_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::size_t unknown_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace railhead::proof
