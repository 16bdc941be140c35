// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "snapshot/snapshot.h"

namespace railhead::test {

/// Makes the directory tree of a snapshot without device nodes and unreadable entries, so that a
/// DirectoryHost and a SnapshotHost can be asked the same.
inline void make_tree(const snapshot::Snapshot& snapshot, const std::string& root) {
  namespace fs = std::filesystem;
  fs::create_directories(root);
  for (const auto& [path, entry] : snapshot.entries) {
    const fs::path at = root + path;
    fs::create_directories(at.parent_path());
    if (std::holds_alternative<snapshot::SnapshotDirectory>(entry)) fs::create_directories(at);
    if (const auto* file = std::get_if<snapshot::SnapshotFile>(&entry)) {
      std::ofstream(at) << file->content;
    }
    // A socket that nobody listens on is a name whose content every host answers as absent.
    if (std::holds_alternative<snapshot::SnapshotName>(entry)) {
      ::mknod(at.c_str(), S_IFSOCK | 0600, 0);
    }
  }
  // Last, so that nothing is written through a link.
  for (const auto& [path, entry] : snapshot.entries) {
    if (const auto* link = std::get_if<snapshot::SnapshotLink>(&entry)) {
      fs::create_symlink(link->target, root + path);
    }
  }
}

}  // namespace railhead::test
