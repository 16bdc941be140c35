// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "config/config.h"
#include "pools/parse_pools.h"
#include "pools/pools.h"
#include "pools/write_pools.h"
#include "unit/node_builder.h"

namespace {

railhead::node::Node make_machine() {
  railhead::test::NodeBuilder b;
  b.numa(0, 0);
  const auto root = b.host_bridge(0x10, 0);
  b.nic(b.bridge(root)).netdev("ib0");
  b.nic(b.bridge(root)).ethernet(200).netdev("ens1f0").virtual_functions(4);
  b.nic(b.bridge(root)).ethernet(25).netdev("eno1").default_route();
  b.soft_nic("rxe0", "eno1");
  return b.build();
}

void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

/// A file of any bytes as configuration: specs that our words can say, and whose pools keep their
/// promises, or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace railhead;
  const auto config = config::make_config(
      {{{"fuzz", std::string(reinterpret_cast<const char*>(data), size)}}, {}, {}});
  if (!config) return 0;
  const auto parsed =
      pools::parse_pools(config->pool_sources(), {"intel.com", {"compute", "storage"}});
  if (!parsed) return 0;
  std::vector<std::string> left_out;
  const auto again = config::make_config(
      {{{"again", data::to_yaml({{"pools", pools::write_pools(parsed->specs, left_out)}})}},
       {},
       {}});
  require(static_cast<bool>(again));
  require(
      static_cast<bool>(pools::parse_pools(again->pool_sources(), {"", {"compute", "storage"}})));
  const node::Node node = make_machine();
  const std::vector<pools::NicStatus> statuses(node.nics.size(), pools::NicStatus{"compute", ""});
  const auto table = pools::make_pools(parsed->specs, node, statuses);
  std::set<std::string> names;
  std::set<std::size_t> exclusive;
  for (std::size_t p = 0; p < table.pools.size(); ++p) {
    const auto& pool = table.pools[p];
    require(names.insert(pool.spec.name).second);
    const auto devices = pools::devices_of(pool, table.functions);
    require(devices.size() == pools::device_count(pool));
    std::set<std::string> ids;
    for (const auto& device : devices) {
      require(!device.id.empty() && device.id.size() <= pools::kMaxDeviceIdLength);
      require(ids.insert(device.id).second);
      require(pools::member_of_device(table, pool, device.id) == device.member);
    }
    const auto reasons = pools::why_not(table, node, statuses, p);
    for (const auto& member : pool.members) {
      require(reasons[member.function].empty());
      if (pool.spec.mode == pools::PoolMode::exclusive)
        require(exclusive.insert(member.function).second);
    }
    for (std::size_t f = 0; f < reasons.size(); ++f) {
      require(!reasons[f].empty() || !table.exclusive[f] || *table.exclusive[f] == p);
    }
  }
  return 0;
}
