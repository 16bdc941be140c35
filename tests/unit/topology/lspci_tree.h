// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <map>
#include <optional>
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
  const auto after = [](const std::string& line, const std::string& key) {
    const auto at = line.find(key);
    return at == std::string::npos ? std::string() : line.substr(at + key.size());
  };
  for (const auto& line : read_lines(path)) {
    if (const auto header = PciAddress::parse(line.substr(0, 7)); header && line.size() > 8) {
      all.emplace_back();
      all.back().pci.address = *header;
      all.back().text = line.substr(8);
    } else if (const auto bus = after(line, "secondary="); !bus.empty()) {
      bridge_to[static_cast<unsigned>(parse_hex(bus.substr(0, 2)).value_or(0U))] =
          all.back().pci.address;
    } else if (const auto numa = after(line, "NUMA node: "); !numa.empty()) {
      all.back().pci.numa_node = std::stoi(numa);
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

/// Reads `lspci -tv`: the parent of a branch stands further left on its first line, else its column
/// is that of an earlier branch.
class LspciTree {
 public:
  std::vector<Listed> read(const std::string& path) {
    for (const auto& line : read_lines(path)) read_line(line);
    return std::move(all_);
  }

 private:
  struct Parent {
    std::string root;
    std::string bus;  ///< "0000:15"
    std::vector<PciAddress> bridges;
  };

  /// "1d.0" at a column.
  static bool is_function(const std::string& line, std::size_t at) {
    return line.size() >= at + 4 && line[at + 2] == '.' &&
           PciAddress::parse("00:" + line.substr(at, 4)).has_value();
  }

  void read_line(const std::string& line) {
    std::optional<Parent> parent;
    for (std::size_t at = 0; at < line.size();) {
      const auto close = line.find(']', at);
      if (line[at] == '[' && close != std::string::npos) {
        const auto bus = line.substr(at + 1, close - at - 1);
        parent = Parent{"pci" + bus, bus, {}};
        at = close + 1;
      } else if (is_function(line, at)) {
        if (parent) by_column_[at] = *parent;
        if (!by_column_.contains(at)) return;
        const Parent& above = by_column_[at];
        const auto function = address(above.bus + ":" + line.substr(at, 4));
        at += 4;
        if (line.compare(at, 2, "-[") != 0) {
          add(above, function, line.substr(at));
          return;
        }
        const auto domain = above.bus.substr(0, above.bus.rfind(':') + 1);
        parent = Parent{above.root, domain + line.substr(at + 2, 2), above.bridges};
        parent->bridges.push_back(function);
        at = line.find(']', at) + 1;
      } else {
        ++at;
      }
    }
  }

  void add(const Parent& above, const PciAddress& function, const std::string& text) {
    Listed device;
    device.pci.address = function;
    device.pci.root = above.root;
    device.pci.bridges = above.bridges;
    device.text = text;
    all_.push_back(device);
  }

  std::vector<Listed> all_;
  std::map<std::size_t, Parent> by_column_;
};

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
