// SPDX-License-Identifier: Apache-2.0
#include "cli/picture_boxes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "cli/describe.h"
#include "topology/layout.h"
#include "topology/place.h"
#include "topology/topology.h"

namespace railhead::cli {
namespace {

/// A bridge with what hangs directly below it.
struct Branch {
  std::map<node::PciAddress, Branch> below;
  std::vector<const Hanging*> devices;
};

/// What a box holds, before it is known whether there will be one.
struct Content {
  std::vector<report::DiagramBox> boxes;
  std::vector<std::size_t> devices;
};

void add(Content& content, Content more) {
  std::move(more.boxes.begin(), more.boxes.end(), std::back_inserter(content.boxes));
  content.devices.insert(content.devices.end(), more.devices.begin(), more.devices.end());
}

/// Whether a host bridge is not one that sysfs would name, "pci0000:15": a source that knows only
/// its switches calls it after one of them.
bool is_invented_root(const std::string& root) {
  if (!root.starts_with("pci")) return false;
  const auto address = node::PciAddress::parse(root.substr(3) + ":00.0");
  return !address || topology::is_invented(*address);
}

std::string_view where_from(topology::TopologySource source) {
  return source == topology::TopologySource::machine_table ? " (from table)" : " (from file)";
}

/// Ways that part at this bridge: bridges below it and cards on its bus.
std::size_t ways(const Branch& branch) {
  std::set<node::PciAddress> cards;
  for (const auto* device : branch.devices) cards.insert(*device->card);
  return branch.below.size() + cards.size();
}

/// The bridges below a box, down to where something stands.
struct Way {
  std::vector<node::PciAddress> bridges;
  bool from_root = true;  ///< the box is a host bridge; else a switch
};

/// Upstream ports of the switches on this way that hold nothing else. A switch is two bridges
/// (topology.h): counted from below, each second one is an upstream port. In sysfs the first below
/// a host bridge is a root port; other sources have none.
std::vector<node::PciAddress> lone_switches(const Way& way, topology::TopologySource source) {
  const bool has_root_port = way.from_root && (source == topology::TopologySource::pci_tree ||
                                               source == topology::TopologySource::numa);
  const std::size_t first = has_root_port ? 1 : 0;
  std::vector<node::PciAddress> found;
  for (auto left = way.bridges.size(); left >= first + 2; left -= 2) {
    found.insert(found.begin(), way.bridges[left - 2]);
  }
  return found;
}

/// A box for switches one below the other, of which only the last has several ways.
report::DiagramBox switch_box(const std::vector<node::PciAddress>& switches, Content content,
                              topology::TopologySource source) {
  report::DiagramBox box;
  box.kind = report::DiagramBox::Kind::hub;
  for (const auto& address : switches) {
    const bool named = !topology::is_invented(address);
    box.titles.push_back("switch" +
                         (named ? " " + address.str() : std::string(where_from(source))));
    box.tooltip += (box.tooltip.empty() ? "PCIe " : "\nPCIe ") + box.titles.back();
  }
  box.boxes = std::move(content.boxes);
  box.devices = std::move(content.devices);
  return box;
}

/// `way` leads to this bridge, itself included.
Content content_of(const Branch& branch, const Way& way, topology::TopologySource source) {
  const bool parts = ways(branch) > 1;
  Content content;
  for (const auto* device : branch.devices) content.devices.push_back(device->device);
  for (const auto& [below, child] : branch.below) {
    auto further = parts ? Way{{}, false} : way;
    further.bridges.push_back(below);
    add(content, content_of(child, further, source));
  }
  std::vector<node::PciAddress> switches;
  if (parts) {
    auto above = way;
    above.bridges.pop_back();
    switches = lone_switches(above, source);
    switches.push_back(way.bridges.back());
  } else if (branch.below.empty()) {
    switches = lone_switches(way, source);
  }
  if (switches.empty()) return content;
  return {{switch_box(switches, std::move(content), source)}, {}};
}

std::string root_title(const std::string& root, topology::TopologySource source) {
  if (is_invented_root(root)) return "host bridge" + std::string(where_from(source));
  return "host bridge " + (root.starts_with("pci") ? root.substr(3) : root);
}

report::DiagramBox host_bridge_box(const std::string& root, const Branch& branch,
                                   topology::TopologySource source) {
  report::DiagramBox box;
  box.kind = report::DiagramBox::Kind::bridge;
  box.titles = {root_title(root, source)};
  box.tooltip = is_invented_root(root) ? box.titles.front() : "PCIe host bridge " + root;
  for (const auto* device : branch.devices) box.devices.push_back(device->device);
  Content content;
  for (const auto& [address, child] : branch.below) {
    add(content, content_of(child, {{address}, true}, source));
  }
  box.boxes = std::move(content.boxes);
  box.devices.insert(box.devices.end(), content.devices.begin(), content.devices.end());
  std::ranges::sort(box.devices);
  if (box.boxes.size() != 1 || !box.devices.empty()) return box;
  report::DiagramBox only = std::move(box.boxes.front());
  if (is_invented_root(root)) return only;
  only.titles.insert(only.titles.begin(), box.titles.front());
  only.tooltip = box.tooltip + "\n" + only.tooltip;
  return only;
}

struct Memory {
  std::map<std::string, Branch> roots;
  std::vector<const Hanging*> homeless;  ///< no path is known
};

report::DiagramBox memory_box(const node::Node& node, std::optional<int> id, const Memory& memory,
                              topology::TopologySource source) {
  report::DiagramBox box;
  box.kind = report::DiagramBox::Kind::memory;
  box.titles = {id ? "NUMA node " + std::to_string(*id) : "NUMA node unknown"};
  const auto* numa = id ? topology::find_numa(node, *id) : nullptr;
  if (numa != nullptr && !numa->cpus.empty()) {
    box.titles.push_back("CPUs " + range_list(numa->cpus));
    box.tooltip = box.titles.front() + ": " + box.titles.back();
  }
  for (const auto* device : memory.homeless) box.devices.push_back(device->device);
  for (const auto& [root, branch] : memory.roots) {
    box.boxes.push_back(host_bridge_box(root, branch, source));
  }
  const bool soft = !id && memory.roots.empty() &&
                    std::ranges::all_of(memory.homeless, [](const Hanging* device) {
                      return device->function == nullptr;
                    });
  if (soft) box.titles = {"Software devices", "no PCI function"};
  return box;
}

/// Absent is after everything known.
struct UnknownLast {
  bool operator()(std::optional<int> a, std::optional<int> b) const {
    if (a.has_value() != b.has_value()) return a.has_value();
    return a < b;
  }
};

using Memories = std::map<std::optional<int>, Memory, UnknownLast>;

/// Everything below a host bridge is at the NUMA node that the first function with one names.
Memories memories_of(const node::Node& node, const std::vector<Hanging>& devices) {
  std::map<std::string, std::optional<int>> numa_of_root;
  for (const auto& device : devices) {
    if (device.function == nullptr) continue;
    auto& numa = numa_of_root[device.function->root];
    if (!numa) numa = topology::cpu_numa_node(node, *device.function);
  }
  Memories memories;
  for (const auto& device : devices) {
    if (device.function == nullptr) {
      memories[std::nullopt].homeless.push_back(&device);
    } else if (device.function->root.empty()) {
      memories[topology::cpu_numa_node(node, *device.function)].homeless.push_back(&device);
    } else {
      auto* branch = &memories[numa_of_root[device.function->root]].roots[device.function->root];
      for (const auto& bridge : topology::place_of(node, device.function).bridges) {
        branch = &branch->below[bridge];
      }
      branch->devices.push_back(&device);
    }
  }
  return memories;
}

}  // namespace

node::PciAddress card_of(const node::PciDevice& function) {
  auto card = function.physfn.value_or(function.address);
  card.function = 0;
  return card;
}

std::vector<report::DiagramBox> boxes_of(const inject::DecisionTable& table,
                                         const std::vector<Hanging>& devices) {
  const auto& node = table.node();
  const auto source = table.topology().source;
  std::map<std::optional<int>, std::vector<report::DiagramBox>, UnknownLast> sockets;
  for (const auto& [id, memory] : memories_of(node, devices)) {
    const auto* numa = id ? topology::find_numa(node, *id) : nullptr;
    const auto socket = numa == nullptr ? std::nullopt : numa->socket;
    sockets[socket].push_back(memory_box(node, id, memory, source));
  }
  std::vector<report::DiagramBox> boxes;
  for (auto& [socket, inner] : sockets) {
    const auto title = socket ? "Socket " + std::to_string(*socket) : std::string();
    if (!socket) {
      std::move(inner.begin(), inner.end(), std::back_inserter(boxes));
    } else if (inner.size() == 1) {
      inner.front().titles.front() = title + " · " + inner.front().titles.front();
      boxes.push_back(std::move(inner.front()));
    } else {
      report::DiagramBox box;
      box.kind = report::DiagramBox::Kind::package;
      box.titles = {title};
      box.boxes = std::move(inner);
      boxes.push_back(std::move(box));
    }
  }
  return boxes;
}

}  // namespace railhead::cli
