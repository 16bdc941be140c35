// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pools/pools.h"

namespace railhead::pools {

/// What the kubelet asks for: so many of `available`, among them all of `must_include`.
struct Wish {
  std::vector<std::string> available;
  std::vector<std::string> must_include;
  std::size_t size = 0;
  PoolPreference how = PoolPreference::spread;
};

/// Which devices a container had best get: those that it must have, then one after the other, each
/// * on a link (NetFunction::link) of which it has the fewest devices so far, so that several
///   devices are several links, where there are as many;
/// * on the NUMA nodes of what it has;
/// * near that in the PCIe tree: the deeper the last bridge in common, the nearer;
/// * on the link, and there of the function, with the fewest devices taken.
/// With PoolPreference::pack the first and the last are turned round: on a link of which it has the
/// most, and on the one with the most taken, so that other links stay whole.
/// Where there is nothing that it must have, it begins where the whole comes out best by the same
/// measures. The same answer for the same question, whatever its order. Fewer than asked where
/// there are fewer; ids that the pool does not know come last. The time goes with the number of
/// devices, and with the square of the number of links.
std::vector<std::string> prefer(const std::vector<PoolDevice>& devices,
                                const std::vector<NetFunction>& functions, const Wish& wish);

/// The same for all devices of a pool. Slots of a fungible pool are all alike, so none is ranked:
/// what must be included is taken, then what is offered first. The time goes with Wish::size.
std::vector<std::string> prefer(const Pool& pool, const std::vector<NetFunction>& functions,
                                const Wish& wish);

}  // namespace railhead::pools
