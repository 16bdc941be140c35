// SPDX-License-Identifier: Apache-2.0
#include "cli/picture_devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "cli/describe.h"

namespace railhead {
namespace {

/// nvidia-smi's index where every GPU has one of its own, else A, B, …, Z, AA, ….
std::vector<std::string> marks_of(const std::vector<Gpu>& gpus) {
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

/// GPUs that a NIC is dealt to.
std::vector<std::vector<std::size_t>> gpus_by_nic(const DecisionTable& table) {
  std::vector<std::vector<std::size_t>> gpus(table.node().nics.size());
  for (std::size_t g = 0; g < table.deal().gpus.size(); ++g) {
    for (const auto n : table.deal().gpus[g].nics) gpus[n].push_back(g);
  }
  return gpus;
}

std::string model_text(const std::string& model) {
  constexpr std::string_view kBrand = "NVIDIA ";
  return model.starts_with(kBrand) ? model.substr(kBrand.size()) : model;
}

std::string short_link_text(const Nic& nic) {
  const auto summary = summarize(nic);
  std::string text = nic.ports.size() > 1 ? std::to_string(nic.ports.size()) + "× " : "";
  if (!summary.link_layer && !summary.rate_gbps) return text + "link unknown";
  if (summary.link_layer) text += std::string(to_string(*summary.link_layer));
  if (summary.link_layer && summary.rate_gbps) text += " ";
  return text + (summary.rate_gbps ? rate_text(summary.rate_gbps) + "G" : "");
}

/// A NIC's state in a word.
std::string state_word(const Nic& nic) {
  if (!nic.registered) return "no driver";
  const auto summary = summarize(nic);
  return summary.state ? std::string(to_string(*summary.state)) : "no state";
}

/// What is wrong with a NIC that is not usable, in a word; the whole reason is in the tooltip.
std::string fault_word(const Node& node, const Nic& nic) {
  const auto word = state_word(nic);
  if (word != to_string(PortState::active)) return word;
  const auto* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  return function != nullptr && function->sriov_numvfs.value_or(0) > 0 ? "has VFs" : "unusable";
}

/// A machine that is known from a topology file says nothing of drivers.
bool tells_drivers(const Node& node) {
  return std::any_of(node.pci.begin(), node.pci.end(),
                     [](const PciDevice& device) { return device.driver.has_value(); });
}

class Drawer {
 public:
  Drawer(const DecisionTable& table, const std::vector<DrawnNic>& nics, const Selection& selection)
      : table_(table),
        nics_(nics),
        selection_(selection),
        gpus_by_nic_(gpus_by_nic(table)) {}

  DrawnDevices draw();

 private:
  [[nodiscard]] const Node& node() const { return table_.node(); }

  [[nodiscard]] DiagramDevice gpu_device(std::size_t gpu) const;
  [[nodiscard]] DiagramDevice nic_device(std::size_t nic) const;
  [[nodiscard]] DiagramDevice pack_device(const DrawnNic& pack) const;
  [[nodiscard]] std::string gpu_tag(std::size_t gpu) const;
  [[nodiscard]] std::string nic_footer(std::size_t nic) const;
  [[nodiscard]] std::vector<std::size_t> guests_of(std::size_t nic) const;
  [[nodiscard]] std::size_t stack_of(const Hanging& place, const DiagramDevice& device);
  void add_links(DrawnDevices& drawn) const;

  const DecisionTable& table_;
  const std::vector<DrawnNic>& nics_;
  const Selection& selection_;
  std::vector<std::vector<std::size_t>> gpus_by_nic_;
  std::map<std::vector<std::size_t>, std::size_t> stack_of_groups_;
  std::map<PciAddress, std::size_t> stack_of_card_;
};

std::string Drawer::gpu_tag(std::size_t gpu) const {
  const auto& deal = table_.deal().gpus[gpu];
  const auto& chosen = selection_.gpus[gpu].nics;
  if (deal.nics.empty()) return "no NIC";
  if (chosen.empty()) return "no usable NIC";
  const auto relation = std::string(to_string(chosen.front().nearness.relation));
  return chosen.front().stand_in ? "stand-in " + relation : relation;
}

DiagramDevice Drawer::gpu_device(std::size_t gpu) const {
  const auto& value = node().gpus[gpu];
  DiagramDevice device;
  device.row = DiagramRow::upper;
  device.title = value.index ? "GPU " + std::to_string(*value.index) : "GPU";
  device.lines = {value.pci.str(), value.model ? model_text(*value.model) : "model unknown"};
  if (value.excluded) {
    device.look = DiagramLook::aside;
    device.lines.emplace_back("excluded");
  } else if (!value.driver && tells_drivers(node())) {
    device.look = DiagramLook::broken;
    device.lines.emplace_back("no driver");
  } else if (!value.mig.empty()) {
    device.lines.push_back("MIG: " + std::to_string(value.mig.size()) + " instances");
  }
  device.groups = {gpu};
  device.tag = gpu_tag(gpu);
  std::vector<std::string> story = {gpu_label(value) + " " + value.pci.str()};
  if (value.model) story.push_back(*value.model);
  if (value.uuid) story.push_back(*value.uuid);
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
    const auto here = std::find_if(gpu.nics.begin(), gpu.nics.end(),
                                   [nic](const Choice& choice) { return choice.nic == nic; });
    if (here != gpu.nics.end() && here->stand_in) guests.push_back(gpu.gpu);
  }
  return guests;
}

std::string Drawer::nic_footer(std::size_t nic) const {
  const auto role = table_.deal().roles[nic].role;
  const bool good = table_.usable()[nic].usable;
  if (role != Role::compute) {
    const std::string word(to_string(role));
    return good ? word : word + ", " + fault_word(node(), node().nics[nic]);
  }
  if (!good) return "× " + fault_word(node(), node().nics[nic]);
  if (!gpus_by_nic_[nic].empty() || node().gpus.empty()) return state_word(node().nics[nic]);
  return "spare";
}

DiagramDevice Drawer::nic_device(std::size_t nic) const {
  const auto& value = node().nics[nic];
  const auto& role = table_.deal().roles[nic];
  const auto& usable = table_.usable()[nic];
  DiagramDevice device;
  device.row = DiagramRow::lower;
  device.title = value.name;
  if (!value.registered) {
    device.lines = {"no RDMA device"};
  } else if (value.pci) {
    device.lines = {value.pci->str()};
  } else {
    device.lines = {value.parent ? "on " + *value.parent : "software"};
  }
  if (value.registered) device.lines.push_back(short_link_text(value));
  device.footer = nic_footer(nic);
  device.groups = gpus_by_nic_[nic];
  device.guests = guests_of(nic);
  if (role.role == Role::compute && !usable.usable) {
    device.look = DiagramLook::broken;
  } else if (device.groups.empty() && !node().gpus.empty() && device.guests.empty()) {
    device.look = DiagramLook::aside;
  } else if (role.role != Role::compute) {
    device.look = DiagramLook::aside;
  }
  std::vector<std::string> story = {value.name + (value.pci ? " " + value.pci->str() : "")};
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

DiagramDevice Drawer::pack_device(const DrawnNic& pack) const {
  const auto& first = node().nics[pack.nics.front()];
  const auto& role = table_.deal().roles[pack.nics.front()];
  DiagramDevice device;
  device.row = DiagramRow::lower;
  device.look = DiagramLook::aside;
  device.title = std::to_string(pack.nics.size()) + " VFs";
  device.lines = {first.name + " …", "… " + node().nics[pack.nics.back()].name};
  device.footer = to_string(role.role);
  std::map<std::string, std::size_t> states;
  for (const auto n : pack.nics) ++states[state_word(node().nics[n])];
  std::vector<std::string> story = {device.title + " " + first.name + " to " +
                                    node().nics[pack.nics.back()].name};
  for (const auto& [state, count] : states) story.push_back(std::to_string(count) + " " + state);
  story.push_back(std::string(to_string(role.role)) + ": " + role.reason);
  device.tooltip = join(story, "\n");
  return device;
}

/// Devices of a card are one column, and so are NICs that the same GPUs are dealt.
std::size_t Drawer::stack_of(const Hanging& place, const DiagramDevice& device) {
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
      const auto kind =
          table_.usable()[n].usable ? DiagramLink::Kind::solid : DiagramLink::Kind::broken;
      drawn.links.push_back({g, device_of[n], g, kind, std::string(relation)});
    }
    for (const auto& choice : selection_.gpus[g].nics) {
      if (!choice.stand_in) continue;
      drawn.links.push_back({g, device_of[choice.nic], g, DiagramLink::Kind::stand_in,
                             std::string(to_string(choice.nearness.relation))});
    }
  }
}

DrawnDevices Drawer::draw() {
  DrawnDevices drawn;
  drawn.marks = marks_of(node().gpus);
  const auto place = [&](const std::optional<PciAddress>& address) {
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

std::vector<DrawnNic> drawn_nics(const DecisionTable& table) {
  const auto& node = table.node();
  const auto gpus = gpus_by_nic(table);
  std::map<std::tuple<PciAddress, Role>, std::size_t> packs;
  std::vector<DrawnNic> drawn;
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    const auto& pci = node.nics[n].pci;
    const auto* function = pci ? node.find_pci(*pci) : nullptr;
    if (function == nullptr || !function->is_vf() || !gpus[n].empty()) {
      drawn.push_back({{n}});
      continue;
    }
    const auto [pack, fresh] =
        packs.emplace(std::tuple(*function->physfn, table.deal().roles[n].role), drawn.size());
    if (fresh) drawn.emplace_back();
    drawn[pack->second].nics.push_back(n);
  }
  return drawn;
}

DrawnDevices draw_devices(const DecisionTable& table, const std::vector<DrawnNic>& nics,
                          const Selection& selection) {
  return Drawer(table, nics, selection).draw();
}

}  // namespace railhead
