// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "base/contains.h"

namespace railhead::lint {

/// PCI device ids of mlx5 virtual functions: 101e of all newer NICs, one each of the older.
/// Source: Linux drivers/net/ethernet/mellanox/mlx5/core/main.c (mlx5_core_pci_table).
inline constexpr std::array<std::string_view, 6> kVirtualIds = {"1014", "1016", "1018",
                                                                "101a", "101c", "101e"};

constexpr bool is_virtual_id(std::string_view id) {
  return contains(kVirtualIds, id);
}

}  // namespace railhead::lint
