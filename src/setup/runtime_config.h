// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/value.h"
#include "setup/machine.h"

namespace railhead::setup {

/// A configuration file of a container runtime.
struct RuntimeFile {
  std::string path;
  std::string text;
  data::Value toml;
};

/// What containerd reads: its file, then those that `imports` name, theirs too. A pattern is
/// expanded in its last component (cmd/containerd/server/config/config.go, LoadConfig).
struct ContainerdConfig {
  std::string path;  ///< of the main file, there or not
  std::vector<RuntimeFile> files;
  std::vector<std::string> drop_in_folders;  ///< those of patterns such as "…/conf.d/*.toml"

  /// The error names the file, and the place in it.
  static Result<ContainerdConfig> read(host::Host& host, const std::string& path);

  /// 1 where no file says it; the main one counts.
  [[nodiscard]] int version() const;
};

/// The file that a running containerd was started with, else the default.
std::string containerd_config_path(host::Host& host);

/// crio.conf and its drop-ins, in the order in which CRI-O reads them; the last one counts. Empty
/// where there is none.
Result<std::vector<RuntimeFile>> read_crio_config(host::Host& host);

}  // namespace railhead::setup
