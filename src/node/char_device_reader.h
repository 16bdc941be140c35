// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/node.h"
#include "node/reader.h"

namespace railhead {

/// Character devices of one RDMA device.
struct RdmaCharDevices {
  std::vector<CharDevice> uverbs;
  std::vector<CharDevice> umads;  ///< by port
  std::vector<CharDevice> issms;  ///< by port
  std::string parent{};           ///< folder of the device that carries them; "" when not known
  std::optional<PciAddress> pci{};
};

/// By RDMA device name. The number in uverbsN is not the number in mlx5_N: what belongs together is
/// said by the attribute `ibdev`. Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
std::map<std::string, RdmaCharDevices> read_char_devices(Reader& reader);

/// /dev/infiniband/rdma_cm; absent where neither sysfs nor /dev has it.
std::optional<CharDevice> read_rdma_cm(Reader& reader);

}  // namespace railhead
