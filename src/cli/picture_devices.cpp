// SPDX-License-Identifier: Apache-2.0
#include "cli/picture_devices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "base/find.h"
#include "base/text.h"
#include "cli/describe.h"

namespace railhead::cli {
namespace {

/// nvidia-smi's index where every GPU has one of its own, else A, B, …, Z, AA, ….
std::vector<std::string> marks_of(const std::vector<node::Gpu>& gpus) {
  std::set<unsigned> indexes;
  for (const auto& gpu : gpus) {
    if (gpu.index && *gpu.index < 1000) indexes.insert(*gpu.index);
  }
  std::vector<std::string> marks;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    if (indexes.size() == gpus.size()) {
      marks.push_back(std::to_string(*gpus[g].index));
      continue;
    }
    std::string letters;
    for (std::size_t rest = g + 1; rest != 0; rest = (rest - 1) / 26) {
      letters.insert(letters.begin(), static_cast<char>('A' + (rest - 1) % 26));
    }
    marks.push_back(letters);
  }
  return marks;
}

std::string hex_text(std::uint16_t number) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

/// What the driver calls it, without the maker's name; else the PCI device id.
std::string model_text(const node::Node& node, const node::Gpu& gpu) {
  const std::string maker(gpu::gpu_row(gpu.vendor).name);
  if (gpu.model) {
    return gpu.model->starts_with(maker + " ") ? gpu.model->substr(maker.size() + 1) : *gpu.model;
  }
  const auto* function = node.find_pci(gpu.pci);
  const bool known = function != nullptr && function->device != 0;
  return known ? maker + " " + hex_text(function->device) : maker;
}

/// A machine that is known from a topology file says nothing of drivers.
bool tells_drivers(const node::Node& node) {
  return std::ranges::any_of(
      node.pci, [](const node::PciDevice& device) { return device.driver.has_value(); });
}

class Drawer {
 public:
  Drawer(const inject::DecisionTable& table, const std::vector<DrawnNic>& nics,
         const affinity::Selection& selection)
      : table_(table),
        nics_(nics),
        selection_(selection),
        gpus_by_nic_(gpus_by_nic(table)) {}

  DrawnDevices draw();

 private:
  [[nodiscard]] const node::Node& node() const { return table_.node(); }

  [[nodiscard]] report::DiagramDevice gpu_device(std::size_t gpu) const;
  [[nodiscard]] report::DiagramDevice nic_device(std::size_t nic) const;
  [[nodiscard]] report::DiagramDevice pack_device(const DrawnNic& pack) const;
  [[nodiscard]] std::string gpu_tag(std::size_t gpu) const;
  [[nodiscard]] std::string nic_footer(std::size_t nic) const;
  [[nodiscard]] report::DiagramLook nic_look(std::size_t nic,
                                             const report::DiagramDevice& device) const;
  [[nodiscard]] std::vector<std::size_t> guests_of(std::size_t nic) const;
  [[nodiscard]] std::size_t stack_of(const Hanging& place, const report::DiagramDevice& device);
  void add_links(DrawnDevices& drawn) const;

