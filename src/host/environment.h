// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace railhead::host {

/// Environment variables by name; tests construct it directly.
using Environment = std::map<std::string, std::string>;

/// Those of this process.
Environment read_environment();

}  // namespace railhead::host
