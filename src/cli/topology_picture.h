// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inject/decide.h"
#include "report/diagram.h"

namespace railhead::cli {

/// The machine as a picture: sockets, NUMA nodes, host bridges and switches as boxes, GPUs over
/// NICs, the deal as colours and links, and in words what was not dealt, does not work or is
/// doubtful.
report::Diagram topology_picture(const inject::DecisionTable& table);

/// The machine as an indented tree for a terminal: sockets, host bridges, switches, and below them
/// GPUs with the NICs dealt to them and NICs with state, rate and role. Bridges that lead to one
/// thing only are left out.
std::string tree_text(const inject::DecisionTable& table);

}  // namespace railhead::cli
