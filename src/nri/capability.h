// SPDX-License-Identifier: Apache-2.0
// What a runtime's release does with what a plugin says. A runtime ignores fields it does not know
// or has not wired, without an error: the agent has to know, and to say so.
//
// Source: containerd/nri README feature table, and containerd's and CRI-O's go.mod and NRI glue at
// each release's tag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railhead::nri {

/// What a runtime has, or what a configuration needs of it.
struct RuntimeFeatures {
  bool rlimits = false;         ///< applies ContainerAdjustment.rlimits
  bool failure_policy = false;  ///< NRI 0.12.4: keep_connected and fail_request
};

/// `version` as Configure gives it: with or without "v", with git's or Debian's suffixes. A
/// pre-release counts as older than its release. A name or version that is not recognised is taken
/// for the newest release: refusing to ask for what probably works would be worse than asking in
/// vain.
RuntimeFeatures features_of(std::string_view name, std::string_view version);

/// One sentence for each wanted feature that the runtime does not have, such as
/// "containerd 1.7.5 ignores RLIMIT_MEMLOCK from NRI plugins (needs 1.7.7)".
std::vector<std::string> missing_features(const RuntimeFeatures& wanted, std::string_view name,
                                          std::string_view version);

}  // namespace railhead::nri
