// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "affinity/affinity.h"
#include "node/node.h"

namespace railhead::features {

/// Rails that are named one by one; of a machine with more the number is all that is said.
inline constexpr std::size_t kMostRails = 32;

/// Where a compute card is.
struct RailPlace {
  node::PciAddress slot;     ///< function 0
  std::string sub_function;  ///< "mlx5_core.sf.2"; "": the card is no sub-function

  friend auto operator<=>(const RailPlace&, const RailPlace&) = default;
};

/// The compute cards that were seen since the machine was started, in the order of their places. A
/// card's number is its position, so one that has gone (a NIC that fell off the bus) moves no
/// other.
using Rails = std::vector<RailPlace>;

/// `before` with the machine as it is now: what came is in, what has gone stays in, and what is
/// there and no compute card any more is out. Empty where places do not tell cards apart (soft
/// devices), and above kMostRails: then a card's number is its position in the deal.
Rails rails_since(const Rails& before, const node::Node& node, const affinity::Deal& deal);

/// The number of the deal's card.
std::size_t rail_number(const Rails& rails, const node::Node& node, const affinity::Deal& deal,
                        std::size_t card);

/// "0000:18:00.0 0000:2a:00.0/mlx5_core.sf.2", and back; empty for a text that is none.
std::string to_text(const Rails& rails);
Rails parse_rails(std::string_view text);

}  // namespace railhead::features
