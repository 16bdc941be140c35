// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "affinity/affinity.h"
#include "features/rails.h"
#include "node/node.h"
#include "system/system.h"
#include "topology/topology.h"

namespace railhead::features {

/// A label of a node: key and value, both as Kubernetes allows them.
struct Feature {
  std::string key;    ///< "railhead.io/rdma.link-layer"
  std::string value;  ///< "InfiniBand"

  friend bool operator==(const Feature&, const Feature&) = default;
};

/// What stays true of a machine while its links go down and come up, except `fabric`, which needs
/// a port that is up. `system` needs kGpuDirectParts. `rails` are rails_since() this or an earlier
/// look.
std::vector<Feature> features_of(const node::Node& node, const topology::Topology& topology,
                                 const affinity::Deal& deal, const system::System& system,
                                 const Rails& rails);

/// A text as the value of a label: at most 63 letters, digits and "-_.", of which the first and the
/// last are letters or digits; "unknown" where nothing of it is left. Source: Kubernetes
/// apimachinery/pkg/util/validation, IsValidLabelValue.
std::string label_value(std::string_view text);

/// What a file says of itself; nothing for what is empty. The texts have no line breaks.
struct FileHead {
  std::string writer;   ///< who wrote it
  std::string boot_id;  ///< the start of the machine that `rails` are of
  Rails rails;
  std::optional<std::chrono::system_clock::time_point> expiry{};
};

/// A file of features of node-feature-discovery, source `local`: "key=value" lines, comments, and
/// directives in comments.
/// Source: node-feature-discovery source/local/local.go; docs/usage/customization-guide.md.
std::string to_feature_file(const std::vector<Feature>& features, const FileHead& head);

/// Whether this writer wrote the file of this text.
bool is_written_by(std::string_view file, std::string_view writer);

/// The rails that the file of this text has for this start of the machine; empty: none.
Rails rails_in(std::string_view file, std::string_view boot_id);

}  // namespace railhead::features
