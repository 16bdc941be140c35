// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace railhead::data {

/// A JSON value for output; objects keep the order in which keys were added.
using Json = nlohmann::ordered_json;

/// An array of what `make` says of each; [] where there are none.
template <typename Range, typename Make>
Json json_list(const Range& range, const Make& make) {
  Json list = Json::array();
  for (const auto& item : range) list.push_back(std::invoke(make, item));
  return list;
}

/// Indented by two, with a newline at the end. Bytes that are not UTF-8 become U+FFFD. Here and
/// below, characters that is_obeyed() names are escaped, so that no terminal does what they say.
std::string to_json_text(const Json& json);

/// On one line, without spaces. Bytes that are not UTF-8 become U+FFFD.
std::string to_json_line(const Json& json);

/// The same document as block-style YAML.
std::string to_yaml(const Json& json);

}  // namespace railhead::data
