// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "agent/log.h"
#include "agent/metrics.h"
#include "inject/decide.h"

namespace railhead::agent {

/// What a new table says of the machine, as metrics.
void publish_machine(const inject::DecisionTable& table, Metrics& metrics);

/// The same for people: what differs from the table before (null: the first), and each new doubt.
void log_machine(const inject::DecisionTable* before, const inject::DecisionTable& now,
                 std::string_view cause, Log& log);

}  // namespace railhead::agent
