// SPDX-License-Identifier: Apache-2.0
//
// Device Control: how large, in which order and how many at once the requests of a NIC are. Source:
// PCI Express Base Specification 7.5.3.4; Linux include/uapi/linux/pci_regs.h, drivers/pci/probe.c
// (pci_configure_mps, pci_configure_extended_tags).
#include <algorithm>
#include <array>

#include "base/text.h"
#include "checks/groups.h"
#include "checks/pci_config.h"
#include "node/pci_reader.h"

namespace railhead::checks {
namespace {

/// Calls `judge` with one function's configuration space, or says why it is not known.
template <typename Judge>
void look_at(const Machine& machine, const node::PciDevice& device, const std::string& subject,
             Findings& found, Judge judge) {
  const auto unread = unknown_config(machine, device.address);
  if (!unread) {
    const auto& fact = machine.system.pci_config.at(device.address);
    if (fact.value->device_control) {
      judge(device, subject, fact);
      return;
    }
    found.unknown(subject, fact.path + " has no PCI Express capability", {{fact.path, ""}});
    return;
  }
  const auto why = unread->error == "EPERM" ? ": 64 bytes are shown without CAP_SYS_ADMIN"
                                            : ": " + unread->error;
  found.unknown(subject, unread->error == "not read" ? "not read" : unread->path + why, {*unread});
}

/// Every physical function of compute NICs of Mellanox, and those that move their data. Others are
/// not known to gain by these settings.
template <typename Judge>
void for_each_config(const Machine& machine, Findings& found, Judge judge) {
  for (const auto n : machine.traffic_nics()) {
    const auto* device = machine.function(n);
    if (device == nullptr || device->is_vf() || device->vendor != node::kVendorMellanox) continue;
    if (machine.role(n).role != affinity::Role::compute) continue;
    look_at(machine, *device, machine.node.nics[n].name, found, judge);
  }
  for (const auto& device : machine.node.pci) {
    if (device.is_data_direct()) look_at(machine, device, device.address.str(), found, judge);
  }
}

Evidence device_control(const ConfigFact& config) {
  return {config.path, "DevCtl 0x" + to_hex(*config.value->device_control, 4)};
}

std::string bytes_or_reserved(const std::optional<unsigned>& bytes) {
  return bytes ? std::to_string(*bytes) + " bytes" : "a reserved value";
}

void max_read_request(const Machine& machine, Findings& found) {
  for_each_config(
      machine, found,
      [&](const node::PciDevice& device, const std::string& name, const ConfigFact& config) {
        const auto bytes = config.value->max_read_request_bytes();
        const auto observed = bytes_or_reserved(bytes);
        if (bytes == std::optional(4096U)) {
          found.pass(name, observed, {device_control(config)});
          return;
        }
        auto& finding = found.warn(name, observed, "4096 bytes", {device_control(config)});
        finding.remedy =
            "setpci -s " + device.address.str() +
            " CAP_EXP+8.w=5000:7000 (the mask leaves all other bits as they are; not kept "
            "over a restart).";
      });
}

void relaxed_ordering(const Machine& machine, Findings& found) {
  for_each_config(
      machine, found,
      [&](const node::PciDevice& device, const std::string& name, const ConfigFact& config) {
        if (config.value->relaxed_ordering() == std::optional(true)) {
          found.pass(name, "enabled", {device_control(config)});
          return;
        }
        auto& finding = found.warn(name, "disabled", "enabled", {device_control(config)});
        finding.remedy =
            "setpci -s " + device.address.str() +
            " CAP_EXP+8.w=0010:0010 sets this one bit of Device Control. (CAP_EXP+10 is "
            "Link Control, where 0x20 retrains the link: never write there.)";
      });
}

void extended_tags(const Machine& machine, Findings& found) {
  for_each_config(
      machine, found,
      [&](const node::PciDevice& device, const std::string& name, const ConfigFact& config) {
        if (config.value->extended_tags() == std::optional(true)) {
          found.pass(name, "enabled", {device_control(config)});
        } else if (config.value->can_extend_tags() != std::optional(true)) {
          found.pass(name, "the function has none", {device_control(config)});
        } else {
          auto& finding = found.warn(name, "disabled", "enabled", {device_control(config)});
          finding.remedy =
              "See that the BIOS allows them; on a running node setpci -s " + device.address.str() +
              " CAP_EXP+8.w=0100:0100 while the NIC is idle (the mask leaves all other bits).";
        }
      });
}

/// The function or bridge on the way of `device` whose payload is another; nullptr where none is
/// known to have one.
const ConfigFact* other_payload(const Machine& machine, const node::PciDevice& device,
                                unsigned bytes) {
  for (const auto& bridge : device.bridges) {
    const auto* config = known_config(machine, bridge);
    const auto set = config == nullptr ? std::nullopt : config->max_payload_bytes();
    if (set && *set != bytes) return &machine.system.pci_config.at(bridge);
  }
  return nullptr;
}

/// What all on the way could do; absent where one of them does not tell.
std::optional<unsigned> possible_payload(const Machine& machine, const node::PciDevice& device) {
  auto least = known_config(machine, device.address)->possible_payload_bytes();
  for (const auto& bridge : device.bridges) {
    const auto* config = known_config(machine, bridge);
    const auto bytes = config == nullptr ? std::nullopt : config->possible_payload_bytes();
    if (!bytes || !least) return std::nullopt;
    least = std::min(*least, *bytes);
  }
  return least;
}

/// Below 256 bytes a fifth of the link is headers; above, little is won.
constexpr unsigned kEnoughPayload = 256;

void judge_payload(const Machine& machine, const node::PciDevice& device, const std::string& name,
                   const ConfigFact& config, Findings& found) {
  const auto bytes = config.value->max_payload_bytes();
  const auto observed = bytes_or_reserved(bytes);
  if (!bytes) {
    found.unknown(name, config.path + ": " + observed, {device_control(config)});
    return;
  }
  if (const auto* other = other_payload(machine, device, *bytes)) {
    auto& finding = found.warn(
        name, observed + ", and " + bytes_or_reserved(other->value->max_payload_bytes()) + " above",
        "the same on all the way", {device_control(config), device_control(*other)});
    finding.effect =
        "the end with less takes a larger packet for a malformed one -> the link reports a fatal "
        "error";
    return;
  }
  const auto possible = possible_payload(machine, device);
  if (possible && *bytes < kEnoughPayload && *possible >= kEnoughPayload) {
    found.warn(name, observed, std::to_string(*possible) + " bytes, which all on the way can do",
               {device_control(config)});
  } else {
    found.pass(name, observed, {device_control(config)});
  }
}

void max_payload(const Machine& machine, Findings& found) {
  if (machine.node.hypervisor) {
    found.skip(kNode, "in a virtual machine the host sets it, and the guest sees another value");
    return;
  }
  for_each_config(
      machine, found,
      [&](const node::PciDevice& device, const std::string& name, const ConfigFact& config) {
        judge_payload(machine, device, name, config, found);
      });
}

using system::Part;

constexpr std::array kPciSettings = {
    Check{.id = "pci.max-read-request",
          .what = "A compute NIC reads 4096 bytes at once.",
          .source = "/sys/bus/pci/devices/*/config: Device Control, bits 14:12",
          .rule = "PASS: 4096; WARN: less; UNKNOWN: not shown without CAP_SYS_ADMIN",
          .effect = "more requests for the same bytes -> reads below the rate of the link",
          .remedy = "setpci -s PCI CAP_EXP+8.w=5000:7000",
          .remedy_class = RemedyClass::live,
          .about = "compute NIC of Mellanox (physical function)",
          .covers = "pci.devctl",
          .after = "pci.nic-driver",
          .parts = Part::pci_config,
          .look = max_read_request},
    Check{.id = "pci.relaxed-ordering",
          .what = "A compute NIC may have its writes reordered.",
          .source = "/sys/bus/pci/devices/*/config: Device Control, bit 4",
          .rule = "PASS: set; WARN: clear; UNKNOWN: not shown without CAP_SYS_ADMIN",
          .effect =
              "each write waits for the one before -> less than the link's rate, above all on "
              "AMD and in virtual machines",
          .remedy = "setpci -s PCI CAP_EXP+8.w=0010:0010",
          .remedy_class = RemedyClass::live,
          .about = "compute NIC of Mellanox (physical function)",
          .covers = "pci.devctl F35 C20 E01",
          .after = "pci.nic-driver",
          .parts = Part::pci_config,
          .look = relaxed_ordering},
    Check{.id = "pci.extended-tags",
          .what = "A compute NIC may have more than 32 reads under way.",
          .source = "/sys/bus/pci/devices/*/config: Device Control, bit 8; Device Capabilities, "
                    "bit 5",
          .rule = "PASS: set, or the function cannot; WARN: clear; UNKNOWN: not shown without "
                  "CAP_SYS_ADMIN",
          .effect = "32 reads at once -> sends from memory that is far away are below the rate of "
                    "the link",
          .remedy = "setpci -s PCI CAP_EXP+8.w=0100:0100",
          .remedy_class = RemedyClass::live,
          .about = "compute NIC of Mellanox (physical function)",
          .covers = "pci.devctl",
          .after = "pci.nic-driver",
          .parts = Part::pci_config,
          .look = extended_tags},
    Check{.id = "pci.max-payload",
          .what = "A compute NIC and all above it agree on a payload, of 256 bytes or more.",
          .source = "/sys/bus/pci/devices/*/config: Device Control, bits 7:5; Device "
                    "Capabilities, bits 2:0; of the bridges above too",
          .rule = "PASS: the same on all the way; WARN: another, or 128 where all could do 256; "
                  "UNKNOWN: not shown without CAP_SYS_ADMIN; SKIP in a virtual machine",
          .effect = "more headers for the same bytes -> less than the link's rate",
          .remedy = "Boot with pci=pcie_bus_safe, or set the payload in the BIOS; it cannot be "
                    "changed safely on a running node.",
          .remedy_class = RemedyClass::reboot,
          .about = "compute NIC of Mellanox (physical function)",
          .covers = "pci.devctl",
          .after = "pci.nic-driver",
          .parts = Part::pci_config,
          .look = max_payload},
};

}  // namespace

std::span<const Check> pci_settings_checks() {
  return kPciSettings;
}

}  // namespace railhead::checks
