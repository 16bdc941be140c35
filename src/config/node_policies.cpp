// SPDX-License-Identifier: Apache-2.0
#include "config/node_policies.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "data/below.h"
#include "data/json.h"

namespace railhead::config {
namespace {

using data::below;

/// PCI device ids of physical functions, and that of their virtual functions. Source:
/// sriov-network-operator deployment/sriov-network-operator-chart/templates/configmap.yaml
/// (supported-nic-ids), at 249e200.
struct VirtualId {
  std::string_view virtual_;
  std::string_view physical;  ///< separated by blanks
};

constexpr std::array kVirtualIds{
    VirtualId{"1014", "1013"},
    VirtualId{"1016", "1015"},
    VirtualId{"1018", "1017"},
    VirtualId{"101a", "1019"},
    VirtualId{"101c", "101b"},
    VirtualId{"101e", "101d 101f 1021 1023 1025 a2d6 a2dc"},
    VirtualId{"154c", "158a 158b 1572 1589 1581 15ff 0d58 1583"},
    VirtualId{"1565", "1563"},
    VirtualId{"10ca", "10c9"},
    VirtualId{"1889", "1592 1593 159b 1599 1591 188a 124d 124c 579c 579d 579e 12d2 12d3 1249 124a"},
    VirtualId{"16dc", "16d7"},
    VirtualId{"1806", "1750"},
};

std::string_view virtual_id_of(const std::string& physical) {
  for (const auto& row : kVirtualIds) {
    const auto ids = split(row.physical, ' ');
    if (contains(ids, physical)) return row.virtual_;
  }
  return "";
}

/// A number of a policy as the API server takes it, 0 where there is none. Source:
/// sriov-network-operator config/crd/bases/sriovnetwork.openshift.io_sriovnetworknodepolicies.yaml.
Result<std::int64_t> number_of(const NodePolicy& policy, std::string_view key, std::int64_t most) {
  const auto* value = below(policy.spec, {key});
  if (value == nullptr) return 0;
  const auto place = data::place_in(policy.source, value->mark) + ": " + std::string(key);
  const auto number = value->as_signed();
  if (!number) return number.error().context(place);
  if (*number >= 0 && *number <= most) return *number;
  return Error{ErrorCode::malformed,
               place + ": " + std::to_string(*number) + " is " +
                   (*number < 0 ? "below 0" : "above " + std::to_string(most)) +
                   ", which the API server refuses"};
}

constexpr std::int64_t kMaxPriority = 99;
constexpr std::int64_t kMaxVfs = 65535;  // TotalVFs of SR-IOV has 16 bits

class PolicyReader {
 public:
  PolicyReader(const NodePolicy& policy, std::vector<std::string>& warnings)
      : policy_(policy),
        warnings_(warnings) {}

  /// Into the resource of its name, which is made if it is not there.
  Status add_to(data::Json& resources) {
    const auto name = TRY(text(policy_.spec, "resourceName"));
    const auto* nics = below(policy_.spec, {"nicSelector"});
    if (name.empty() || nics == nullptr) {
      return Error{ErrorCode::malformed, place(policy_.spec) + ": " + in_quotes(policy_.name) +
                                             " needs resourceName and nicSelector"};
    }
    if (below(*nics, {"netFilter"}) != nullptr) {
      warn(*below(*nics, {"netFilter"}),
           "netFilter is looked up in the operator's state of a node; the policy is left out");
      return {};
    }
    const auto at = std::find_if(resources.begin(), resources.end(),
                                 [&](const auto& one) { return one["resourceName"] == name; });
    const bool is_new = at == resources.end();
    auto& resource = is_new ? resources.emplace_back(data::Json{{"resourceName", name}}) : *at;
    if (is_new) TRY_STATUS(begin(resource));
    resource["excludeTopology"] = TRY(flag("excludeTopology"));
    return add_selectors(*nics, resource["selectors"]);
  }

 private:
  /// What only the first policy of a resource says.
  Status begin(data::Json& resource) {
    auto& selectors = resource["selectors"] = data::Json::object();
    selectors["isRdma"] = TRY(flag("isRdma"));
    selectors["needVhostNet"] = TRY(flag("needVhostNet"));
    if (auto type = TRY(text(policy_.spec, "vdpaType")); !type.empty()) {
      selectors["vdpaType"] = std::move(type);
    }
    return {};
  }

