// SPDX-License-Identifier: Apache-2.0
// The keys of selectors, a row for each Fact. The parsers and the judge go over the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "node/node.h"
#include "pools/function_index.h"
#include "pools/pool_spec.h"
#include "pools/pools.h"

namespace railhead::pools {

using Test = std::function<bool(std::string_view)>;

/// What a row is asked of: a function, or each of its RDMA devices or their ports.
enum class AskedOf : std::uint8_t { function, device, nic, port };

struct Known {
  const node::Node& node;
  const FunctionIndex& by_address;
  const NetFunction& function;
  const node::PciDevice* device = nullptr;  ///< not null where AskedOf says so, as the others
  const node::Nic* nic = nullptr;
  const NicStatus* status = nullptr;  ///< of the NIC; may be null
  const node::Port* port = nullptr;
};

/// Devices of sriov-network-device-plugin for which it looks at a key.
enum class SriovDevices : std::uint8_t { all, net, auxiliary };

/// How what is known is compared with the values of a condition.
enum class Comparing : std::uint8_t {
  texts,      ///< by Condition::match
  functions,  ///< with Condition::functions
  least,      ///< with the one number, which it must not be below
  prefixes,   ///< with AddressPrefix
};

inline constexpr std::string_view kUnknown = "not known";

struct SelectorRow {
  Fact fact;
  std::string_view key;         ///< of our section; "" where it has none, as the others
  std::string_view shared_key;  ///< of k8s-rdma-shared-dev-plugin
  std::string_view sriov_key;   ///< of sriov-network-device-plugin
  Match match;                  ///< in our section
  /// A value of our section as facts are spelt; malformed when it cannot be one.
  Result<std::string> (*spelt)(std::string_view text);
  AskedOf asked_of;
  /// Whether a test holds for any text that is known. It may be asked twice of one.
  bool (*known)(const Known& known, const Test& test);
  std::string_view when_unknown = kUnknown;  ///< why a function without any is not taken
  SriovDevices sriov_devices = SriovDevices::all;
  Comparing comparing = Comparing::texts;
};

/// In the order in which a selector's conditions are looked at.
std::span<const SelectorRow> selectors();
const SelectorRow& selector_of(Fact fact);

}  // namespace railhead::pools
