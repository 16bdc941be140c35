// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pools/pools.h"

namespace railhead {

/// What the kubelet asks for: so many of `available`, among them all of `must_include`.
struct Wish {
  std::vector<std::string> available;
  std::vector<std::string> must_include;
  std::size_t size = 0;
};

/// Which devices a container had best get: those that it must have, then NICs on the NUMA nodes of
/// what is chosen so far, each time from the NIC with the fewest slots taken. The same answer for
/// the same question, whatever its order. Fewer than asked where there are fewer; ids that the pool
/// does not know come last.
std::vector<std::string> prefer(const std::vector<PoolDevice>& devices, const Wish& wish);

}  // namespace railhead
