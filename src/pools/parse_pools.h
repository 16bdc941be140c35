// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "pools/pool_spec.h"

namespace railhead::pools {

/// What the reader of pools has to be told.
struct PoolParseOptions {
  /// For SR-IOV plugin resources without `resourcePrefix`: that plugin's flag --resource-prefix.
  std::string sriov_prefix = "intel.com";
  std::vector<std::string> roles;  ///< every word that `roles:` of a selector may say
};

struct PoolSpecs {
  std::vector<PoolSpec> specs;        ///< in the order of the sources; names are unique
  std::vector<std::string> warnings;  ///< each names file, line, column and key
};

/// All pools of all sources. Nothing configured: the default pool. In our section an unknown key is
/// an error, in other plugins' files a warning; what those plugins refuse to start with is an error
/// here, too. Any error and there are no specs.
Result<PoolSpecs> parse_pools(const std::vector<config::PoolSource>& sources,
                              const PoolParseOptions& options);

}  // namespace railhead::pools
