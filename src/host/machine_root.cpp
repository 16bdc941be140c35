// SPDX-License-Identifier: Apache-2.0
#include "host/machine_root.h"

#include <array>

namespace railhead::host {
namespace {

struct Mount {
  const char* folder;
  const char* file;  ///< of every kernel: it spares a list of all processes
};

constexpr std::array kMounts = {Mount{"/sys", "/sys/kernel/uevent_seqnum"},
                                Mount{"/proc", "/proc/sys/kernel/osrelease"}};

}  // namespace

Status check_machine(Host& host, const std::string& root) {
  for (const auto& mount : kMounts) {
    const auto text = host.read(mount.file);
    if (text && *text) continue;
    const auto names = host.list(mount.folder);
    if (!names) return root == "/" ? names.error() : names.error().context(root);
    if (*names && !(*names)->empty()) continue;
    return Error{ErrorCode::unavailable, (root == "/" ? "" : root) + mount.folder + " is " +
                                             (*names ? "empty" : "not there") + ": " + root +
                                             " is not the root of a machine"};
  }
  return {};
}

}  // namespace railhead::host
