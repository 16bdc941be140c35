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

/// A line of the log as evidence: its number, from 1, and its message, cut and printable.
struct NcclQuote {
  std::uint64_t line = 0;
  std::string text;
};

NcclQuote nccl_quote(std::uint64_t line, std::string_view text);

/// Something that went wrong, once for each kind.
struct NcclProblem {
  NcclSeverity severity = NcclSeverity::warning;
  std::string meaning;  ///< ours; "" where the line speaks for itself
  NcclQuote first;
  std::string host;
  std::uint64_t count = 0;
};

std::string_view to_string(NcclSeverity severity);

/// Collects problems: one for each meaning, at most kMaxProblems.
class NcclProblemList {
 public:
  static constexpr std::size_t kMaxProblems = 64;

  /// A message of NCCL's; most are no problem.
  void read(const NcclRecord& record, std::uint64_t line);
  /// A line without a message of NCCL's: what UCX, Mooncake and vineyard say of RDMA that does not
  /// work.
  void read_foreign(std::string_view line, std::uint64_t number);
  /// Errors first, in the order of their first line.
  [[nodiscard]] std::vector<NcclProblem> take();

 private:
  void add(NcclSeverity severity, std::string_view meaning, std::string_view text,
           std::string_view host, std::uint64_t line);

  std::vector<NcclProblem> problems_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace railhead::proof
