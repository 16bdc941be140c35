// SPDX-License-Identifier: Apache-2.0
//
// PCI configuration space. Numbers: Linux include/uapi/linux/pci_regs.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::node {

/// What stands at the end of a link: PCI_EXP_FLAGS_TYPE.
enum class PciPort : std::uint8_t { other, root, upstream, downstream };

/// A link as one end of it says: PCI_EXP_LNKCAP, PCI_EXP_LNKSTA.
struct PciLink {
  double gts = 0;  ///< GT/s of a lane
  unsigned lanes = 0;

  friend bool operator==(const PciLink&, const PciLink&) = default;
};

/// What the configuration space of a function says of how it transfers.
struct PciConfig {
  /// All of it was read. Without CAP_SYS_ADMIN the kernel shows the first 64 bytes, which have no
  /// capability: what is absent below is then not known.
  bool whole = false;
  std::optional<std::uint16_t> device_control;  ///< PCI_EXP_DEVCTL
  std::uint16_t device_control_at = 0;          ///< its offset, where it is there
  PciPort port = PciPort::other;
  std::optional<std::uint32_t> device_capability;  ///< PCI_EXP_DEVCAP
  /// What the link could do, and does now; absent where nothing is plugged in, and where the number
  /// of a speed is not known.
  std::optional<PciLink> link_capability;
  std::optional<PciLink> link_status;
  std::optional<std::uint16_t> acs_capability;  ///< PCI_ACS_CAP
  std::optional<std::uint16_t> acs_control;     ///< PCI_ACS_CTRL
  std::optional<std::uint16_t> ats_control;     ///< PCI_ATS_CTRL

  /// Largest read that the function asks for, in bytes.
  [[nodiscard]] std::optional<unsigned> max_read_request_bytes() const;
  /// Largest payload that it sends and takes, as it is set, and as it could be.
  [[nodiscard]] std::optional<unsigned> max_payload_bytes() const;
  [[nodiscard]] std::optional<unsigned> possible_payload_bytes() const;
  /// Whether it numbers its requests by eight bits instead of five, and whether it can.
  [[nodiscard]] std::optional<bool> extended_tags() const;
  [[nodiscard]] std::optional<bool> can_extend_tags() const;
  [[nodiscard]] std::optional<bool> relaxed_ordering() const;

  friend bool operator==(const PciConfig&, const PciConfig&) = default;
};

/// PCI_ACS_*
inline constexpr std::uint16_t kAcsRequestRedirect = 0x04;
inline constexpr std::uint16_t kAcsCompletionRedirect = 0x08;
inline constexpr std::uint16_t kAcsDirectTranslated = 0x40;

/// Malformed: shorter than the 64 bytes that every function has, or a list of capabilities that
/// leaves them or does not end.
Result<PciConfig> parse_pci_config(std::string_view bytes);

/// The same bytes with zeros for all that parse_pci_config() does not look at, serial numbers above
/// all; nothing where they are not configuration space. Twice gives the same as once.
std::optional<std::string> blanked_pci_config(std::string_view bytes);

}  // namespace railhead::node
