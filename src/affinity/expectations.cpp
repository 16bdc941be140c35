// SPDX-License-Identifier: Apache-2.0
#include "affinity/expectations.h"

#include <algorithm>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::affinity {
namespace {

void note(const Expectation& entry, const node::Nic& nic, ExpectedNic& expected) {
  const auto set_once = [&](const Expectation*& of_kind) {
    if (of_kind == nullptr) of_kind = &entry;
  };
  switch (entry.kind) {
    case Expectation::Kind::unused:
      if (entry.port) expected.unused_ports.push_back(*entry.port);
      // A NIC all of whose ports are unused is unused itself.
      if (!entry.port ||
          (!nic.ports.empty() && std::ranges::all_of(nic.ports, [&](const node::Port& port) {
            return expected.is_unused(port.number);
          }))) {
        set_once(expected.unused);
      }
      break;
    case Expectation::Kind::one_up: set_once(expected.one_up); break;
    case Expectation::Kind::rate: set_once(expected.rate); break;
  }
}

}  // namespace

bool ExpectedNic::is_unused(unsigned port) const {
  return contains(unused_ports, port);
}

std::vector<ExpectedNic> expected_of(const node::Node& node,
                                     const std::vector<Expectation>& expect) {
  std::vector<ExpectedNic> all(node.nics.size());
  if (expect.empty()) return all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const node::Nic& nic = node.nics[i];
    const auto* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
    for (const auto& entry : expect) {
      if (matches(entry, nic, function)) note(entry, nic, all[i]);
    }
  }
  return all;
}

std::string too_slow(const node::Nic& nic, const ExpectedNic& expected) {
  if (expected.rate == nullptr) return "";
  for (const auto& port : nic.ports) {
    if (port.state != node::PortState::active || expected.is_unused(port.number)) continue;
    if (!port.rate_gbps || *port.rate_gbps >= expected.rate->gbps) continue;
    return "port " + std::to_string(port.number) + " runs at " + decimal_text(*port.rate_gbps) +
           " Gbit/s, and " + decimal_text(expected.rate->gbps) + " are expected (" +
           expected.rate->where + ")";
  }
  return "";
}

std::string unused_text(const Expectation& entry) {
  return "unused by design (" + entry.where + ")";
}

}  // namespace railhead::affinity
