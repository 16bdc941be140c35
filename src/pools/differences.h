// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "config/config.h"
#include "pools/pool_spec.h"

namespace railhead::pools {

/// What differs for pods from the plugin whose file was read. `railhead migrate` shows
/// all of them; the agent logs those by which a container has NICs or lacks them.
struct Difference {
  std::string_view id;       ///< stays: "nics-without-a-slot"
  std::string_view text;     ///< here, and then there
  std::string_view setting;  ///< which makes it as it was there, or nearly; "" for none
  bool logged = false;
};

/// Those that hold for the plugins whose files or variables these are, under this policy. Sources
/// of our own make none.
std::vector<Difference> differences(const std::vector<config::PoolSource>& sources,
                                    config::GpuPolicy gpus);

/// The plugins whose files or variables these are, each once.
std::vector<PoolFlavour> plugins_of(const std::vector<config::PoolSource>& sources);

}  // namespace railhead::pools
