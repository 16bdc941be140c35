// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "proof/nccl_job.h"
#include "proof/nccl_log.h"
#include "report/report.h"

namespace railhead::cli {

/// Which ranks the text shows with the lines that prove its verdict. JSON has them all.
enum class ShownEvidence : std::uint8_t { one_of_each_kind, all };

report::Report nccl_log_report(const std::string& source, const proof::NcclLog& log,
                               const proof::NcclJob& job, ShownEvidence shown);

}  // namespace railhead::cli
