// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "system/container.h"

namespace railhead::system {

/// What stands below the root of a container: device nodes, libraries, GIDs. Where the root may not
/// be entered, all of it is not known for that reason.
void read_container_root(const Result<std::unique_ptr<host::Host>>& root, const node::Node& node,
                         Container& into);

}  // namespace railhead::system
