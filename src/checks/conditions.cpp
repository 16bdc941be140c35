// SPDX-License-Identifier: Apache-2.0
#include "checks/conditions.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "base/utf8.h"

namespace railhead::checks {
namespace {

constexpr std::size_t kMaxConditionBytes = 256;
constexpr std::string_view kEllipsis = "…";

constexpr std::array kConditionRows = {
    ConditionRow{.type = "RDMADeviceMissing",
                 .problem_reason = "RDMADeviceIsMissing",
                 .good_reason = "RDMADevicesAreThere",
                 .good_message = "every RDMA device is there, with its driver",
                 .checks = "pci.nic-present pci.nic-driver",
                 .also = "dev.uverbs",
                 .also_message = ", and its node in /dev"},
    ConditionRow{.type = "RDMALinkUnhealthy",
                 .problem_reason = "RDMALinkIsDown",
                 .good_reason = "RDMALinksAreUp",
                 .good_message = "every RDMA link is up, and its fabric answers",
                 .checks = "link.port-state link.sm"},
    ConditionRow{.type = "RDMADriverUnhealthy",
                 .problem_reason = "RDMADriverIsBroken",
                 .good_reason = "RDMADriversWork",
                 .good_message = "modules are loaded",
                 .checks = "drv.modules",
                 .also = "log.firmware",
                 .also_message = ", and no firmware has died"},
    ConditionRow{.type = "RDMAMemoryLockTooLow",
                 .problem_reason = "RDMAMemoryLockIsTooLow",
                 .good_reason = "RDMAMemoryLockIsEnough",
                 .good_message = "containers may pin the memory that they register",
                 .checks = "runtime.memlock"},
    ConditionRow{.type = "GPUDirectRDMAUnusable",
                 .problem_reason = "NoWayIntoGPUMemory",
                 .good_reason = "GPUDirectRDMAIsUsable",
                 .good_message = "NICs have a way into GPU memory",
                 .checks = "gdr.route"},
};

/// At most so many bytes, and only characters: what a device is called is not ours.
std::string bounded_line(std::string_view text) {
  std::string message;
  while (!text.empty()) {
    const auto next = first_character(text);
    if (message.size() + next.bytes > kMaxConditionBytes - kEllipsis.size()) {
      return message.append(kEllipsis);
    }
    const bool is_plain = next.is_valid && !is_control(next.code);
    message += is_plain ? text.substr(0, next.bytes) : std::string_view("?");
    text.remove_prefix(next.bytes);
  }
  return message;
}

using Found = std::vector<const Finding*>;

Found made_by(const std::vector<Finding>& findings, std::string_view ids) {
  const auto wanted = split_words(ids);
  Found found;
  for (const auto& finding : findings) {
    if (contains(wanted, finding.id)) found.push_back(&finding);
  }
  return found;
}

Found in_state(const Found& findings, State state) {
  Found found;
  std::ranges::copy_if(findings, std::back_inserter(found),
                       [&](const Finding* one) { return one->state == state; });
  return found;
}

/// Those of `also`, check by check: one of which nothing is known is left out, and its id is put
/// into `blind`.
Found known_of(const std::vector<Finding>& findings, std::string_view also,
               std::vector<std::string>& blind) {
  Found known;
  for (const auto id : split_words(also)) {
    const auto all = made_by(findings, id);
    if (!all.empty() && in_state(all, State::unknown).size() == all.size()) {
      blind.emplace_back(id);
    } else {
      known.insert(known.end(), all.begin(), all.end());
    }
  }
  return known;
}

std::string subject_text(const Finding& finding) {
  return std::string(finding.id) + " " + finding.subject + ": ";
}

std::string more_text(std::size_t all) {
  return all < 2 ? "" : " (and " + std::to_string(all - 1) + " more)";
}

Condition condition_of(const ConditionRow& row, const std::vector<Finding>& findings) {
  std::vector<std::string> blind;
  auto all = made_by(findings, row.checks);
  const auto more = known_of(findings, row.also, blind);
  all.insert(all.end(), more.begin(), more.end());
  if (const auto failed = in_state(all, State::fail); !failed.empty()) {
    const auto& first = *failed.front();
    return {row.type, Outcome::problem, row.problem_reason,
            bounded_line(subject_text(first) + first.observed + ", expected " + first.expected +
                         more_text(failed.size()))};
  }
  if (const auto unknown = in_state(all, State::unknown); !unknown.empty() || all.empty()) {
    const auto text = all.empty() ? std::string(row.checks) + ": not made"
                                  : subject_text(*unknown.front()) + unknown.front()->reason;
    return {row.type, Outcome::unknown, kUnknownReason,
            bounded_line(text + more_text(unknown.size()))};
  }
  if (in_state(all, State::skip).size() == all.size()) {
    return {row.type, Outcome::good, row.good_reason,
            bounded_line("nothing to judge: " + all.front()->reason)};
  }
  auto message = std::string(row.good_message);
  if (blind.empty()) {
    message += row.also_message;
  } else {
    message += "; not seen from here: " + join(blind, ", ");
  }
  return {row.type, Outcome::good, row.good_reason, bounded_line(message)};
}

}  // namespace

std::span<const ConditionRow> condition_rows() {
  return kConditionRows;
}

std::vector<Condition> conditions_of(const std::vector<Finding>& findings) {
  std::vector<Condition> conditions;
  for (const auto& row : kConditionRows) conditions.push_back(condition_of(row, findings));
  return conditions;
}

std::vector<Condition> unknown_conditions(const std::string& why) {
  std::vector<Condition> conditions;
  for (const auto& row : kConditionRows) {
    conditions.push_back({row.type, Outcome::unknown, kUnknownReason, bounded_line(why)});
  }
  return conditions;
}

}  // namespace railhead::checks
