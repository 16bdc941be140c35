// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "checks/finding.h"
#include "system/log_patterns.h"

namespace railhead::checks {

/// What a check of the kernel's log is about.
enum class LogTopic : std::uint8_t {
  firmware,
  optics,
  power,
  restricted,
  peermem,
  dmabuf,
  iommu,
  aer,
  driver,
  pinning,
  refused,
  gpu,
};

/// What a cause means.
struct LogCauseRow {
  system::LogCause cause;
  LogTopic topic;
  State state;                ///< of a finding; pass: such a line tells of nothing wrong
  std::string_view name;      ///< behind a number of lines: "memory keys are used up"
  std::string_view effect;    ///< what users see; of unknown: why nothing can be said
  std::string_view remedy{};  ///< "" where state is pass or unknown
  RemedyClass remedy_class = RemedyClass::none;
};

/// One row for each cause but none.
std::span<const LogCauseRow> log_causes();

/// Of any cause but none.
const LogCauseRow& row_of(system::LogCause cause);

}  // namespace railhead::checks
