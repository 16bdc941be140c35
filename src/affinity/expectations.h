// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "affinity/affinity.h"

namespace railhead::affinity {

/// What the operator expects of one NIC.
struct ExpectedNic {
  /// All of it is unused by design, as this entry says; null: it is not.
  const Expectation* unused = nullptr;
  /// Ports that are unused by design, where others of the NIC are not.
  std::vector<unsigned> unused_ports;
  /// Of the NICs of this entry one is expected to be up; null: no such entry.
  const Expectation* one_up = nullptr;
  /// The rate that is expected; null: none is.
  const Expectation* rate = nullptr;

  [[nodiscard]] bool is_unused(unsigned port) const;
};

/// Of every NIC, in the node's order; points into `expect`. The first entry of a kind that matches
/// a NIC counts, and every entry of unused ports.
std::vector<ExpectedNic> expected_of(const node::Node& node,
                                     const std::vector<Expectation>& expect);

/// Why a NIC is slower than expected: "port 1 runs at 100 Gbit/s, and 200 are expected
/// (config.yaml:4:5)". "" where it is not, no rate is expected or none is known, or no port is
/// ACTIVE.
std::string too_slow(const node::Nic& nic, const ExpectedNic& expected);

/// "unused by design (config.yaml:4:5)"
std::string unused_text(const Expectation& entry);

}  // namespace railhead::affinity
