// SPDX-License-Identifier: Apache-2.0
#include "snapshot/write_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <set>

#include "host/directory_host.h"
#include "host/host_error.h"
#include "host/unique_fd.h"
#include "snapshot/snapshot_text.h"

namespace railhead::snapshot {
namespace {

class TreeWriter {
 public:
  TreeWriter(std::string directory, int root, DeviceNodes device_nodes)
      : directory_(std::move(directory)),
        root_(root),
        device_nodes_(device_nodes) {}

  Status write(const Snapshot& snapshot) {
    for (const auto& [path, entry] : snapshot.entries) {
      if (!is_canonical_path(path)) {
        return Error{ErrorCode::usage, path + ": not an absolute plain path"};
      }
      const bool has_below = is_above_another(snapshot, path);
      path_ = path;
      TRY_STATUS(make_parents(path));
      if (has_below) TRY_STATUS(make_directory(path));
      if (!has_below) TRY_STATUS(std::visit(*this, entry));
    }
    for (const auto& [path, target] : links_) {
      path_ = path;
      TRY_STATUS(outcome(::symlinkat(target.c_str(), root_.get(), relative())));
    }
    return {};
  }

  Status operator()(const SnapshotFile& file) {
    host::UniqueFd fd(::openat(root_.get(), relative(), kCreate, 0644));
    if (!fd) return failure();
    std::string_view rest = file.content;
    while (!rest.empty()) {
      const auto size = ::write(fd.get(), rest.data(), rest.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return failure();
      rest.remove_prefix(static_cast<std::size_t>(size));
    }
    return {};
  }

  Status operator()(const SnapshotLink& link) {
    links_.emplace(path_, link.target);
    return {};
  }

  Status operator()(const SnapshotDirectory& /*directory*/) { return make_directory(path_); }

  Status operator()(const host::DeviceNode& node) {
    if (device_nodes_ == DeviceNodes::skip) return {};
    const mode_t type = node.type == 'b' ? S_IFBLK : S_IFCHR;
    const dev_t number = makedev(node.major, node.minor);
    TRY_STATUS(outcome(::mknodat(root_.get(), relative(), type | node.mode, number)));
    TRY_STATUS(outcome(::fchownat(root_.get(), relative(), node.uid, node.gid, 0)));
    return outcome(::fchmodat(root_.get(), relative(), node.mode, 0));  // what umask took
  }

  Status operator()(const SnapshotUnreadable& unreadable) {
    const ErrorCode code = host::host_error(path_, unreadable.error_number).code;
    if (code == ErrorCode::unavailable) {
      links_.emplace(path_, host::base_name(path_));
      return {};
    }
    host::UniqueFd fd(::openat(root_.get(), relative(), kCreate, 0644));
    if (!fd) return failure();
    if (code == ErrorCode::denied) return outcome(::fchmod(fd.get(), 0));
    return outcome(::ftruncate(fd.get(), host::Host::kMaxFileBytes + 1));
  }

  Status operator()(const SnapshotName& /*name*/) {
    return outcome(::mknodat(root_.get(), relative(), S_IFSOCK | 0600, 0));
  }

 private:
  static constexpr int kCreate = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

  static bool is_above_another(const Snapshot& snapshot, const std::string& path) {
    const std::string prefix = path == "/" ? path : path + "/";
    const auto next = snapshot.entries.upper_bound(prefix);
    return next != snapshot.entries.end() && next->first.starts_with(prefix);
  }

  Status make_parents(const std::string& path) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      TRY_STATUS(make_directory(path.substr(0, slash)));
    }
    return {};
  }

  Status make_directory(const std::string& path) {
    if (path == "/" || !directories_.insert(path).second) return {};
    const int result = ::mkdirat(root_.get(), path.c_str() + 1, 0755);
    return result == 0 ? Status() : host::host_error(directory_ + path, errno);
  }

  [[nodiscard]] const char* relative() const { return path_.c_str() + 1; }

  [[nodiscard]] Error failure() const { return host::host_error(directory_ + path_, errno); }

  [[nodiscard]] Status outcome(int result) const { return result == 0 ? Status() : failure(); }

  std::string directory_;
  host::UniqueFd root_;
  DeviceNodes device_nodes_;
  std::string path_;  ///< of the entry being written
  std::set<std::string> directories_;
  std::map<std::string, std::string> links_;
};

Status require_empty(const std::string& directory) {
  auto host = TRY(host::DirectoryHost::open(directory));
  const auto names = TRY(host->list("/"));
  if (names && names->empty()) return {};
  return Error{ErrorCode::usage, directory + ": is not empty"};
}

}  // namespace

Status write_tree(const Snapshot& snapshot, const std::string& directory,
                  DeviceNodes device_nodes) {
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST)
    return host::host_error(directory, errno);
  TRY_STATUS(require_empty(directory));
  const int root = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return host::host_error(directory, errno);
  return TreeWriter(directory, root, device_nodes).write(snapshot);
}

}  // namespace railhead::snapshot
