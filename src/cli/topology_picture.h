// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inject/decide.h"
#include "report/diagram.h"

namespace railhead {

/// The machine as a picture: sockets, NUMA nodes, host bridges and switches as boxes, GPUs over
/// NICs, the deal as colours and links, and in words what was not dealt, does not work or is
/// doubtful.
Diagram topology_picture(const DecisionTable& table);

}  // namespace railhead
