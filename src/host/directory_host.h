// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "host/host.h"
#include "host/unique_fd.h"

namespace railhead::host {

/// A directory tree as a machine; the live machine is the tree "/". Everything is resolved from one
/// descriptor of the root, and no link leads out of it: an absolute one starts at the root, ".."
/// ends there, and magic links of procfs are refused.
class DirectoryHost : public Host {
 public:
  /// The error names the directory.
  static Result<std::unique_ptr<Host>> open(const std::string& root);

  /// How a path is found below the root. `walk` is the fallback for kernels before 5.6 and
  /// sandboxes without openat2(2).
  enum class Resolver : std::uint8_t { openat2, walk };
  static Result<std::unique_ptr<Host>> open_with(const std::string& root, Resolver resolver);

  /// A tree that others change while it is read, such as the root of a container (/proc/PID/root,
  /// the one magic link that is followed): nothing but a regular file is ever opened for reading,
  /// since opening a device alone can have effects.
  static Result<std::unique_ptr<Host>> open_foreign(const std::string& root);

  Result<std::optional<std::string>> read(const std::string& path) override;
  Result<std::optional<std::string>> readlink(const std::string& path) override;
  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override;
  Result<std::optional<LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override;
  Result<std::optional<DeviceNode>> device(const std::string& path) override;
  /// The kernel is asked where the root shows its living sysfs, as the live machine does.
  Result<std::optional<std::string>> rdma(const RdmaDump& dump) override;
  Result<std::optional<std::vector<TcpSocket>>> tcp_sockets(const std::string& link) override;
  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override;
  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   LinkPart part) override;

 private:
  DirectoryHost(UniqueFd root, Resolver resolver)
      : root_(std::move(root)),
        resolver_(resolver) {}

  /// No descriptor, and errno, where it cannot be opened.
  [[nodiscard]] UniqueFd open_below(const std::string& path, int flags);
  /// A directory, from the few that were used last, else opened. -1 and errno.
  int directory_at(std::string_view path);
  /// The same if it is at hand, else -1.
  int known_directory(std::string_view path);
  UniqueFd open_directory(std::string_view path);
  void keep_directory(std::string_view path, UniqueFd descriptor);
  /// readlink(2) of a path that has its directory in /sys. -1 and errno.
  ssize_t read_link_below(const std::string& path, char* target, std::size_t size);
  /// stat(2) of what the path names, links followed. False, with errno, where it cannot be found.
  bool stat_below(const std::string& path, struct stat& facts);
  /// The file for reading; of a foreign tree only a regular one. None, and errno, else.
  UniqueFd open_file(const std::string& path);
  Result<std::optional<std::string>> read_attribute(const std::string& path, int file);
  Result<bool> is_sysfs(const std::string& path);

  // Attributes of one device are read one after the other: the way to their directory is resolved
  // once, from the directory above it where that is at hand. Only below /sys, and of nodes in
  // /dev/infiniband: a host that lives longer than one reading reads processes, and the directory
  // of one that ended must not answer for another with its number.
  struct Parent {
    std::string path;
    std::size_t hash = 0;  ///< of the path: those of siblings differ in their last bytes only
    UniqueFd descriptor;
    std::uint64_t used = 0;  ///< when it was used last, in uses
  };

  UniqueFd root_;
  Resolver resolver_;
  bool foreign_ = false;
  bool has_real_sysfs_ = false;  ///< and not a tree of files that hostile hands may have made
  std::array<Parent, 12> parents_;
  std::uint64_t uses_ = 0;
};

}  // namespace railhead::host
