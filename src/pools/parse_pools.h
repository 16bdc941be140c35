// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "pools/pool_spec.h"

namespace railhead::pools {

/// What the reader of pools has to know.
struct PoolParseOptions {
  /// For SR-IOV plugin resources without `resourcePrefix`: that plugin's flag --resource-prefix.
  std::string sriov_prefix = "intel.com";
  std::vector<std::string> roles;  ///< every word that `roles:` of a selector may say
  /// What a running agent has. A resource of another plugin's file that cannot be read any more
  /// stays as it is there.
  std::vector<PoolSpec> in_force;
};

struct PoolSpecs {
  std::vector<PoolSpec> specs;        ///< in the order of the sources; names are unique
  std::vector<std::string> warnings;  ///< each names file, line, column and key
  /// Resources of other plugins' files that cannot be used, each with its place and why. They are
  /// not in `specs`, or there as they were.
  std::vector<std::string> left_out;
};

/// All pools of all sources. Nothing configured: the default pool. In our section anything that is
/// wrong is an error, and then there are no specs. In the files of the two plugins that have a list
/// of resources an unknown key is a warning, and a resource that is wrong is left out by itself.
Result<PoolSpecs> parse_pools(const std::vector<config::PoolSource>& sources,
                              const PoolParseOptions& options);

}  // namespace railhead::pools
