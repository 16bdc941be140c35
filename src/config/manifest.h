// SPDX-License-Identifier: Apache-2.0
// The Kubernetes objects by which the plugins' files come to a node, as they are printed and
// applied.
#pragma once

#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "data/value.h"

namespace railhead::config {

/// A ConfigMap, or a policy of NVIDIA's network operator.
bool is_manifest(const data::Value& root);

/// The files that a manifest holds: each text below `data` of a ConfigMap, and the `config` of both
/// device plugins in a policy. Places in a text that is written as a block are those of the
/// manifest; the name of any other text has its path. Malformed: it holds none; too_large: more
/// than 256.
Result<std::vector<ConfigFile>> files_in_manifest(const ConfigFile& manifest,
                                                  const data::Value& root);

}  // namespace railhead::config
