// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cinttypes>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "node/gpu_reader.h"

namespace railhead::node {
namespace {

/// Source: Linux drivers/gpu/drm/amd/amdkfd/kfd_topology.c, node_show(): "key value" lines.
std::map<std::string_view, std::uint64_t> parse_properties(std::string_view text) {
  std::map<std::string_view, std::uint64_t> properties;
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 2) continue;
    const auto value = parse_unsigned(words[1]);
    if (value) properties.emplace(words[0], *value);
  }
  return properties;
}

std::string kept_properties(std::string_view content) {
  return host::keep_lines_if(content, [](std::string_view line) {
    const auto words = split_words(line);
    return words.size() == 2 && parse_unsigned(words[1]) &&
           (words[0] == "location_id" || words[0] == "domain" || words[0] == "unique_id");
  });
}

/// A UUID as ROCr prints and accepts it: "GPU-" and sixteen hexadecimal digits of unique_id.
std::string amd_uuid(std::uint64_t unique_id) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "GPU-%016" PRIx64, unique_id);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::map<PciAddress, std::string> read_kfd_uuids(Reader& reader) {
  std::map<PciAddress, std::string> uuids;
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes";
  for (const auto& name : reader.names(nodes)) {
    const auto text = reader.raw(nodes + "/" + name + "/properties", kept_properties);
    if (!text) continue;
    auto properties = parse_properties(*text);
    const std::uint64_t location = properties["location_id"];  // bus << 8 | device << 3 | function
    const std::uint64_t domain = properties["domain"];
    const std::uint64_t unique_id = properties["unique_id"];
    if (unique_id == 0 || location > 0xffff || domain > 0xffffffff) continue;
    const PciAddress address{
        static_cast<std::uint32_t>(domain), static_cast<std::uint8_t>(location >> 8),
        static_cast<std::uint8_t>((location >> 3) & 0x1f), static_cast<std::uint8_t>(location & 7)};
    uuids.emplace(address, amd_uuid(unique_id));
  }
  return uuids;
}

}  // namespace railhead::node
