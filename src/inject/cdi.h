// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "node/node.h"

namespace railhead::inject {

/// The device nodes behind Container Device Interface names, from the spec files of the node.
/// Source: CNCF CDI specification, 0.3 to 1.0.
class CdiRegistry {
 public:
  /// Parses every file (JSON or YAML). A file that cannot be parsed is left out and reported.
  static CdiRegistry from_files(const std::vector<node::TextFile>& files,
                                std::vector<node::Problem>& problems);

  /// Device node paths of a fully qualified name ("nvidia.com/gpu=0"), those of the kind's common
  /// edits not included; absent if no spec defines it.
  [[nodiscard]] const std::vector<std::string>* device_paths(std::string_view qualified_name) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> paths_;
};

}  // namespace railhead::inject
