// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pools/pool_spec.h"

namespace railhead::pools {

/// How facts and the values they are compared with are spelt, so that comparing is comparing text.

std::string pci_id_text(std::uint16_t id);  ///< "15b3"
std::string pkey_text(std::uint16_t pkey);  ///< "0x8001"
/// A partition without the bit for full membership: 0x8001 and 0x0001 are one partition.
std::uint16_t partition_of(std::uint16_t pkey);
/// "b8ce:f603:00ab:1234" and "0xb8cef60300ab1234" as "b8cef60300ab1234"; wildcards stay.
std::string guid_text(std::string_view text);

/// A value of our section in the notation of its fact; malformed when it cannot be one.
Result<std::string> in_notation_of(Fact fact, std::string_view text);

}  // namespace railhead::pools
