// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::data {

/// What an attribute's text between the quotes stands for; fails on an entity that XML 1.0 does not
/// predefine, and on "<".
Result<std::string> xml_value(std::string_view raw);

/// The text to put between double quotes for this value.
std::string xml_escaped(std::string_view value);

}  // namespace railhead::data
