// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "node/platform_reader.h"

namespace railhead::node {
namespace {

constexpr std::string_view kNodes = "/sys/devices/system/node";
constexpr unsigned kHighestNode = 4095;
constexpr unsigned kLongestDistance = 255;  // u8 in the ACPI table SLIT
constexpr int kHighestSocket = 65535;

std::vector<unsigned> read_cpus(Reader& reader, const std::string& path) {
  const auto text = reader.text(path, host::keep_numbers);
  if (!text) return {};
  auto cpus = parse_range_list(*text);
  if (cpus) return *std::move(cpus);
  reader.malformed(path, cpus.error().message);
  return {};
}

std::vector<unsigned> read_distances(Reader& reader, const std::string& path) {
  std::vector<unsigned> distances;
  const auto text = reader.text(path, host::keep_numbers);
  if (!text) return distances;
  for (const auto word : split_words(*text)) {
    const auto distance = parse_unsigned(word);
    if (!distance || *distance > kLongestDistance) {
      reader.malformed(path, in_quotes(*text) + " is not a list of distances");
      return {};
    }
    distances.push_back(static_cast<unsigned>(*distance));
  }
  return distances;
}

}  // namespace

std::vector<NumaNode> read_numa(Reader& reader) {
  std::vector<NumaNode> nodes;
  const std::string folder(kNodes);
  for (const auto& name : reader.names(folder)) {
    const auto id = trailing_number(name, "node");
    if (!id || *id > kHighestNode) continue;
    NumaNode node;
    node.id = static_cast<int>(*id);
    const std::string path = folder + "/" + name;
    node.cpus = read_cpus(reader, path + "/cpulist");
    node.distances = read_distances(reader, path + "/distance");
    if (!node.cpus.empty()) {
      node.socket = reader.number_or_minus_one("/sys/devices/system/cpu/cpu" +
                                                   std::to_string(node.cpus.front()) +
                                                   "/topology/physical_package_id",
                                               kHighestSocket);
    }
    nodes.push_back(std::move(node));
  }
  std::ranges::sort(nodes, {}, &NumaNode::id);
  return nodes;
}

}  // namespace railhead::node
