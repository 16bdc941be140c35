// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/text.h"
#include "node/node.h"

namespace railhead::test {

/// A function of a published listing, with lspci's words for it.
struct Listed {
  PciDevice pci;
  std::string text;
};

inline std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline PciAddress address(const std::string& text) {
  return PciAddress::parse(text).value_or(PciAddress{});
}

inline std::string root_name(const PciAddress& first_bus) {
  const auto text = first_bus.str();
  return "pci" + text.substr(0, text.rfind(':'));
}

/// `lspci -PP`: "00:01.1/01:00.0/02:01.0/09:00.0 Ethernet controller: …".
inline std::vector<Listed> read_lspci_paths(const std::string& path) {
  std::vector<Listed> all;
  for (const auto& line : read_lines(path)) {
    const auto space = line.find(' ');
    if (line.starts_with("$") || space == std::string::npos) continue;
    Listed device;
    device.text = line.substr(space + 1);
    for (const auto part : split(std::string_view(line).substr(0, space), '/')) {
      device.pci.bridges.push_back(address(std::string(part)));
    }
    device.pci.address = device.pci.bridges.back();
    device.pci.bridges.pop_back();
    device.pci.root = root_name(device.pci.bridges.front());
    all.push_back(device);
  }
  return all;
}

/// `lspci -vvv`: headers "15:01.0 PCI bridge: …" with "Bus: … secondary=16" and "NUMA node: 0".
inline std::vector<Listed> read_lspci_verbose(const std::string& path) {
  std::vector<Listed> all;
  std::map<unsigned, PciAddress> bridge_to;  // secondary bus to bridge
  const std::regex header(R"(^([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.*))");
  for (const auto& line : read_lines(path)) {
    std::smatch match;
    if (std::regex_search(line, match, header)) {
      all.emplace_back();
      all.back().pci.address = address(match[1]);
      all.back().text = match[2];
    } else if (std::regex_search(line, match, std::regex("secondary=([0-9a-f]{2})"))) {
      bridge_to[static_cast<unsigned>(parse_hex(match[1].str()).value_or(0U))] =
          all.back().pci.address;
    } else if (std::regex_search(line, match, std::regex("NUMA node: ([0-9]+)"))) {
      all.back().pci.numa_node = std::stoi(match[1]);
    }
  }
  for (auto& device : all) {
    PciAddress at = device.pci.address;
    while (bridge_to.contains(at.bus) && device.pci.bridges.size() < 16) {
      at = bridge_to[at.bus];
      device.pci.bridges.insert(device.pci.bridges.begin(), at);
    }
    device.pci.root = root_name(at);
  }
  return all;
}

/// `lspci -tv`: the parent of a branch stands further left on its first line, else in the column
/// above.
inline std::vector<Listed> read_lspci_tree(const std::string& path) {
  struct Parent {
    std::string root;
    std::string bus;
    std::vector<PciAddress> bridges;
  };

  std::vector<Listed> all;
  std::map<std::ptrdiff_t, Parent> by_column;
  const std::regex token(
      R"(\[([0-9a-f]{4,8}:[0-9a-f]{2})\]|([0-9a-f]{2}\.[0-7])(?:-\[([0-9a-f]{2})(?:-[0-9a-f]{2})?\])?)");
  const std::regex described(R"([0-9a-f]\.[0-7]  \S)");
  for (const auto& line : read_lines(path)) {
    std::smatch end;
    const bool device_line = std::regex_search(line, end, described);
    const std::string head = device_line ? line.substr(0, end.position() + 3) : line;
    std::optional<Parent> parent;
    for (std::sregex_iterator at(head.begin(), head.end(), token), last; at != last; ++at) {
      const auto& match = *at;
      if (match[1].matched) {
        parent = Parent{"pci" + match[1].str(), match[1].str(), {}};
        continue;
      }
      const auto column = match.position(2);
      if (parent) by_column[column] = *parent;
      if (!by_column.contains(column)) continue;
      const Parent above = by_column[column];
      Listed device;
      device.pci.address = address(above.bus + ":" + match[2].str());
      device.pci.root = above.root;
      device.pci.bridges = above.bridges;
      if (match[3].matched) {
        parent = above;
        parent->bus = above.bus.substr(0, above.bus.rfind(':') + 1) + match[3].str();
        parent->bridges.push_back(device.pci.address);
      } else {
        device.text = device_line ? line.substr(head.size()) : "";
        all.push_back(device);
        parent.reset();
      }
    }
  }
  return all;
}

/// The cells of `nvidia-smi topo -m`, [row][column]: "X", "NODE", "NV18"…
inline std::vector<std::vector<std::string>> read_topo_matrix(const std::string& path) {
  std::vector<std::vector<std::string>> cells;
  std::size_t columns = 0;
  for (const auto& line : read_lines(path)) {
    const auto words = split_words(line);
    if (words.empty() || (!words[0].starts_with("GPU") && !words[0].starts_with("NIC"))) continue;
    if (columns == 0) {
      while (columns < words.size() && words[columns] != "CPU") ++columns;
      continue;
    }
    if (words.size() <= columns) continue;
    cells.emplace_back(words.begin() + 1, words.begin() + 1 + static_cast<std::ptrdiff_t>(columns));
  }
  return cells;
}

}  // namespace railhead::test
