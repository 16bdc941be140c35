// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <set>
#include <utility>

#include "base/text.h"
#include "data/value.h"
#include "topology/known_machine.h"

namespace railhead::topology {
namespace {

constexpr std::size_t kMaxSwitches = 32;  // layout_of() numbers buses
constexpr std::size_t kMaxBelowSwitch = 32;

Error fault(const data::Mark& mark, const std::string& key, const std::string& what) {
  return {ErrorCode::malformed, "line " + std::to_string(mark.line) + " column " +
                                    std::to_string(mark.column) + ": " + key + ": " + what};
}

Result<unsigned> read_count(const data::Value& value, const std::string& key) {
  const auto number = TRY(value.as_unsigned());
  if (number > std::numeric_limits<std::uint16_t>::max()) {
    return fault(value.mark, key, "out of range");
  }
  return static_cast<unsigned>(number);
}

Result<std::vector<node::PciAddress>> read_addresses(const data::Value& value,
                                                     const std::string& key) {
  std::vector<node::PciAddress> addresses;
  for (const auto& text : TRY(value.as_strings())) {
    const auto address = node::PciAddress::parse(text);
    if (!address) return fault(value.mark, key, address.error().message);
    addresses.push_back(*address);
  }
  return addresses;
}

Result<std::vector<std::string>> read_ids(const data::Value& value, const std::string& key) {
  auto ids = TRY(value.as_strings());
  for (const auto& id : ids) {
    const bool right = id.size() == 9 && id[4] == ':' && parse_hex(id.substr(0, 4)) &&
                       parse_hex(id.substr(5)) && to_lower(id) == id;
    if (!right) return fault(value.mark, key, in_quotes(id) + " is not like 10de:20b0");
  }
  return ids;
}

Result<KnownSwitch> read_switch(const data::Value& value) {
  KnownSwitch one;
  if (value.kind != data::Value::Kind::map || value.find("numa") == nullptr) {
    return fault(value.mark, "switches", "expected numa, gpus, nics");
  }
  for (const auto& [key, mark, item] : value.entries) {
    if (key == "numa") {
      one.numa_node = static_cast<int>(TRY(read_count(item, key)));
    } else if (key == "gpus") {
      one.gpus = TRY(read_addresses(item, key));
    } else if (key == "nics") {
      one.nics = TRY(read_addresses(item, key));
    } else {
      return fault(mark, key, "unknown key");
    }
  }
  if (one.gpus.size() + one.nics.size() > kMaxBelowSwitch) {
    return fault(value.mark, "switches", "more devices below a switch than it has ports");
  }
  return one;
}

Result<std::vector<KnownSwitch>> read_switches(const data::Value& value) {
  if (value.kind != data::Value::Kind::list || value.items.size() > kMaxSwitches) {
    return fault(value.mark, "switches",
                 "expected a list of at most " + std::to_string(kMaxSwitches));
  }
  std::vector<KnownSwitch> switches;
  for (const auto& item : value.items) switches.push_back(TRY(read_switch(item)));
  return switches;
}

Result<std::vector<KnownSize>> read_sizes(const data::Value& value, const std::string& key) {
  if (value.kind != data::Value::Kind::map) return fault(value.mark, key, "expected names");
  std::vector<KnownSize> sizes;
  for (const auto& [name, mark, item] : value.entries) {
    const auto gpus = TRY(read_count(item, name));
    sizes.push_back({name, gpus});
  }
  return sizes;
}

/// One key of a machine; false where there is no such key.
Result<bool> read_key(KnownMachine& machine, const std::string& key, const data::Value& value) {
  const std::pair<std::string_view, std::string*> texts[] = {
      {"name", &machine.name},          {"source", &machine.source},
      {"vendor", &machine.sys_vendor},  {"product", &machine.product_name},
      {"assetTag", &machine.asset_tag}, {"withNics", &machine.with_nics},
      {"order", &machine.order}};
  for (const auto& [name, text] : texts) {
    if (key != name) continue;
    *text = TRY(value.as_string());
    return true;
  }
  if (key == "gpuIds") {
    machine.gpu_ids = TRY(read_ids(value, key));
  } else if (key == "gpus") {
    machine.gpus = TRY(read_count(value, key));
  } else if (key == "sizes") {
    machine.sizes = TRY(read_sizes(value, key));
  } else if (key == "nics") {
    machine.nics = TRY(read_count(value, key));
  } else if (key == "gbps") {
    machine.gbps = TRY(read_count(value, key));
  } else if (key == "treeIsReal") {
    machine.tree_is_real = TRY(value.as_bool());
  } else if (key == "switches") {
    machine.switches = TRY(read_switches(value));
  } else {
    return false;
  }
  return true;
}

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

Result<KnownMachine> read_machine(const data::Value& value) {
  if (value.kind != data::Value::Kind::map) return fault(value.mark, "machines", "expected keys");
  KnownMachine machine;
  for (const auto& [key, mark, item] : value.entries) {
    const auto known = read_key(machine, key, item);
    if (!known) return known.error().context(key);
    if (!*known) return fault(mark, key, "unknown key");
  }
  const std::string wrong = contradiction(machine);
  if (!wrong.empty()) return fault(value.mark, in_quotes(machine.name), wrong);
  return machine;
}

Result<std::vector<KnownMachine>> read_machines(const data::Value& root) {
  const data::Value* list = root.find("machines");
  if (list == nullptr || list->kind != data::Value::Kind::list || root.entries.size() != 1) {
    return fault(root.mark, "machines", "expected one list of this name");
  }
  std::vector<KnownMachine> machines;
  for (const auto& item : list->items) machines.push_back(TRY(read_machine(item)));
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
