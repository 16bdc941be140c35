// SPDX-License-Identifier: Apache-2.0
#include "pools/write_pools.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "node/pci.h"
#include "pools/selectors.h"

namespace railhead::pools {
namespace {

/// Of one pool: what is left out is said with its place.
class PoolWriter {
 public:
  PoolWriter(const PoolSpec& spec, std::vector<std::string>& warnings)
      : spec_(spec),
        warnings_(warnings) {}

  /// Absent where no pod could ever get anything of the pool.
  std::optional<data::Json> write() {
    const bool exclusive = spec_.mode == PoolMode::exclusive;
    if (!exclusive && !spec_.slots_per_nic && spec_.slots == 0) {
      return leave_out("the pool, which has no slots");
    }
    auto include = write_selectors(spec_.include);
    if (include.empty()) return leave_out("the pool, which selects nothing");
    data::Json pool = {{"name", spec_.name}};
    if (spec_.origin.flavour != PoolFlavour::railhead) {
      pool["replaces"] = to_string(spec_.origin.flavour);
    }
    if (exclusive) {
      pool["mode"] = to_string(spec_.mode);
    } else if (spec_.slots_per_nic) {
      pool["slotsPerNic"] = *spec_.slots_per_nic;
    } else {
      pool["slots"] = spec_.slots;
    }
    write_kinds(pool);
    pool["include"] = std::move(include);
    auto exclude = write_selectors(spec_.exclude);
    if (!exclude.empty()) pool["exclude"] = std::move(exclude);
    if (!spec_.devices.empty()) pool["devices"] = spec_.devices;
    if (spec_.exclude_topology) pool["excludeTopology"] = true;
    if (spec_.health != PoolHealth::link) pool["health"] = to_string(spec_.health);
    if (!spec_.narrow) pool["narrow"] = false;
    if (spec_.prefer != PoolPreference::spread) pool["prefer"] = to_string(spec_.prefer);
    for (const auto& [device, texts] : spec_.additional_info)
      pool["additionalInfo"][device] = texts;
    return pool;
  }

 private:
  std::optional<data::Json> leave_out(const std::string& what) {
    const auto& where = spec_.origin.where;
    warnings_.push_back((where.empty() ? "" : where + ": ") + spec_.name + ": left out: " + what);
    return std::nullopt;
  }

  void write_kinds(data::Json& pool) const {
    const std::size_t all = spec_.mode == PoolMode::exclusive ? 3 : 4;  // no soft device
    if (spec_.kinds.size() == all) return;
    pool["functions"] = data::Json::array();
    for (const auto kind : spec_.kinds) pool["functions"].push_back(to_string(kind));
  }

  data::Json write_selectors(const std::vector<Selector>& selectors) {
    auto written = data::Json::array();
    for (const auto& selector : selectors) {
      if (auto one = write_selector(selector)) written.push_back(*std::move(one));
    }
    return written;
  }

  std::optional<data::Json> write_selector(const Selector& selector) {
    auto written = data::Json::object();
    for (const auto& condition : selector.conditions) {
      auto values = selector_of(condition.fact).comparing == Comparing::functions
                        ? write_functions(condition)
                        : write_values(condition);
      if (values.empty()) return leave_out("a selector by " + condition.key);
      written[std::string(selector_of(condition.fact).key)] = std::move(values);
    }
    if (!selector.rdma || written.empty()) written["isRdma"] = selector.rdma;
    if (selector.vhost_net) written["needVhostNet"] = true;
    return written;
  }

  /// A value that is not spelt as facts are is no machine's: the plugins compare letter by letter.
  data::Json write_values(const Condition& condition) {
    const auto& row = selector_of(condition.fact);
    auto values = data::Json::array();
    for (const auto& value : condition.values) {
      const auto spelt = row.spelt(value);
      const bool is_pattern = row.match != condition.match && has_wildcard(value);
      if (spelt && *spelt == value && !is_pattern) {
        values.push_back(value);
      } else {
        leave_out(condition.key + " " + in_quotes(value) + ", which is no machine's");
      }
    }
    return values;
  }

  data::Json write_functions(const Condition& condition) {
    auto values = data::Json::array();
    for (const auto& range : condition.functions) {
      const bool is_address = condition.fact == Fact::root_device;
      const bool is_any = is_address
                              ? static_cast<bool>(node::PciAddress::parse(range.parent))
                              : condition.match == Match::glob || !has_wildcard(range.parent);
      if (is_any) {
        values.push_back(range_text(range));
      } else {
        leave_out(condition.key + " " + in_quotes(range_text(range)) + ", which is no machine's");
      }
    }
    return values;
  }

  static bool has_wildcard(std::string_view text) {
    return text.find_first_of("*?") != std::string_view::npos;
  }

  static std::string range_text(const FunctionRange& range) {
    if (range.ranges.empty()) return range.parent;
    return range.parent + "#" + join(range.ranges, ",", [](const auto& one) {
             const auto& [first, last] = one;
             return std::to_string(first) + (last == first ? "" : "-" + std::to_string(last));
           });
  }

  const PoolSpec& spec_;
  std::vector<std::string>& warnings_;
};

}  // namespace

data::Json write_pools(const std::vector<PoolSpec>& specs, std::vector<std::string>& warnings) {
  auto pools = data::Json::array();
  for (const auto& spec : specs) {
    if (auto pool = PoolWriter(spec, warnings).write()) pools.push_back(*std::move(pool));
  }
  return pools;
}

}  // namespace railhead::pools
