// SPDX-License-Identifier: Apache-2.0
#include "agent/topology_file_keeper.h"

#include <utility>

#include "host/input_file.h"
#include "host/mounts.h"

namespace railhead::agent {
namespace {

/// A node with thousands of containers has some tens of thousands of mounts of 200 bytes.
constexpr std::size_t kMaxMountinfoBytes = std::size_t{32} << 20;

Result<std::optional<host::FilePlace>> place_in(const std::string& mountinfo,
                                                const std::string& path) {
  return host::place_of(TRY(host::read_file_at_once(mountinfo, kMaxMountinfoBytes)), path);
}

Status write_if_other(const node::TextFile& file) {
  const auto there = host::read_file_at_once(file.path, file.text.size() + 1);
  if (there && *there == file.text) return {};
  TRY_STATUS(host::make_folders(file.path.substr(0, file.path.rfind('/'))));
  return host::write_file_atomic(file.path, file.text);
}

}  // namespace

TopologyFileKeeper::TopologyFileKeeper(std::string proc_dir, std::string own_mountinfo)
    : proc_dir_(std::move(proc_dir)),
      own_mountinfo_(std::move(own_mountinfo)) {}

Status TopologyFileKeeper::is_seen_by(int pid, const std::string& path) const {
  const auto ours = TRY(place_in(own_mountinfo_, path));
  const auto theirs = TRY(place_in(proc_dir_ + "/" + std::to_string(pid) + "/mountinfo", path));
  if (ours && ours == theirs) return {};
  return Error{ErrorCode::unavailable,
               path + ": the container runtime (process " + std::to_string(pid) +
                   ") sees another file there: mount the folder of injection.ncclTopoFile from the "
                   "host into the agent"};
}

Status TopologyFileKeeper::provide(const node::TextFile& file,
                                   std::optional<int> runtime_pid) const {
  if (!runtime_pid) {
    return Error{ErrorCode::unavailable,
                 file.path +
                     ": the runtime's process is not known, so nobody knows whether it "
                     "sees this file (host.proc, the host's PID namespace)"};
  }
  TRY_STATUS(write_if_other(file));
  return is_seen_by(*runtime_pid, file.path);
}

}  // namespace railhead::agent
