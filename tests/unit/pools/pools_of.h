// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/config.h"
#include "data/json.h"
#include "pools/parse_pools.h"
#include "pools/pools.h"
#include "pools/selectors.h"
#include "pools/write_pools.h"
#include "unit/node/hosts.h"
#include "unit/node_builder.h"

namespace railhead::test {

using Texts = std::vector<std::string>;

/// Files by name as the agent would read them.
inline Result<pools::PoolSpecs> parse_files(
    const std::vector<config::ConfigFile>& files,
    const std::map<std::string, std::string>& environment = {}) {
  const auto config = config::make_config({files, environment, {}});
  if (!config) return config.error();
  pools::PoolParseOptions options;
  options.sriov_prefix = config->settings().device_plugin.resource_prefix;
  options.roles = {"compute", "storage", "management"};
  return pools::parse_pools(config->pool_sources(), options);
}

inline Result<pools::PoolSpecs> parse_text(const std::string& text) {
  return parse_files({{"file", text}});
}

/// These pools in our words, as the text of a file.
inline std::string written(const std::vector<pools::PoolSpec>& specs, Texts& warnings) {
  return data::to_yaml({{"pools", pools::write_pools(specs, warnings)}});
}

/// As our words say it: keys are ours, a name without a wildcard is a pattern, too, and addresses
/// are in lower case.
inline std::vector<pools::PoolSpec> in_our_words(std::vector<pools::PoolSpec> specs) {
  for (auto& spec : specs) {
    spec.origin.where = "";
    for (auto& selector : spec.include) {
      for (auto& condition : selector.conditions) {
        const auto& row = pools::selector_of(condition.fact);
        condition.key = row.key;
        condition.match = row.match;
        if (!condition.functions.empty()) condition.values.clear();
        for (auto& range : condition.functions) {
          if (row.fact == pools::Fact::root_device) range.parent = to_lower(range.parent);
        }
      }
      std::ranges::sort(selector.conditions,
                        [](const auto& a, const auto& b) { return a.fact < b.fact; });
    }
  }
  return specs;
}

/// What `railhead migrate` writes makes the same pools, unless it says what it left out.
inline void expect_same_in_our_words(const std::vector<pools::PoolSpec>& specs) {
  Texts left_out;
  const auto text = written(specs, left_out);
  const auto again = parse_text(text);
  if (!again) {
    ADD_FAILURE() << again.error().message << "\n" << text;
  } else if (left_out.empty()) {
    EXPECT_TRUE(in_our_words(specs) == in_our_words(again->specs)) << text;
  }
}

/// The specs of a text that is right and warns of nothing but values that match nothing.
inline std::vector<pools::PoolSpec> specs_of(const std::string& text) {
  const auto parsed = parse_text(text);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message;
    return {};
  }
  auto warnings = parsed->warnings;
  std::erase_if(warnings,
                [](const auto& warning) { return warning.ends_with("; it matches nothing"); });
  EXPECT_EQ(warnings, Texts{}) << text;
  EXPECT_EQ(parsed->left_out, Texts{}) << text;
  expect_same_in_our_words(parsed->specs);
  return parsed->specs;
}

/// What is wrong with a text; "" if nothing is.
inline std::string error_of(const std::string& text) {
  const auto parsed = parse_text(text);
  return parsed ? "" : parsed.error().message;
}

/// Why the only resource of another plugin's file is left out; "" if it is not.
inline std::string left_out_of(const std::string& text) {
  const auto parsed = parse_text(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message;
  if (!parsed || parsed->left_out.empty()) return "";
  return parsed->left_out.front();
}

inline Texts warnings_of(const std::string& text) {
  const auto parsed = parse_text(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message;
  return parsed ? parsed->warnings : Texts{};
}

/// A machine with pools. All NICs are compute and well.
struct Pooled {
  node::Node node;
  std::vector<pools::NicStatus> statuses;
  pools::PoolTable table;

  Pooled(node::Node machine, const std::vector<pools::PoolSpec>& specs)
      : node(std::move(machine)),
        statuses(node.nics.size(), pools::NicStatus{"compute", ""}),
        table(pools::make_pools(specs, node, statuses)) {}

  Pooled(node::Node machine, const std::string& text)
      : Pooled(std::move(machine), specs_of(text)) {}

  /// Ids of the members of a pool.
  [[nodiscard]] Texts members(std::size_t pool = 0) const {
    Texts ids;
    for (const auto& member : table.pools.at(pool).members) {
      ids.push_back(table.functions[member.function].id);
    }
    return ids;
  }

  /// Why a function is not in a pool.
  [[nodiscard]] std::string why(const std::string& id, std::size_t pool = 0) const {
    for (std::size_t f = 0; f < table.functions.size(); ++f) {
      if (table.functions[f].id == id) return pools::why_not(table, node, statuses, pool)[f];
    }
    ADD_FAILURE() << "no function " << id;
    return "";
  }

  [[nodiscard]] Texts device_ids(std::size_t pool = 0) const {
    Texts ids;
    for (const auto& device : pools::devices_of(table.pools.at(pool), table.functions)) {
      ids.push_back(device.id);
    }
    return ids;
  }
};

/// A sriov plugin's resource with these selectors (JSON).
inline std::string sriov(const std::string& selectors, const std::string& more = "") {
  return R"({"resourceList": [{"resourceName": "nics", "selectors": )" + selectors + more + "}]}";
}

/// A shared plugin's resource with these selectors (JSON).
inline std::string shared(const std::string& selectors) {
  return R"({"configList": [{"resourceName": "hca", "rdmaHcaMax": 10, "selectors": )" + selectors +
         "}]}";
}

/// The functions of small_server().
constexpr const char* kIb = "0000:11:00.0";
constexpr const char* kEns2 = "0000:12:00.0";
constexpr const char* kIntel = "0000:81:00.0";
constexpr const char* kDefault = "0000:82:00.0";

/// InfiniBand ib0, Ethernet ens2, a card of Intel ens3, and eno1 with the default route, on
/// 0000:11:00.0, 12:00.0, 81:00.0 and 82:00.0.
inline node::Node small_server() {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  const auto left = b.host_bridge(0x10, 0);
  b.nic(b.bridge(left)).netdev("ib0");
  b.nic(b.bridge(left)).ethernet(200).ids(0x15b3, 0x101d).netdev("ens2");
  const auto right = b.host_bridge(0x80, 1);
  b.nic(b.bridge(right)).ethernet(100).ids(0x8086, 0x1592).netdev("ens3");
  b.nic(b.bridge(right)).ethernet(25).netdev("eno1").default_route();
  auto node = b.build();
  for (auto& device : node.pci) device.driver = device.vendor == 0x8086 ? "ice" : "mlx5_core";
  return node;
}

/// Physical functions ens1f0 (0000:11:00.0) with eight VFs (0000:11:01.0 and on) and ens2f0
/// (0000:12:00.0) with none.
inline node::Node vf_server() {
  NodeBuilder b;
  b.numa(0, 0);
  const auto left = b.host_bridge(0x10, 0);
  b.nic(b.bridge(left)).ethernet(200).netdev("ens1f0").virtual_functions(8);
  b.nic(b.bridge(left)).ethernet(200).netdev("ens2f0");
  auto node = b.build();
  for (auto& device : node.pci) device.driver = "mlx5_core";
  return node;
}

}  // namespace railhead::test
