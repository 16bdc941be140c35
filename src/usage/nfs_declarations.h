// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace railhead::usage {

/// Where it is written down that an NFS file system is to be mounted, and how.
struct NfsDeclaration {
  std::string where;  ///< "/etc/fstab", "/etc/systemd/system/data.mount", "PersistentVolume data"
  std::string server;
  std::string path;         ///< of the export
  std::string mount_point;  ///< as the kernel would write it, links not followed; of a volume empty
  std::string options;      ///< "rdma,port=20049"
  /// Mounted by hand, on first use or with a pod: its absence says nothing.
  bool deferred = false;
  std::string refused;  ///< why it is never mounted; empty: it is

  friend bool operator==(const NfsDeclaration&, const NfsDeclaration&) = default;
};

/// Lines of another shape or type are not ours.
std::vector<NfsDeclaration> parse_fstab(std::string_view fstab);

/// A mount unit of systemd, and its drop-ins after it. Absent where it is not of NFS, or has a
/// specifier in it (%i), which only systemd knows. `name` is that of the unit; one that is not made
/// of the mount point is refused by systemd (src/core/mount.c, mount_verify(); systemd.mount(5)).
std::optional<NfsDeclaration> parse_mount_unit(const std::string& where, std::string_view name,
                                               std::string_view text);

/// The name of the unit that mounts there: "mnt-ai\\x2ddata.mount" for "/mnt/ai-data". Source:
/// systemd.unit(5), "String Escaping for Inclusion in Unit Names".
std::string mount_unit_name(std::string_view place);

/// What the mount units below /etc, /run and /usr say, and then /etc/fstab. `unknown` gets what
/// could not be read.
std::vector<NfsDeclaration> read_nfs_declarations(host::Host& host,
                                                  std::vector<std::string>& unknown);

/// What a recording keeps of /etc/fstab, and of the files of a mount unit: the lines of NFS with
/// the options that NFS knows. Those of other file systems may be passwords. "" for a file of a
/// unit that is not of NFS.
std::string kept_fstab(std::string_view fstab);
std::string kept_mount_unit(std::string_view text);

/// A text of YAML or JSON documents, as kubectl prints them, lists included: the mount units of
/// each MachineConfig, and each PersistentVolume of NFS or of the NFS CSI driver. Other kinds are
/// not ours. Errors name the file and the line.
Result<std::vector<NfsDeclaration>> parse_nfs_manifests(const std::string& file,
                                                        std::string_view text);

}  // namespace railhead::usage
