// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "pools/parse_pools.h"
#include "pools/pool_spec.h"
#include "pools/section.h"

namespace railhead::pools {

/// More slots than this would fill the kubelet's message (4 MiB) for nothing.
inline constexpr std::int64_t kMaxSlots = 65536;
inline constexpr std::int64_t kMaxSlotsPerNic = 1024;

/// `pools:` of our file.
Status parse_our_pools(const config::PoolSource& source, const PoolParseOptions& options,
                       PoolSpecs& into);

/// One entry of `include` or `exclude` there.
Result<Selector> parse_our_selector(Section section, const PoolParseOptions& options,
                                    std::vector<std::string>& warnings);

/// The file of k8s-rdma-shared-dev-plugin.
Status parse_shared_plugin_pools(const config::PoolSource& source, PoolSpecs& into);

/// The file of sriov-network-device-plugin.
Status parse_sriov_plugin_pools(const config::PoolSource& source, const PoolParseOptions& options,
                                PoolSpecs& into);

/// `selectors` of one of its resources, an object or one of a list. `device_type` as written.
Result<Selector> parse_sriov_selector(Section section, const std::string& device_type,
                                      std::vector<std::string>& warnings);

/// The one pool that the file and the variables of k8s-rdma-device-plugin describe together, if
/// any of them says something about a pool.
struct FlatPool {
  bool wanted = false;  ///< a file of that plugin is there, or a variable names the resource
  bool enabled = true;  ///< enableDevicePlugin
  PoolSpec spec = default_pool();
};

Status add_flat_source(const config::PoolSource& source, FlatPool& into,
                       std::vector<std::string>& warnings);

/// A condition on `key` of a plugin's section if it has values; an empty list is no condition.
Status add_condition(Section& section, std::string_view key, Fact fact, Selector& into);

/// The list of resources at `key` of a plugin's file. None is allowed: then the file has no pool,
/// also where it had some before, and a warning says so.
Result<std::span<const data::Value>> resources_of(Section& file, std::string_view key,
                                                  std::vector<std::string>& warnings);

/// `resourcePrefix`/`resourceName` of a plugin's file. The name is made of ASCII letters, digits
/// and `more`.
Result<std::string> read_plugin_name(Section& item, const std::string& default_prefix,
                                     std::string_view more);

/// The resource name, checked where it stands.
Status check_name_at(const std::string& place, const std::string& name);

}  // namespace railhead::pools