  const inject::DecisionTable& table_;
  const std::vector<DrawnNic>& nics_;
  const affinity::Selection& selection_;
  std::vector<std::vector<std::size_t>> gpus_by_nic_;
  std::map<std::vector<std::size_t>, std::size_t> stack_of_groups_;
  std::map<node::PciAddress, std::size_t> stack_of_card_;
};

std::string Drawer::gpu_tag(std::size_t gpu) const {
  const auto& deal = table_.deal().gpus[gpu];
  const auto& chosen = selection_.gpus[gpu].nics;
  if (deal.nics.empty()) return "no NIC";
  if (chosen.empty()) return "no usable NIC";
  const auto relation = std::string(to_string(chosen.front().nearness.relation));
  return chosen.front().stand_in ? "stand-in " + relation : relation;
}

report::DiagramDevice Drawer::gpu_device(std::size_t gpu) const {
  const auto& value = node().gpus[gpu];
  report::DiagramDevice device;
  device.row = report::DiagramRow::upper;
  device.title = value.index ? "GPU " + std::to_string(*value.index) : "GPU";
  device.lines = {value.pci.str(), model_text(node(), value)};
  if (value.excluded) {
    device.look = report::DiagramLook::aside;
    device.lines.emplace_back("excluded");
  } else if (!value.driver && tells_drivers(node())) {
    device.look = report::DiagramLook::broken;
    device.lines.emplace_back("no driver");
  } else if (!value.mig.empty()) {
    device.lines.push_back("MIG: " + std::to_string(value.mig.size()) + " instances");
  }
  device.groups = {gpu};
  device.tag = gpu_tag(gpu);
  if (selection_.gpus[gpu].nics.empty()) device.tag_look = report::DiagramLook::broken;
  std::vector<std::string> story = {gpu_label(value) + " " + value.pci.str()};
  if (value.model) story.push_back(*value.model);
  story.push_back("deal: " + table_.deal().gpus[gpu].why);
  for (const auto& choice : selection_.gpus[gpu].nics) {
    story.push_back(node().nics[choice.nic].name + ": " + choice.why);
  }
  device.tooltip = join(story, "\n");
  return device;
}

/// GPUs that this NIC stands in for another one for.
std::vector<std::size_t> Drawer::guests_of(std::size_t nic) const {
  std::vector<std::size_t> guests;
  for (const auto& gpu : selection_.gpus) {
    const auto* here = find_by(gpu.nics, &affinity::Choice::nic, nic);
    if (here != nullptr && here->stand_in) guests.push_back(gpu.gpu);
  }
  return guests;
}

std::string Drawer::nic_footer(std::size_t nic) const {
  const auto role = table_.deal().roles[nic].role;
  const bool good = table_.usable()[nic].usable;
  if (role != affinity::Role::compute) {
    const std::string word(to_string(role));
    return good ? word : word + ", " + fault_word(node(), nic);
  }
  if (is_in_bond(node(), nic)) return fault_word(node(), nic);
  if (!good) return "× " + fault_word(node(), nic);
  if (!gpus_by_nic_[nic].empty() || node().gpus.empty()) return ports_text(node().nics[nic]);
  return "spare";
}

report::DiagramLook Drawer::nic_look(std::size_t nic, const report::DiagramDevice& device) const {
  if (table_.deal().roles[nic].role != affinity::Role::compute) return report::DiagramLook::aside;
  if (is_in_bond(node(), nic)) return report::DiagramLook::aside;
  if (!table_.usable()[nic].usable) return report::DiagramLook::broken;
  const bool idle = device.groups.empty() && device.guests.empty();
  return idle && !node().gpus.empty() ? report::DiagramLook::aside : report::DiagramLook::normal;
}

report::DiagramDevice Drawer::nic_device(std::size_t nic) const {
  const auto& value = node().nics[nic];
  const auto& role = table_.deal().roles[nic];
  const auto& usable = table_.usable()[nic];
  report::DiagramDevice device;
  device.row = report::DiagramRow::lower;
  device.title = value.name;
  if (!value.registered) {
    device.lines = {"no RDMA device"};
  } else if (value.pci) {
    device.lines = {value.pci->str()};
  } else {
    device.lines = {value.parent ? "on " + *value.parent : "software"};
  }
  if (value.registered) device.lines.push_back(short_link_text(value));
  if (!value.netdevs.empty()) device.lines.push_back(join(value.netdevs, ","));
  if (const auto pcie = pcie_text(node(), value); !pcie.empty()) device.lines.push_back(pcie);
  device.footer = nic_footer(nic);
  device.groups = gpus_by_nic_[nic];
  device.guests = guests_of(nic);
  device.look = nic_look(nic, device);
  std::vector<std::string> story = {value.name};
  if (value.pci && value.registered) story.front() += " " + value.pci->str();
  if (!value.netdevs.empty()) story.push_back("netdev " + join(value.netdevs, ", "));
  story.push_back(short_link_text(value) + ", " + state_word(value));
  story.push_back(std::string(to_string(role.role)) + ": " + role.reason);
  if (!usable.usable) story.push_back("not usable: " + usable.reason);
  for (const auto g : device.groups) {
    story.push_back(gpu_label(node().gpus[g]) + ": " + table_.deal().gpus[g].why);
  }
  device.tooltip = join(story, "\n");
  return device;
}

report::DiagramDevice Drawer::pack_device(const DrawnNic& pack) const {
  const auto first = pack.nics.front();
  const auto& name = node().nics[first].name;
  const auto& last = node().nics[pack.nics.back()].name;
  const auto& role = table_.deal().roles[first];
  auto device = nic_device(first);
  device.title = std::to_string(pack.nics.size()) + (pack.virtual_functions ? " VFs" : " NICs");
  device.lines = {name + " …", "… " + last};
  std::map<std::string, std::size_t> states;
  for (const auto n : pack.nics) ++states[state_word(node().nics[n])];
  std::vector<std::string> story = {device.title + ", " + name + " to " + last};
  for (const auto& [state, count] : states) story.push_back(std::to_string(count) + " " + state);
  story.push_back(std::string(to_string(role.role)) + ": " + role.reason);
  device.tooltip = join(story, "\n");
  if (pack.virtual_functions) {
    device.look = report::DiagramLook::aside;
    device.footer = to_string(role.role);
  }
  return device;
}

/// Devices of a card are one column, and so are NICs that the same GPUs are dealt.
std::size_t Drawer::stack_of(const Hanging& place, const report::DiagramDevice& device) {
  const auto next = stack_of_groups_.size() + stack_of_card_.size() + 1;
  if (place.card && stack_of_card_.contains(*place.card)) return stack_of_card_[*place.card];
  const auto stack =
      device.groups.empty() ? next : stack_of_groups_.emplace(device.groups, next).first->second;
  if (place.card) stack_of_card_.emplace(*place.card, stack);
  return stack;
}

void Drawer::add_links(DrawnDevices& drawn) const {
  std::vector<std::size_t> device_of(node().nics.size());
  for (std::size_t i = 0; i < nics_.size(); ++i) {
    for (const auto n : nics_[i].nics) device_of[n] = node().gpus.size() + i;
  }
  for (std::size_t g = 0; g < node().gpus.size(); ++g) {
    for (const auto n : table_.deal().gpus[g].nics) {
      const auto relation = to_string(table_.topology().gpu_nic[g][n].relation);
      const auto kind = table_.usable()[n].usable ? report::DiagramLink::Kind::solid
                                                  : report::DiagramLink::Kind::broken;
      drawn.links.push_back({g, device_of[n], g, kind, std::string(relation)});
    }
    for (const auto& choice : selection_.gpus[g].nics) {
      if (!choice.stand_in) continue;
      drawn.links.push_back({g, device_of[choice.nic], g, report::DiagramLink::Kind::stand_in,
                             std::string(to_string(choice.nearness.relation))});
    }
  }
}

DrawnDevices Drawer::draw() {
  DrawnDevices drawn;
  drawn.marks = marks_of(node().gpus);
  const auto place = [&](const std::optional<node::PciAddress>& address) {
    const auto* function = address ? node().find_pci(*address) : nullptr;
    Hanging hanging{drawn.devices.size(), function, address};
    if (function != nullptr) hanging.card = card_of(*function);
    drawn.places.push_back(hanging);
  };
  for (std::size_t g = 0; g < node().gpus.size(); ++g) {
    place(node().gpus[g].pci);
    drawn.devices.push_back(gpu_device(g));
  }
  for (const auto& nic : nics_) {
    place(node().nics[nic.nics.front()].pci);
    drawn.devices.push_back(nic.is_pack() ? pack_device(nic) : nic_device(nic.nics.front()));
    drawn.devices.back().stack = stack_of(drawn.places.back(), drawn.devices.back());
  }
  add_links(drawn);
  return drawn;
}

}  // namespace

DrawnDevices draw_devices(const inject::DecisionTable& table, const std::vector<DrawnNic>& nics,
                          const affinity::Selection& selection) {
  return Drawer(table, nics, selection).draw();
}

}  // namespace railhead::cli
