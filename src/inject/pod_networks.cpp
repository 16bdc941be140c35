// SPDX-License-Identifier: Apache-2.0
#include "inject/pod_networks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "data/value.h"
#include "inject/codes.h"
#include "pools/resource_name.h"

namespace railhead::inject {
namespace {

constexpr data::ParseLimits kLimits{std::size_t{64} << 10, 8, 1024};

/// An empty namespace is the pod's.
Result<std::string> network(std::string_view space, std::string_view name,
                            std::string_view pod_namespace) {
  if (space.empty()) space = pod_namespace;
  for (const std::string_view part : {space, name}) {
    if (pools::is_dns_label(part)) continue;  // as Multus wants it
    return Error{
        ErrorCode::malformed,
        in_quotes(part) + " is not a valid name of a NetworkAttachmentDefinition or namespace"};
  }
  return std::string(space) + "/" + std::string(name);
}

/// "namespace/name@interface"; namespace and interface may lack
Result<std::string> from_short_form(std::string_view text, std::string_view pod_namespace) {
  const auto slash = text.find('/');
  const bool has_space = slash != std::string_view::npos;
  const std::string_view rest = has_space ? text.substr(slash + 1) : text;
  const std::string_view space = has_space ? trim(text.substr(0, slash)) : "";
  return network(space, trim(rest.substr(0, rest.find('@'))), pod_namespace);
}

/// "" where the key is not there
Result<std::string> network_field(const data::Value& map, std::string_view key) {
  const data::Value* value = map.find(key);
  if (value == nullptr) return std::string();
  return value->as_string();
}

Result<std::string> from_json(const data::Value& entry, std::string_view pod_namespace) {
  if (entry.kind != data::Value::Kind::map)
    return data::malformed_at(entry.mark, "an entry is not an object");
  const std::string space = TRY(network_field(entry, "namespace"));
  const std::string name = TRY(network_field(entry, "name"));
  return network(space, name, pod_namespace);
}

}  // namespace

Result<std::vector<std::string>> parse_networks(std::string_view text,
                                                std::string_view pod_namespace) {
  std::vector<std::string> out;
  if (trim(text).empty()) return out;
  if (text.size() > kLimits.bytes) return Error{ErrorCode::too_large, "larger than 64 KiB"};
  if (text.find_first_of("[{\"") == std::string_view::npos) {
    const auto pieces = split(text, ',');
    if (pieces.size() > kLimits.values)
      return Error{ErrorCode::too_large, "names more than 1024 networks"};
    for (const std::string_view piece : pieces)
      out.push_back(TRY(from_short_form(piece, pod_namespace)));
    return out;
  }
  const data::Value list = TRY(data::parse_json(text, kLimits));
  if (list.kind != data::Value::Kind::list) return data::malformed_at(list.mark, "no list");
  for (const data::Value& entry : list.items) out.push_back(TRY(from_json(entry, pod_namespace)));
  return out;
}

PodNetworks pod_networks(const container::Request& request) {
  PodNetworks out;
  for (const auto& [key, value] : request.pod_annotations) {
    if (key != kNetworksAnnotation && key != kDefaultNetworkAnnotation) continue;
    auto names = parse_networks(value, request.pod_namespace);
    if (!names) {
      out.unreadable = true;
      out.remarks.add(warn::kAnnotationMalformed, in_quotes(key, 128) + ": " +
                                                      names.error().message +
                                                      ": which networks it asks for is not known");
      continue;
    }
    std::move(names->begin(), names->end(), std::back_inserter(out.asked));
  }
  return out;
}

}  // namespace railhead::inject
