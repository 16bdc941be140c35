// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_problems.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "proof/nccl_message.h"

namespace railhead {
namespace {

using Severity = NcclProblem::Severity;

constexpr std::size_t kMaxQuote = 240;

struct Pattern {
  std::string_view text;
  Severity severity;
  std::string_view meaning;
};

constexpr std::string_view kRegistration =
    "memory could not be registered: raise RLIMIT_MEMLOCK of the container; for memory of a GPU "
    "load nvidia_peermem or use DMA-BUF";

/// What warnings of NCCL and RCCL say (src/transport/net_ib, src/misc/ibvwrap.cc).
constexpr std::array kWarnings = {
    Pattern{"async fatal event", Severity::error,
            "a device reported a fatal event while the job ran: link, firmware or driver"},
    Pattern{"Call to ibv_reg_mr", Severity::error, kRegistration},
    Pattern{"Call to ibv_reg_dmabuf_mr", Severity::error, kRegistration},
    Pattern{"Call to ibv_modify_qp failed", Severity::error,
            "a connection could not be made: GID of a network device that is not in this network "
            "namespace, MTU or route"},
    Pattern{"GID table changed", Severity::warning,
            "the addresses of a port changed while the job ran"},
    Pattern{"Unable to open device", Severity::warning,
            "a device is listed and may not be opened: its node under /dev/infiniband is not the "
            "container's"},
    Pattern{"could not read", Severity::warning,
            "the PCI tree is incomplete, as on virtual machines: NCCL_TOPO_FILE is needed"}};

/// The same for messages of level INFO.
constexpr std::array kInfos = {
    Pattern{"speed change detected", Severity::warning,
            "a link changed its speed while the job ran"},
    Pattern{"Call to ibv_modify_qp failed", Severity::warning,
            "a connection was tried again: GID, MTU or route"},
    Pattern{"Topology detection : could not read", Severity::warning,
            "the PCI tree is incomplete, as on virtual machines: NCCL_TOPO_FILE is needed"},
    Pattern{"[repeated ", Severity::warning,
            "the log was thinned (Ray leaves equal lines out): some ranks are missing"}};

/// openucx/ucx src/uct/ib, src/ucp/core; kvcache-ai/Mooncake mooncake-transfer-engine.
constexpr std::array kForeign = {
    Pattern{"not available, please use one or more of", Severity::warning,
            "UCX: UCX_NET_DEVICES names a device that is not there"},
    Pattern{"no usable transports/devices", Severity::error,
            "UCX: nothing of UCX_TLS and UCX_NET_DEVICES can be used"},
    Pattern{"max locked memory", Severity::error,
            "UCX: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    Pattern{"ibv_query_gid", Severity::error,
            "UCX: a port has no usable GID: its network device is not in this network namespace"},
    Pattern{"No RDMA devices found", Severity::error, "Mooncake: no RDMA device was found"},
    Pattern{"No suitable GID found", Severity::error,
            "Mooncake: a port has no usable GID: its network device is not in this network "
            "namespace"},
    Pattern{"Failed to modify QP to RTR", Severity::error,
            "Mooncake: a connection could not be made: GID, MTU or route"}};

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

template <typename Rows>
const Pattern* find_pattern(const Rows& rows, std::string_view text) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Pattern& row) {
    return text.find(row.text) != std::string_view::npos;
  });
  return found == rows.end() ? nullptr : &*found;
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
  const auto* pattern =
      record.level == NcclLevel::warn ? find_pattern(kWarnings, text) : find_pattern(kInfos, text);
  if (pattern != nullptr) {
    return add(pattern->severity, pattern->meaning, text, record.host, line);
  }
  if (record.level == NcclLevel::warn) {
    add(Severity::warning, "other warnings of NCCL's", text, record.host, line);
  }
}

void NcclProblemList::read_foreign(std::string_view line, std::uint64_t number) {
  const auto* pattern = find_pattern(kForeign, line);
  if (pattern != nullptr) add(pattern->severity, pattern->meaning, trim(line), "", number);
}

std::vector<NcclProblem> NcclProblemList::take() {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  index_.clear();
  return std::move(problems_);
}

}  // namespace railhead
