// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_problems.h"

#include <algorithm>
#include <array>

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

struct StatusMeaning {
  unsigned status;  ///< ibv_wc_status, rdma-core libibverbs/verbs.h
  std::string_view meaning;
};

/// Others are known by their number.
constexpr std::array kStatusMeanings = {
    StatusMeaning{4,
                  "completion with status 4 (local protection): ACS between GPU and NIC, or "
                  "peermem"},
    StatusMeaning{5,
                  "completion with status 5 (flushed): the connection had failed before; look "
                  "for the first error"},
    StatusMeaning{9, "completion with status 9 (remote: invalid request)"},
    StatusMeaning{10,
                  "completion with status 10 (remote: access refused): the peer's memory "
                  "registration"},
    StatusMeaning{12,
                  "completion with status 12 (retries exceeded): link, GID or route, PFC, or "
                  "rails that are not connected with each other"},
    StatusMeaning{13, "completion with status 13 (receiver not ready)"}};

std::string meaning_of_status(unsigned status) {
  for (const auto& row : kStatusMeanings) {
    if (row.status == status) return std::string(row.meaning);
  }
  return "completion with status " + std::to_string(status);
}

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

NcclProblem make_problem(NcclSeverity severity, std::string_view meaning, std::string_view text,
                         std::string_view host, NcclPlace place) {
  return {severity, std::string(meaning), nccl_quote(place, text), std::string(host.substr(0, 64)),
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

NcclShows NcclProblemList::read(const NcclRecord& record, NcclPlace place) {
  const auto& text = record.message;
  const auto problem = [&](NcclSeverity severity, std::string_view meaning) {
    return make_problem(severity, meaning, text, record.host, place);
  };
  if (text.substr(0, 5) == "HINT:") {
    // One sentence of NCCL's; it speaks for itself.
    add(problem(Severity::hint, ""), std::string(text.substr(0, kMaxQuote)));
    return NcclShows::nothing;
  }
  if (const auto status = nccl_completion_status(text); status.value_or(0) > 0) {
    const auto meaning = meaning_of_status(*status);
    add(problem(Severity::error, meaning), meaning);
    return NcclShows::rdma;
  }
  if (const auto* pattern = nccl_pattern(record.level, text)) {
    add(problem(pattern->severity, pattern->meaning), std::string(pattern->meaning));
    return pattern->shows;
  }
  if (record.level == NcclLevel::info && nccl_network_call_failed(text)) {
    add(problem(Severity::error, kFailedCall), std::string(kFailedCall));
  }
  // NCCL ends some warnings with an empty line of the same level.
  if (record.level == NcclLevel::warn && !text.empty()) {
    const auto severity =
        nccl_is_network_failure(record.place, text) ? Severity::error : Severity::warning;
    add(problem(severity, ""), without_numbers(text.substr(0, kMaxQuote)));
  }
  return NcclShows::nothing;
}

NcclShows NcclProblemList::read_foreign(std::string_view line, NcclPlace place) {
  const auto text = trim(line);
  const bool is_of_nccl = text.find("NET/") != std::string_view::npos;
  const auto status = is_of_nccl ? nccl_completion_status(text) : std::nullopt;
  if (status.value_or(0) > 0) {
    const auto meaning = meaning_of_status(*status);
    add(make_problem(Severity::error, meaning, text, "", place), meaning);
    return NcclShows::rdma;
  }
  const auto* pattern = foreign_pattern(line);
  if (pattern == nullptr && is_transport_error(line)) {
    add(make_problem(Severity::error, "", text, "", place),
        without_numbers(text.substr(0, kMaxQuote)));
  }
  if (pattern == nullptr) return NcclShows::nothing;
  add(make_problem(pattern->severity, pattern->meaning, text, "", place),
      std::string(pattern->meaning));
  return pattern->shows;
}

std::vector<NcclProblem> NcclProblemList::take() {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  index_.clear();
  return std::move(problems_);
}

}  // namespace railhead::proof
