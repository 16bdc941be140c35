// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_problems.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "proof/nccl_message.h"
#include "proof/nccl_source.h"
#include "proof/transport_line.h"

namespace railhead::proof {
namespace {

using Severity = NcclSeverity;

constexpr std::size_t kMaxQuote = 240;
constexpr std::string_view kFailedCall =
    "a connection or a transfer failed: the first message before it says which";

/// The text without what differs from rank to rank: numbers and addresses.
std::string without_numbers(std::string_view text) {
  std::string key;
  for (const char c : text) {
    const bool is_hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    const bool is_inside = !key.empty() && key.back() == '#';
    if (is_digit(c) || (is_inside && is_hex)) {
      if (!is_inside) key += '#';
    } else {
      key += c;
    }
  }
  return key;
}

/// A call of verbs means the same in a line that no row of a library has.
VerbFailure failure_without_row(std::string_view text) {
  const auto verb = verb_of_call(text);
  return verb != Verb::none ? verb_failure(verb, text) : VerbFailure{std::string(kNotInTable), ""};
}

NcclProblem make_problem(NcclSeverity severity, VerbFailure failure, std::string_view text,
                         std::string_view host, NcclPlace place) {
  return {severity,
          std::move(failure.meaning),
          std::move(failure.code),
          nccl_quote(place, text),
          std::string(host.substr(0, 64)),
          1};
}

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::hint: return "hint";
  }
  return "";
}

NcclQuote nccl_quote(NcclPlace place, std::string_view text) {
  NcclQuote quote{place, std::string(text.substr(0, kMaxQuote))};
  for (auto& c : quote.text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > kMaxQuote) quote.text += "…";
  return quote;
}

void NcclProblemList::add(NcclProblem problem, std::string key) {
  if (key.empty()) key = problem.meaning;
  const auto known = index_.find(key);
  if (known != index_.end()) {
    ++problems_[known->second].count;
    return;
  }
  const bool is_unknown = problem.meaning.empty();
  if (problems_.size() == kMaxProblems || (is_unknown && unknown_ == kMaxUnknown)) {
    ++left_out_;
    return;
  }
  if (is_unknown) ++unknown_;
  index_.emplace(std::move(key), problems_.size());
  problems_.push_back(std::move(problem));
}

void NcclProblemList::add_without_row(NcclProblem problem, std::string_view text) {
  auto key = problem.meaning.empty() ? without_numbers(text.substr(0, kMaxQuote)) : "";
  add(std::move(problem), std::move(key));
}

NcclShows NcclProblemList::read(const NcclRecord& record, NcclPlace place) {
  const auto& text = record.message;
  const auto problem = [&](NcclSeverity severity, VerbFailure failure) {
    return make_problem(severity, std::move(failure), text, record.host, place);
  };
  if (text.substr(0, 5) == "HINT:") {
    // One sentence of NCCL's; it speaks for itself.
    add(problem(Severity::hint, {}), std::string(text.substr(0, kMaxQuote)));
    return NcclShows::nothing;
  }
  if (const auto status = nccl_completion_status(text); status.value_or(0) > 0) {
    add(problem(Severity::error, completion_failure(*status, text)), "");
    return NcclShows::rdma;
  }
  if (const auto* pattern = nccl_pattern(record.level, text)) {
    add(problem(pattern->severity, nccl_meaning(*pattern, text)), "");
    return pattern->shows;
  }
  if (record.level == NcclLevel::info && nccl_network_call_failed(text)) {
    add(problem(Severity::error, {"", std::string(kFailedCall)}), "");
  }
  // NCCL ends some warnings with an empty line of the same level.
  if (record.level == NcclLevel::warn && !text.empty()) {
    const auto severity =
        nccl_is_network_failure(record.place, text) ? Severity::error : Severity::warning;
    add_without_row(problem(severity, failure_without_row(text)), text);
  }
  return NcclShows::nothing;
}

NcclShows NcclProblemList::read_foreign(std::string_view line, NcclPlace place) {
  const auto text = trim(line);
  const auto problem = [&](NcclSeverity severity, VerbFailure failure) {
    return make_problem(severity, std::move(failure), text, "", place);
  };
  const bool is_of_nccl = text.find("NET/") != std::string_view::npos;
  const auto status = is_of_nccl ? nccl_completion_status(text) : std::nullopt;
  if (status.value_or(0) > 0) {
    add(problem(Severity::error, completion_failure(*status, text)), "");
    return NcclShows::rdma;
  }
  const auto* pattern = foreign_pattern(line);
  if (pattern == nullptr && is_transport_error(line)) {
    add_without_row(problem(Severity::error, failure_without_row(text)), text);
  }
  if (pattern == nullptr) return NcclShows::nothing;
  add(problem(pattern->severity, nccl_meaning(*pattern, text)), "");
  return pattern->shows;
}

std::vector<NcclProblem> NcclProblemList::take() {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  index_.clear();
  return std::move(problems_);
}

}  // namespace railhead::proof
