// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

namespace railhead::config {

std::string_view to_string(Change change) {
  return change == Change::restart ? "restart" : "live";
}

std::string SettingSpec::variable() const {
  std::string name = "RAILHEAD_";
  for (const char c : flag.substr(2)) {
    name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

}  // namespace railhead::config
