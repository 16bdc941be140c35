// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "affinity/affinity.h"
#include "inject/decide.h"
#include "report/report.h"

namespace railhead::cli {

/// Every NIC as each GPU sees it, for `affinity --explain`. The document has an entry for each; the
/// text puts NICs of which the same is true on one line.
void add_explanation(report::Report& report, const inject::DecisionTable& table,
                     const affinity::Explanation& explanation);

}  // namespace railhead::cli
