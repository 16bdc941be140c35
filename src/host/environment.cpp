// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"

#include <unistd.h>

#include <string_view>

namespace railhead::host {

Environment read_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace railhead::host
