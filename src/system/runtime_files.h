// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/value.h"
#include "system/fact.h"

namespace railhead::system {

/// A configuration file as it is now.
struct ConfigFile {
  std::string path;
  std::string text;
  Fact<data::Value> content;
};

/// What containerd reads: its file, then those that `imports` name, theirs too. A pattern is
/// expanded in its last component (cmd/containerd/server/config/config.go, LoadConfig).
struct ContainerdFiles {
  std::string path;                          ///< of the main file, there or not
  std::vector<ConfigFile> files;             ///< the main one first
  std::vector<std::string> drop_in_folders;  ///< those of patterns such as "…/conf.d/*.toml"

  /// 1 where the main file does not say it.
  [[nodiscard]] int version() const;
};

/// How containerd's NRI plugin is called below [plugins], and before version 2 of the file.
inline constexpr std::string_view kNriPlugin = "io.containerd.nri.v1.nri";
inline constexpr std::string_view kNriPluginBefore2 = "nri";

/// What one of containerd's files, or of CRI-O's, says of NRI; nullptr: nothing.
const data::Value* containerd_nri_section(const ConfigFile& file);
const data::Value* crio_nri_section(const ConfigFile& file);

ContainerdFiles read_containerd_files(host::Host& host, const std::string& main);

/// crio.conf and its drop-ins, in the order in which CRI-O reads them; the last one counts
/// (crio.conf.d(5)).
std::vector<ConfigFile> read_crio_files(host::Host& host);

}  // namespace railhead::system
