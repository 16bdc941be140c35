// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
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
  bool is_beyond_us = false;  ///< it has more than we parse, and may be right
};

/// Files as somebody would leave them; absent: gone. What is not in it is as it is.
using ChangedFiles = std::map<std::string, std::optional<std::string>>;

/// What containerd reads: its file, then those that `imports` name, theirs too, in its order. Only
/// what has a "*" is a pattern there, of Go's filepath.Glob
/// (cmd/containerd/server/config/config.go, LoadConfig and resolveImports).
struct ContainerdFiles {
  /// An import and the file that has it.
  struct Import {
    std::string path;
    std::string pattern;
  };

  std::string path;                          ///< of the main file, there or not
  bool is_named = false;                     ///< by the command line: then it has to be there
  std::vector<ConfigFile> files;             ///< the main one first
  std::vector<std::string> drop_in_folders;  ///< those of patterns such as "…/conf.d/*.toml"
  std::vector<Import> bad_patterns{};        ///< that Go does not take
  std::vector<Import> unread{};              ///< imports whose files are not known
};

/// How containerd's NRI plugin is called below [plugins]; the short name is that of containerd 1 in
/// files of version 1.
inline constexpr std::string_view kNriPlugin = "io.containerd.nri.v1.nri";
inline constexpr std::string_view kNriPluginBefore2 = "nri";

/// How the CRI plugin is called there, in files of version 3, 2 and 1.
inline constexpr auto kCriPlugins = std::to_array<std::string_view>(
    {"io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri", "cri"});

/// Entries of a map whose key is this one in any case, as Go's TOML libraries find it, in the order
/// of the text.
std::vector<const data::Value::Entry*> entries_in_any_case(const data::Value& map,
                                                           std::string_view key);

ContainerdFiles read_containerd_files(host::Host& host, const std::string& main, bool is_named,
                                      const ChangedFiles& changed = {});

/// What CRI-O reads: its file, then those below the folder of drop-ins, in the order of a walk; the
/// last one counts (cri-o/cri-o pkg/config/config.go, UpdateFromPath).
struct CrioFiles {
  /// What the command line says of them and of NRI; "": nothing.
  struct Options {
    std::string config = "/etc/crio/crio.conf";
    bool is_named = false;  ///< the command line has it: then it has to be there
    std::string folder = "/etc/crio/crio.conf.d";
    std::string enable_nri{};  ///< "true", "false", or another text
    std::string nri_listen{};
    std::string nri_disable_connections{};
  };

  Options options{};
  std::vector<ConfigFile> files{};
  std::vector<ContainerdFiles::Import> unread{};  ///< folders that could not be read
};

/// What arguments say of NRI.
CrioFiles::Options crio_options(const std::vector<std::string>& arguments);

CrioFiles read_crio_files(host::Host& host, CrioFiles::Options options,
                          const ChangedFiles& changed = {});

}  // namespace railhead::system
