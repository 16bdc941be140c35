// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace railhead::topology {

/// src/topology/known_machines.yaml as it was when the program was built.
std::string_view known_machines_text();

}  // namespace railhead::topology
