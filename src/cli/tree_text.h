// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "inject/decide.h"

namespace railhead::cli {

/// The machine as an indented tree for a terminal: sockets, host bridges, switches, and below them
/// GPUs with the NICs dealt to them and NICs with state, rate and role. Bridges that lead to one
/// thing only are left out.
std::string tree_text(const inject::DecisionTable& table);

}  // namespace railhead::cli
