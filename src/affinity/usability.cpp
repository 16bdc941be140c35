// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "affinity/affinity.h"
#include "affinity/expectations.h"
#include "base/find.h"
#include "node/unread.h"

namespace railhead::affinity {
namespace {

std::string port_text(const node::Port& port) {
  const std::string name = "port " + std::to_string(port.number);
  if (!port.state) return name + " does not tell its state";
  return name + " is " + std::string(to_string(*port.state));
}

/// `absent`, or that it could not be read at a path with this end.
std::string absent_text(const node::Node& node, std::string_view end, std::string absent) {
  const auto* problem =
      find_where(node.problems, [&](const node::Problem& one) { return one.path.ends_with(end); });
  return problem == nullptr ? std::move(absent) : problem->text();
}

Usability usability_of_nic(const node::Node& node, const node::Nic& nic,
                           const ExpectedNic& expected) {
  if (expected.unused != nullptr) return {false, unused_text(*expected.unused)};
  if (!nic.registered) {
    const auto* problem = node::unread_rdma_device(node, nic);
    return {false, problem == nullptr ? "no RDMA driver is bound" : problem->text()};
  }
  if (nic.elsewhere) return {false, "its RDMA device is in another network namespace"};
  if (node.devices_known && nic.uverbs.empty()) {
    return {false, absent_text(node, "/infiniband_verbs",
                               "it has no uverbs device (is ib_uverbs loaded?)")};
  }
  if (nic.ports.empty()) {
    return {false, absent_text(node, "/" + nic.name + "/ports", "it has no ports")};
  }
  const bool active = std::ranges::any_of(
      nic.ports, [](const node::Port& port) { return port.state == node::PortState::active; });
  if (active) return {true, "", false, too_slow(nic, expected)};
  std::string reason;
  for (const auto& port : nic.ports) {
    if (!expected.is_unused(port.number)) reason += (reason.empty() ? "" : ", ") + port_text(port);
  }
  return {false, reason, true};
}

}  // namespace

std::vector<Usability> usability_of(const node::Node& node,
                                    const std::vector<Expectation>& expect) {
  const auto expected = expected_of(node, expect);
  std::vector<Usability> all;
  all.reserve(node.nics.size());
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    all.push_back(usability_of_nic(node, node.nics[i], expected[i]));
  }
  return all;
}

}  // namespace railhead::affinity
