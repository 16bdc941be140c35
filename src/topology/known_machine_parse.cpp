// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "base/text.h"
#include "data/keys.h"
#include "topology/known_machine.h"

namespace railhead::topology {
namespace {

constexpr std::size_t kMaxSwitches = 32;  // layout_of() numbers buses
constexpr std::size_t kMaxBelowSwitch = 32;

using data::malformed_at;
using data::Value;

template <auto Member, typename Target>
Status take_addresses(const Value& value, Target& target) {
  for (const auto& text : TRY(value.as_strings())) {
    const auto address = node::PciAddress::parse(text);
    if (!address) return malformed_at(value.mark, address.error().message);
    (target.*Member).push_back(*address);
  }
  return {};
}

Status take_ids(const Value& value, KnownMachine& machine) {
  machine.gpu_ids = TRY(value.as_strings());
  for (const auto& id : machine.gpu_ids) {
    const bool right = id.size() == 9 && id[4] == ':' && parse_hex(id.substr(0, 4)) &&
                       parse_hex(id.substr(5)) && to_lower(id) == id;
    if (!right) return malformed_at(value.mark, in_quotes(id) + " is not like 10de:20b0");
  }
  return {};
}

constexpr data::Key<KnownSwitch> kSwitchKeys[] = {
    {"numa", data::take_number<&KnownSwitch::numa_node>},
    {"gpus", take_addresses<&KnownSwitch::gpus>},
    {"nics", take_addresses<&KnownSwitch::nics>},
};

Status take_switches(const Value& value, KnownMachine& machine) {
  if (value.kind != Value::Kind::list || value.items.size() > kMaxSwitches)
    return malformed_at(value.mark, "no list of at most " + std::to_string(kMaxSwitches));
  for (const auto& item : value.items) {
    KnownSwitch one;
    TRY_STATUS(data::take_keys(item, kSwitchKeys, one));
    if (item.find("numa") == nullptr) return malformed_at(item.mark, "no numa");
    if (one.gpus.size() + one.nics.size() > kMaxBelowSwitch)
      return malformed_at(item.mark, "more devices below a switch than it has ports");
    machine.switches.push_back(std::move(one));
  }
  return {};
}

Status take_sizes(const Value& value, KnownMachine& machine) {
  if (value.kind != Value::Kind::map) return malformed_at(value.mark, "no map");
  for (const auto& entry : value.entries) {
    KnownSize size{entry.key, 0};
    TRY_STATUS(data::take_number<&KnownSize::gpus>(entry.value, size));
    machine.sizes.push_back(std::move(size));
  }
  return {};
}

constexpr data::Key<KnownMachine> kMachineKeys[] = {
    {"name", data::take_text<&KnownMachine::name>},
    {"source", data::take_text<&KnownMachine::source>},
    {"vendor", data::take_text<&KnownMachine::sys_vendor>},
    {"product", data::take_text<&KnownMachine::product_name>},
    {"assetTag", data::take_text<&KnownMachine::asset_tag>},
    {"withNics", data::take_text<&KnownMachine::with_nics>},
    {"order", data::take_text<&KnownMachine::order>},
    {"gpuIds", take_ids},
    {"gpus", data::take_number<&KnownMachine::gpus>},
    {"sizes", take_sizes},
    {"nics", data::take_number<&KnownMachine::nics>},
    {"gbps", data::take_number<&KnownMachine::gbps>},
    {"treeIsReal", data::take_flag<&KnownMachine::tree_is_real>},
    {"switches", take_switches},
};

bool has_dmi(const KnownMachine& machine) {
  return !machine.sys_vendor.empty() || !machine.product_name.empty() || !machine.asset_tag.empty();
}

/// What is wrong with an entry that reads well; "" if nothing.
std::string contradiction(const KnownMachine& machine) {
  if (machine.name.empty()) return "no name";
  if (machine.source.empty()) return "no source";
  for (const auto& size : machine.sizes) {
    if (size.gpus == 0 || size.gpus > machine.gpus) return "a size with other GPUs than it has";
  }
  if (machine.by_name_alone()) {
    const bool on_a_node = has_dmi(machine) || machine.tree_is_real || !machine.switches.empty();
    return machine.sizes.empty() || on_a_node ? "no gpuIds" : "";
  }
  if (!has_dmi(machine)) return "no DMI string: it would be found everywhere";
  if (machine.tree_is_real != machine.switches.empty()) return "either treeIsReal or switches";
  if (machine.tree_is_real) return machine.gpus > 0 ? "" : "no gpus";
  std::set<node::PciAddress> places;
  std::size_t gpus = 0;
  std::size_t nics = 0;
  for (const auto& one : machine.switches) {
    gpus += one.gpus.size();
    nics += one.nics.size();
    places.insert(one.gpus.begin(), one.gpus.end());
    places.insert(one.nics.begin(), one.nics.end());
  }
  if (places.size() != gpus + nics) return "an address stands twice";
  if (gpus != machine.gpus) return "the switches have " + std::to_string(gpus) + " GPUs";
  if (nics != machine.nics) return "the switches have " + std::to_string(nics) + " NICs";
  return "";
}

Result<std::vector<KnownMachine>> read_machines(const Value& root) {
  const Value* list = root.find("machines");
  if (list == nullptr || list->kind != Value::Kind::list || root.entries.size() != 1)
    return malformed_at(root.mark, "expected one list of machines");
  std::vector<KnownMachine> machines;
  for (const auto& item : list->items) {
    KnownMachine machine;
    TRY_STATUS(data::take_keys(item, kMachineKeys, machine));
    const std::string wrong = contradiction(machine);
    if (!wrong.empty()) return malformed_at(item.mark, in_quotes(machine.name) + ": " + wrong);
    machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace

Result<std::vector<KnownMachine>> parse_known_machines(std::string_view text,
                                                       const std::string& origin) {
  const auto root = data::parse_yaml(text);
  if (!root) return root.error().context(origin);
  auto machines = read_machines(*root);
  if (!machines) return machines.error().context(origin);
  return machines;
}

}  // namespace railhead::topology
