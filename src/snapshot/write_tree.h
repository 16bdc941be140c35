// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "snapshot/snapshot.h"

namespace railhead::snapshot {

enum class DeviceNodes : std::uint8_t {
  skip,  ///< absent then; what sysfs says of them (`dev`) is enough for the reader
  make,  ///< mknod(2), which needs CAP_MKNOD
};

/// Makes the directory tree of a snapshot, which DirectoryHost then reads as the same machine.
/// `directory` is made, or has to be empty. A failure names the path and leaves an incomplete tree.
///
/// Symbolic links are written as they stand, last, so nothing is written through them. A name
/// without content becomes a socket nobody listens on, which every host answers as absent. What
/// could not be read fails again as far as a file system can be made to: a link to itself for
/// unavailable, a hole above the limit for too_large, and no permissions (which root does not see)
/// for denied.
Status write_tree(const Snapshot& snapshot, const std::string& directory,
                  DeviceNodes device_nodes = DeviceNodes::skip);

}  // namespace railhead::snapshot
