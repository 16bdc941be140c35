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

/// What containerd reads: its file, then those that `imports` name, theirs too. Only what has a "*"
/// is a pattern there, of Go's filepath.Glob (cmd/containerd/server/config/config.go,
/// resolveImports). Here it is expanded in its last component, with * and ?.
struct ContainerdFiles {
  std::string path;                          ///< of the main file, there or not
  std::vector<ConfigFile> files;             ///< the main one first
  std::vector<std::string> drop_in_folders;  ///< those of patterns such as "…/conf.d/*.toml"
  std::vector<std::string> unread{};         ///< patterns that are not expanded here

  /// 1 where the main file does not say it.
  [[nodiscard]] int version() const;
};

/// How containerd's NRI plugin is called below [plugins]; the short name is that of containerd 1 in
/// files of version 1.
inline constexpr std::string_view kNriPlugin = "io.containerd.nri.v1.nri";
inline constexpr std::string_view kNriPluginBefore2 = "nri";

/// The name that counts in this file. In one of version 1 containerd 1.7 goes by the short one, and
/// containerd 2 by the long one; in others both go by the long one. Seen by `containerd config
/// dump` of 1.7, 2.0, 2.2 and 2.4.
std::string_view containerd_nri_plugin(const ContainerdFiles& all, const ConfigFile& file);

/// What one of containerd's files, or of CRI-O's, says of NRI; nullptr: nothing.
const data::Value* containerd_nri_section(const ContainerdFiles& all, const ConfigFile& file);
const data::Value* crio_nri_section(const ConfigFile& file);

ContainerdFiles read_containerd_files(host::Host& host, const std::string& main);

/// crio.conf and its drop-ins, in the order in which CRI-O reads them; the last one counts
/// (crio.conf.d(5)).
std::vector<ConfigFile> read_crio_files(host::Host& host,
                                        const std::string& main = "/etc/crio/crio.conf",
                                        const std::string& drop_ins = "/etc/crio/crio.conf.d");

}  // namespace railhead::system
