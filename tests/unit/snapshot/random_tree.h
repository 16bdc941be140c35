// SPDX-License-Identifier: Apache-2.0
//
// Machines and questions made by chance (with a seed), for properties that hold for all of them.
#pragma once

#include <cerrno>
#include <random>
#include <string>

#include "snapshot/snapshot.h"

namespace railhead::test {

enum class Oddities : bool {
  none,  ///< only what an ordinary file system can hold
  some,  ///< device nodes and entries that fail
};

class RandomTree {
 public:
  RandomTree(unsigned seed, Oddities oddities)
      : random_(seed),
        oddities_(oddities) {
    fill("", 0);
  }

  [[nodiscard]] const snapshot::Snapshot& snapshot() const { return snapshot_; }

  /// A path that often leads somewhere, through links, "." and "..".
  std::string path() {
    std::string path;
    for (unsigned parts = 1 + pick(6); parts > 0; --parts) path += "/" + step();
    return path;
  }

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

 private:
  std::string name() { return std::string(1, static_cast<char>('a' + pick(4))); }

  std::string step() {
    switch (pick(8)) {
      case 0: return "..";
      case 1: return pick(3) == 0 ? "." : "..";
      default: return name();
    }
  }

  std::string target() {
    std::string target = pick(3) == 0 ? "/" : "";
    for (unsigned parts = 1 + pick(4); parts > 0; --parts) {
      target += step() + (parts > 1 ? "/" : "");
    }
    return target;
  }

  void fill(const std::string& directory, int depth) {
    for (const char* child : {"a", "b", "c", "d"}) {
      const std::string path = directory + "/" + child;
      const unsigned kinds = oddities_ == Oddities::some ? 11 : 8;
      switch (pick(kinds)) {
        case 0: break;
        case 1: snapshot_.entries.emplace(path, snapshot::SnapshotLink{target()}); break;
        case 2: snapshot_.entries.emplace(path, snapshot::SnapshotLink{target()}); break;
        case 3: snapshot_.entries.emplace(path, snapshot::SnapshotFile{path + "\n"}); break;
        case 4: snapshot_.entries.emplace(path, snapshot::SnapshotName{}); break;
        case 5:
        case 6:
        case 7:
          snapshot_.entries.emplace(path, snapshot::SnapshotDirectory{});
          if (depth < 4) fill(path, depth + 1);
          break;
        case 8:
          snapshot_.entries.emplace(path, host::DeviceNode{'c', pick(9), 1, 0600, 0, 0});
          break;
        case 9: snapshot_.entries.emplace(path, snapshot::SnapshotUnreadable{EINVAL}); break;
        default: snapshot_.entries.emplace(path, snapshot::SnapshotUnreadable{EACCES}); break;
      }
    }
  }

  std::mt19937 random_;
  Oddities oddities_;
  snapshot::Snapshot snapshot_;
};

}  // namespace railhead::test
