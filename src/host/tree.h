// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "host/unique_fd.h"

namespace railhead::host {

/// What write() puts in place of a file.
struct FileContent {
  std::string bytes;
  std::uint32_t mode = 0644;         ///< permission bits
  std::optional<std::uint32_t> uid;  ///< absent: whoever writes it
  std::optional<std::uint32_t> gid;

  friend bool operator==(const FileContent&, const FileContent&) = default;
};

/// The process that has an flock(2) on this file, by /proc/locks (proc(5)). Absent: none is there.
std::optional<std::uint64_t> holder_in(std::string_view locks, std::uint64_t device,
                                       std::uint64_t inode);

/// Whether nobody but root, or who runs this program, may have written it.
bool is_written_by_us(const FileContent& content);

/// A directory tree that may be changed: the machine's own ("/"), or one below any folder, such as
/// the host's in a container. Paths are absolute, as on the machine. Links are followed inside the
/// root, never out of it, those at the end of a path, too: what they name is written, and they
/// stay. Errors name the path.
class Tree {
 public:
  static Result<std::unique_ptr<Tree>> open(const std::string& root);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  /// Absent: no such file. What is no regular file, or larger, is an error.
  Result<std::optional<FileContent>> find(const std::string& path,
                                          std::size_t max_bytes = Host::kMaxFileBytes);

  /// Mode and owner of a file or a folder, without bytes. Absent: none is there.
  Result<std::optional<FileContent>> owner_of(const std::string& path);

  /// Writes beside the file and renames, so that a reader, or a crash at any point, finds the old
  /// file or the new one. The folder has to be there. ACLs, SELinux's label and other extended
  /// attributes of a file that is there stay; an error where they cannot.
  Status write(const std::string& path, const FileContent& content);

  /// The same where `known` is still there, bytes, mode and owner (absent: no file). An edit that
  /// somebody made since then stays, and is an error (unavailable): both files change places in one
  /// step of the kernel, and back where the old one is not the known one.
  Status replace(const std::string& path, const std::optional<FileContent>& known,
                 const FileContent& content);

  /// Removes a file, and what a crash in write() left beside it. None there: nothing to do.
  Status remove(const std::string& path);

  /// The same where `known` is still there; an error, and nothing removed, where it is not.
  Status remove_known(const std::string& path, const FileContent& known);

  /// Removes only what a crash in write() left beside the file.
  Status remove_half_written(const std::string& path);

  /// Makes one folder, mode 0755. False: it is there.
  Result<bool> make_folder(const std::string& path);

  /// Removes a folder that is empty; one that is not, is not there, or has something mounted on it,
  /// stays as it is.
  Status remove_folder(const std::string& path);

  /// The bytes of a file that may be larger, `max_bytes` at most. Absent: no such file.
  Result<std::optional<std::string>> read(const std::string& path, std::size_t max_bytes);

  /// A file for reading, links followed inside the root. Absent: no such file.
  Result<std::optional<UniqueFd>> open_file(const std::string& path);

  /// Writes an attribute of sysfs or procfs, in one write(2) as the kernel wants it.
  Status set_attribute(const std::string& path, std::string_view text);

  /// Writes bytes at an offset of a binary attribute, such as the configuration space of a PCI
  /// function, in one pwrite(2).
  Status write_at(const std::string& path, std::uint64_t offset, std::string_view bytes);

  /// Runs a program of the tree, with the tree as its root, until it ends. What it writes is not
  /// passed on. An error names the command, with the last line of it.
  Status run(const std::vector<std::string>& command);

  /// Until the end of the object or of the process nobody else has a lock on this file, which only
  /// its owner can open. False: somebody has. The folders above are made, and go with the file
  /// where nothing else is in them. An error where others than root may write the last one.
  Result<bool> lock(const std::string& path);

  /// Removes the file of the lock, which stays locked. Before the folder of it is removed.
  void remove_lock_file();

  /// Whether lock() made this folder.
  [[nodiscard]] bool has_made(const std::string& folder) const;

  /// The process that kept lock() from it. Absent: none is to be seen from here.
  std::optional<std::uint64_t> lock_holder();

  /// Whether /sys and /proc of the tree are those of a running kernel.
  [[nodiscard]] bool is_live();

 private:
  explicit Tree(UniqueFd root)
      : root_(std::move(root)) {}

  /// A folder of the tree and a name in it that is no link.
  struct Place {
    UniqueFd folder;
    std::string name;
  };

  Result<Place> place_of(const std::string& path);
  Result<Place> new_file_beside(const std::string& path, const FileContent& content);
  Result<bool> take_lock(const std::string& path);
  int open_below(const std::string& path, int flags) const;
  bool is_of_kernel(const std::string& path, long magic) const;

  UniqueFd root_;
  UniqueFd lock_;
  std::string lock_path_;
  std::vector<std::string> made_;  ///< folders, for the lock
};

}  // namespace railhead::host