  Status add_selectors(const data::Value& nics, data::Json& selectors) {
    add(selectors, "vendors", TRY(text(nics, "vendor")));
    TRY_STATUS(add_device(nics, selectors));
    for (const char* key : {"pfNames", "rootDevices"}) {
      const auto* list = below(nics, {key});
      if (list == nullptr) continue;
      const auto names = list->as_strings();
      if (!names) return names.error().context(policy_.source + ": nicSelector." + key);
      for (const auto& name : *names) add(selectors, key, name);
    }
    // The plugin cannot tell the link type of a function that vfio-pci holds.
    const auto link = TRY(word("linkType", {"eth", "ETH", "ib", "IB"}));
    const auto type = TRY(word("deviceType", {"netdevice", "vfio-pci"}));
    if (!link.empty() && type != "vfio-pci")
      add(selectors, "linkTypes", to_lower(link) == "ib" ? "infiniband" : "ether");
    for (const auto& [key, mark, value] : nics.entries) {
      constexpr std::array kKnown{"vendor", "deviceID", "pfNames", "rootDevices", "netFilter"};
      if (contains(kKnown, key)) continue;
      warnings_.push_back(data::place_in(policy_.source, mark) + ": unknown key " +
                          in_quotes("nicSelector." + key) + " ignored, as by the API server");
    }
    return {};
  }

  /// A policy names the physical function, the plugin's file the virtual one.
  Status add_device(const data::Value& nics, data::Json& selectors) {
    auto device = TRY(text(nics, "deviceID"));
    if (device.empty()) return {};
    if (TRY(number_of(policy_, "numVfs", kMaxVfs)) > 0) {
      const auto of_virtual = virtual_id_of(device);
      if (of_virtual.empty()) {
        warn(*below(nics, {"deviceID"}), "deviceID " + in_quotes(device) +
                                             ": the id of its virtual functions is not known, so "
                                             "`devices` is left out");
        return {};
      }
      device = of_virtual;
    }
    add(selectors, "devices", device);
    return {};
  }

  static void add(data::Json& selectors, const char* key, const std::string& value) {
    if (value.empty()) return;
    auto& list = selectors[key];
    if (!contains(list, value)) list.push_back(value);
  }

  Result<std::string> text(const data::Value& map, std::string_view key) const {
    const auto* value = below(map, {key});
    if (value == nullptr) return std::string();
    auto text = value->as_string();
    if (!text) return text.error().context(policy_.source + ": " + std::string(key));
    return text;
  }

  /// One of the words of the operator's CRD (api/v1/sriovnetworknodepolicy_types.go), or none.
  Result<std::string> word(std::string_view key,
                           std::initializer_list<std::string_view> words) const {
    auto said = TRY(text(policy_.spec, key));
    if (said.empty() || std::find(words.begin(), words.end(), said) != words.end()) return said;
    return Error{ErrorCode::malformed, place(*below(policy_.spec, {key})) + ": " +
                                           std::string(key) + " " + in_quotes(said) +
                                           " is none that the API server takes"};
  }

  Result<bool> flag(std::string_view key) const {
    const auto* value = below(policy_.spec, {key});
    if (value == nullptr) return false;
    auto flag = value->as_bool();
    if (!flag) return flag.error().context(policy_.source + ": " + std::string(key));
    return flag;
  }

  [[nodiscard]] std::string place(const data::Value& value) const {
    return data::place_in(policy_.source, value.mark);
  }

  void warn(const data::Value& at, const std::string& what) {
    warnings_.push_back(place(at) + ": " + policy_.name + ": " + what);
  }

  const NodePolicy& policy_;
  std::vector<std::string>& warnings_;
};

}  // namespace

std::vector<std::string> physical_ids_of(std::string_view virtual_id) {
  const auto* row = find_by(kVirtualIds, &VirtualId::virtual_, virtual_id);
  if (row == nullptr) return {};
  const auto ids = split(row->physical, ' ');
  return {ids.begin(), ids.end()};
}

Result<ConfigFile> file_of_node_policies(std::vector<NodePolicy> policies,
                                         std::vector<std::string>& warnings) {
  std::vector<std::pair<std::int64_t, const NodePolicy*>> order;
  for (const auto& policy : policies) {
    if (policy.name == "default") continue;  // deprecated, and passed over there, too
    order.emplace_back(TRY(number_of(policy, "priority", kMaxPriority)), &policy);
  }
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
  });
  auto resources = data::Json::array();
  for (const auto& [priority, policy] : order) {
    TRY_STATUS(PolicyReader(*policy, warnings).add_to(resources));
  }
  return ConfigFile{policies.front().source + ": SriovNetworkNodePolicy",
                    data::to_json_text({{"resourceList", resources}})};
}

}  // namespace railhead::config
