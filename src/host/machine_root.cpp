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

bool has_text(Host& host, const char* file) {
  const auto text = host.read(file);
  return text && *text && !(*text)->empty();
}

}  // namespace

Status check_machine(Host& host, const std::string& root) {
  for (const auto& mount : kMounts) {
    if (has_text(host, mount.file)) continue;
    const auto names = host.list(mount.folder);
    if (!names) return root == "/" ? names.error() : names.error().context(root);
    if (*names && !(*names)->empty()) continue;
    return Error{ErrorCode::unavailable, (root == "/" ? "" : root) + mount.folder + " is " +
                                             (*names ? "empty" : "not there") + ": " + root +
                                             " is not the root of a machine"};
  }
  return {};
}

Status check_part_of_machine(Host& host, const std::string& root) {
  return has_text(host, kMounts.back().file) ? Status() : check_machine(host, root);
}

}  // namespace railhead::host
