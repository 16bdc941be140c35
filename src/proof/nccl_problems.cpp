// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_problems.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "proof/nccl_message.h"

namespace railhead::proof {
namespace {

using Severity = NcclSeverity;

constexpr std::size_t kMaxQuote = 240;

constexpr std::string_view kEmptyList =
    "the list of RDMA devices is empty: the image's libmlx5 (or its like) is too old or missing";

struct StatusMeaning {
  unsigned status;  ///< ibv_wc_status, rdma-core libibverbs/verbs.h
  std::string_view meaning;
};

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

bool is_empty_list(std::string_view message) {
  const auto list = nccl_device_list(message);
  return list && list->is_empty && list->network != "Socket";
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

NcclQuote nccl_quote(std::uint64_t line, std::string_view text) {
  NcclQuote quote{line, std::string(text.substr(0, kMaxQuote))};
  for (auto& c : quote.text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > kMaxQuote) quote.text += "…";
  return quote;
}

void NcclProblemList::add(Severity severity, std::string_view meaning, std::string_view text,
                          std::string_view host, std::uint64_t line) {
  auto quote = nccl_quote(line, text);
  // A hint is one sentence of NCCL's; all others are told apart by what they mean.
  auto key = severity == Severity::hint ? quote.text : std::string(meaning);
  const auto known = index_.find(key);
  if (known != index_.end()) {
    ++problems_[known->second].count;
  } else if (problems_.size() < kMaxProblems) {
    index_.emplace(std::move(key), problems_.size());
    problems_.push_back(
        {severity, std::string(meaning), std::move(quote), std::string(host.substr(0, 64)), 1});
  }
}

void NcclProblemList::read(const NcclRecord& record, std::uint64_t line) {
  const auto& text = record.message;
  if (text.substr(0, 5) == "HINT:") return add(Severity::hint, "", text, record.host, line);
  if (const auto status = nccl_completion_status(text)) {
    return add(Severity::error, meaning_of_status(*status), text, record.host, line);
  }
  if (is_empty_list(text)) return add(Severity::error, kEmptyList, text, record.host, line);
  if (const auto* pattern = nccl_pattern(record.level, text)) {
    return add(pattern->severity, pattern->meaning, text, record.host, line);
  }
  if (record.level == NcclLevel::warn) {
    add(Severity::warning, "other warnings of NCCL's", text, record.host, line);
  }
}

void NcclProblemList::read_foreign(std::string_view line, std::uint64_t number) {
  const auto* pattern = foreign_pattern(line);
  if (pattern != nullptr) add(pattern->severity, pattern->meaning, trim(line), "", number);
}

std::vector<NcclProblem> NcclProblemList::take() {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  index_.clear();
  return std::move(problems_);
}

}  // namespace railhead::proof
