// SPDX-License-Identifier: Apache-2.0
#include "node/pci_config.h"

#include <array>
#include <vector>

namespace railhead::node {
namespace {

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kExtendedStart = 0x100;
constexpr std::size_t kWholeBytes = 4096;
constexpr std::size_t kStatus = 0x06;
constexpr std::uint16_t kStatusHasList = 0x10;
constexpr std::size_t kCapabilityPointer = 0x34;
constexpr std::uint8_t kCapExpress = 0x10;
constexpr std::uint16_t kExtAcs = 0x000d;
constexpr std::uint16_t kExtAts = 0x000f;
constexpr std::uint16_t kRelaxedOrderingBit = 0x0010;
constexpr std::uint16_t kExtendedTagsBit = 0x0100;
constexpr std::uint32_t kCanExtendTagsBit = 0x20;

/// Bytes, and which of them were looked at.
class Space {
 public:
  explicit Space(std::string_view bytes)
      : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  std::optional<std::uint32_t> number(std::size_t at, std::size_t width) {
    if (at + width > bytes_.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i);
      seen_.resize(bytes_.size());
      seen_[at + i] = true;
    }
    return value;
  }

  std::optional<std::uint16_t> word(std::size_t at) {
    const auto value = number(at, 2);
    if (!value) return std::nullopt;
    return static_cast<std::uint16_t>(*value);
  }

  [[nodiscard]] std::string blanked() const {
    std::string out(bytes_.size(), '\0');
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i]) out[i] = bytes_[i];
    }
    return out;
  }

 private:
  std::string_view bytes_;
  std::vector<bool> seen_;
};

/// Speed in bits 3:0, lanes in bits 9:4, of both registers. Lanes are 0 where nothing is there.
std::optional<PciLink> link_of(std::optional<std::uint32_t> value) {
  constexpr std::array kGts = {0.0, 2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
  if (!value) return std::nullopt;
  const auto speed = *value & 0xfU;
  const auto lanes = (*value >> 4U) & 0x3fU;
  if (speed == 0 || speed >= kGts.size() || lanes == 0) return std::nullopt;
  return PciLink{kGts[speed], lanes};
}

PciPort port_of(std::uint16_t flags) {
  switch ((flags >> 4U) & 0xfU) {
    case 4: return PciPort::root;
    case 5: return PciPort::upstream;
    case 6: return PciPort::downstream;
    default: return PciPort::other;
  }
}

/// Offsets: PCI_EXP_FLAGS 2, DEVCAP 4, DEVCTL 8, LNKCAP 12, LNKSTA 18.
void read_express(Space& space, std::size_t at, PciConfig& config) {
  config.port = port_of(space.word(at + 2).value_or(0));
  config.device_capability = space.number(at + 4, 4);
  config.device_control = space.word(at + 8);
  config.device_control_at = static_cast<std::uint16_t>(at + 8);
  config.link_capability = link_of(space.number(at + 12, 4));
  config.link_status = link_of(space.number(at + 18, 2));
}

std::optional<unsigned> payload_bytes(unsigned code) {
  if (code > 5) return std::nullopt;
  return 128U << code;
}

/// The list of capabilities below 0x100: a byte for the kind and one for the next.
Status walk_capabilities(Space& space, PciConfig& config) {
  const auto status = space.word(kStatus);
  if (!status || (*status & kStatusHasList) == 0) return {};
  auto at = space.number(kCapabilityPointer, 1).value_or(0) & 0xfcU;
  constexpr int kMaxCapabilities = 48;  // as many as have room: PCI_FIND_CAP_TTL
  for (int n = 0; at != 0; ++n) {
    if (n == kMaxCapabilities) return Error{ErrorCode::malformed, "capabilities do not end"};
    if (at < kHeaderBytes) return Error{ErrorCode::malformed, "a capability in the header"};
    const auto head = space.word(at);
    if (!head) return {};  // not shown to us
    if ((*head & 0xff) == kCapExpress) read_express(space, at, config);
    at = (*head >> 8) & 0xfcU;
  }
  return {};
}

/// The list above 0x100: 16 bits for the kind, 4 for its version, 12 for the next.
Status walk_extended(Space& space, PciConfig& config) {
  std::size_t at = kExtendedStart;
  constexpr int kMaxExtended = (kWholeBytes - kExtendedStart) / 8;
  for (int n = 0; at != 0; ++n) {
    if (n == kMaxExtended) return Error{ErrorCode::malformed, "extended capabilities do not end"};
    if (at < kExtendedStart) {
      return Error{ErrorCode::malformed, "an extended capability below 0x100"};
    }
    const auto head = space.number(at, 4);
    if (!head || *head == 0 || *head == 0xffffffff) return {};
    if ((*head & 0xffff) == kExtAcs) {
      config.acs_capability = space.word(at + 4);
      config.acs_control = space.word(at + 6);
    }
    if ((*head & 0xffff) == kExtAts) config.ats_control = space.word(at + 6);
    at = (*head >> 20) & 0xffcU;
  }
  return {};
}

Result<PciConfig> parse(Space& space) {
  if (space.size() < kHeaderBytes || space.size() > kWholeBytes) {
    return Error{ErrorCode::malformed, std::to_string(space.size()) + " bytes"};
  }
  space.number(0, 4);  // vendor and device
  PciConfig config;
  // A function of conventional PCI has 256 bytes, and they are all.
  config.whole = space.size() > kHeaderBytes;
  TRY_STATUS(walk_capabilities(space, config));
  if (space.size() > kExtendedStart) TRY_STATUS(walk_extended(space, config));
  return config;
}

}  // namespace

std::optional<unsigned> PciConfig::max_read_request_bytes() const {
  if (!device_control) return std::nullopt;
  return payload_bytes((*device_control >> 12U) & 7U);
}

std::optional<unsigned> PciConfig::max_payload_bytes() const {
  if (!device_control) return std::nullopt;
  return payload_bytes((*device_control >> 5U) & 7U);
}

std::optional<unsigned> PciConfig::possible_payload_bytes() const {
  if (!device_capability) return std::nullopt;
  return payload_bytes(*device_capability & 7U);
}

std::optional<bool> PciConfig::extended_tags() const {
  if (!device_control) return std::nullopt;
  return (*device_control & kExtendedTagsBit) != 0;
}

std::optional<bool> PciConfig::can_extend_tags() const {
  if (!device_capability) return std::nullopt;
  return (*device_capability & kCanExtendTagsBit) != 0;
}

std::optional<bool> PciConfig::relaxed_ordering() const {
  if (!device_control) return std::nullopt;
  return (*device_control & kRelaxedOrderingBit) != 0;
}

Result<PciConfig> parse_pci_config(std::string_view bytes) {
  Space space(bytes);
  return parse(space);
}

std::optional<std::string> blanked_pci_config(std::string_view bytes) {
  Space space(bytes);
  if (!parse(space)) return std::nullopt;
  return space.blanked();
}

}  // namespace railhead::node
