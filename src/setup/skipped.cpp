// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/contains.h"
#include "base/text.h"
#include "node/rdma_models.h"
#include "setup/functions.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

constexpr const char* kPciFunctions = "/sys/bus/pci/devices";
constexpr const char* kRdmaDevices = "/sys/class/infiniband";

/// Their devices are made on any netdev (rdma-link(8)).
constexpr std::string_view kSoftwareDevices[] = {"rdma_rxe", "siw"};

/// Of a function's `vendor` or `device`: "0x15b3". Absent: it cannot be read.
std::optional<std::uint16_t> pci_id(host::Host& host, const std::string& path) {
  const auto number = parse_hex(line_in(host, path));
  if (!number || *number > 0xffff) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

/// If true, no function is a NIC that is known for RDMA. A function that cannot be read may be one.
bool has_no_nic(host::Host& host) {
  const auto functions = host.list(kPciFunctions);
  if (!functions || !*functions) return false;
  return std::ranges::all_of(**functions, [&](const std::string& address) {
    const auto vendor = pci_id(host, function_path(address, "vendor"));
    const auto device = pci_id(host, function_path(address, "device"));
    return vendor && device && node::rdma_model_of(*vendor, *device) == nullptr;
  });
}

/// The folder comes with ib_core: without that module there is no device.
bool has_no_rdma_device(host::Host& host) {
  const auto devices = host.list(kRdmaDevices);
  return devices && (!*devices || (*devices)->empty());
}

}  // namespace

std::string why_skipped(const Machine& machine, const Wanted& wanted) {
  auto& host = *machine.host;
  const bool wants_one = std::ranges::any_of(
      kSoftwareDevices, [&](std::string_view module) { return contains(wanted.modules, module); });
  return !wants_one && has_no_nic(host) && has_no_rdma_device(host) ? "no-rdma-nic" : "";
}

}  // namespace railhead::setup
