// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "affinity/affinity.h"
#include "inject/decide.h"
#include "report/report.h"

namespace railhead {

/// Every NIC as each GPU sees it, for `affinity --explain`. The document has an entry for each; the
/// text puts NICs of which the same is true on one line.
void add_explanation(Report& report, const DecisionTable& table, const Explanation& explanation);

}  // namespace railhead
