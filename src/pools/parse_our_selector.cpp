// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "node/pci.h"
#include "pools/notation.h"
#include "pools/pool_parsers.h"

namespace railhead::pools {
namespace {

/// Every key of a selector, in the order of docs/configuration.md.
constexpr std::array kKeys{
    KeyRow{"names", Fact::rdma_name, Match::glob},
    KeyRow{"pciAddresses", Fact::pci_address, Match::exact},
    KeyRow{"vendors", Fact::vendor, Match::exact},
    KeyRow{"devices", Fact::device, Match::exact},
    KeyRow{"drivers", Fact::driver, Match::exact},
    KeyRow{"interfaces", Fact::netdev, Match::glob},
    KeyRow{"pfNames", Fact::pf_name, Match::glob},
    KeyRow{"rootDevices", Fact::root_device, Match::any_case},
    KeyRow{"linkLayers", Fact::link_layer, Match::exact},
    KeyRow{"portStates", Fact::port_state, Match::exact},
    KeyRow{"minRateGbps", Fact::rate_gbps, Match::exact},
    KeyRow{"guids", Fact::guid, Match::glob},
    KeyRow{"numaNodes", Fact::numa_node, Match::exact},
    KeyRow{"acpiIndexes", Fact::acpi_index, Match::exact},
    KeyRow{"roles", Fact::role, Match::exact},
    KeyRow{"subnets", Fact::subnet, Match::exact},
    KeyRow{"pkeys", Fact::pkey, Match::exact},
};

Status add_function_range(const Section& section, const KeyRow& row, const std::string& text,
                          Condition& into) {
  auto range = FunctionRange::parse(text);
  if (!range) return section.error(row.key, range.error().message);
  if (row.fact == Fact::root_device) {
    const auto address = node::PciAddress::parse(range->parent);
    if (!address) return section.error(row.key, address.error().message);
    range->parent = address->str();
  }
  into.functions.push_back(*std::move(range));
  into.values.push_back(text);
  return {};
}

Status add_value(const Section& section, const KeyRow& row, const std::string& text,
                 const PoolParseOptions& options, Condition& into) {
  if (row.fact == Fact::pf_name || row.fact == Fact::root_device) {
    return add_function_range(section, row, text, into);
  }
  const auto& roles = options.roles;
  if (row.fact == Fact::role && std::find(roles.begin(), roles.end(), text) == roles.end()) {
    return section.error(row.key, in_quotes(text) + " is none of " + join(roles, ", "));
  }
  auto value = in_notation_of(row.fact, text);
  if (!value) return section.error(row.key, value.error().message);
  into.values.push_back(*std::move(value));
  return {};
}

}  // namespace

Result<Selector> parse_our_selector(Section section, const PoolParseOptions& options,
                                    std::vector<std::string>& warnings) {
  Selector selector;
  for (const auto& row : kKeys) {
    const bool present = section.find(row.key) != nullptr;
    const auto texts = TRY(section.texts(row.key));
    if (!present) continue;
    if (texts.empty()) return section.error(row.key, "an empty list selects nothing");
    if (row.fact == Fact::rate_gbps && texts.size() > 1) {
      return section.error(row.key, "expected one number");
    }
    Condition condition{row.fact, row.key, {}, row.match, {}};
    for (const auto& text : texts) {
      TRY_STATUS(add_value(section, row, text, options, condition));
    }
    selector.conditions.push_back(std::move(condition));
  }
  TRY_STATUS(section.finish(warnings));
  if (selector.conditions.empty())
    return section.error("", "an empty selector; names: \"*\" takes every RDMA device");
  return selector;
}

}  // namespace railhead::pools
