// SPDX-License-Identifier: Apache-2.0
//
// Configuration space of the machine's functions, as checks look at it.
#pragma once

#include "checks/check.h"

namespace railhead::checks {

using ConfigFact = system::Fact<node::PciConfig>;

inline constexpr unsigned kMellanoxVendor = 0x15b3;

/// nullptr where it could not be read.
const node::PciConfig* known_config(const Machine& machine, const node::PciAddress& address);

/// Why the registers of a function are not known: for UNKNOWN. Nothing where they are.
std::optional<Evidence> unknown_config(const Machine& machine, const node::PciAddress& address);

}  // namespace railhead::checks
