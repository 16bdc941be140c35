// SPDX-License-Identifier: Apache-2.0
#include "pools/notation.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "node/node.h"
#include "pools/address_prefix.h"

namespace railhead::pools {
namespace {

constexpr std::uint16_t kFullMembership = 0x8000;
constexpr std::array kPortStates{node::PortState::nop,    node::PortState::down,
                                 node::PortState::init,   node::PortState::armed,
                                 node::PortState::active, node::PortState::active_defer};

Error no(std::string_view text, const std::string& what) {
  return {ErrorCode::malformed, in_quotes(text) + " is no " + what};
}

Result<std::uint16_t> hex16(std::string_view text, const std::string& what) {
  const auto number = parse_hex(text);
  if (!number || *number > 0xffff) return no(text, what);
  return static_cast<std::uint16_t>(*number);
}

/// One of some words, in any case, as it is spelt there.
template <typename Words>
Result<std::string> one_of(std::string_view text, const Words& words, const std::string& what) {
  for (const auto word : words) {
    if (to_lower(to_string(word)) == to_lower(text)) return std::string(to_string(word));
  }
  return no(text, what);
}

Result<std::string> check_guid(std::string_view text) {
  auto guid = guid_text(text);
  if (guid.empty() || guid.find_first_not_of("0123456789abcdef*?") != std::string::npos) {
    return no(text, "GUID");
  }
  return guid;
}

}  // namespace

std::string pci_id_text(std::uint16_t id) {
  return to_hex(id, 4);
}

std::string pkey_text(std::uint16_t pkey) {
  return "0x" + to_hex(pkey, 4);
}

std::uint16_t partition_of(std::uint16_t pkey) {
  return static_cast<std::uint16_t>(pkey & ~kFullMembership);
}

std::string guid_text(std::string_view text) {
  auto lower = to_lower(text);
  if (lower.starts_with("0x")) lower.erase(0, 2);
  lower.erase(std::remove(lower.begin(), lower.end(), ':'), lower.end());
  return lower;
}

Result<std::string> in_notation_of(Fact fact, std::string_view text) {
  switch (fact) {
    case Fact::vendor:
    case Fact::device: return pci_id_text(TRY(hex16(text, "PCI id of four hexadecimal digits")));
    case Fact::pci_address: return TRY(node::PciAddress::parse(text)).str();
    case Fact::link_layer:
      return one_of(text, std::array{node::LinkLayer::infiniband, node::LinkLayer::ethernet},
                    "link layer (InfiniBand, Ethernet)");
    case Fact::port_state: return one_of(text, kPortStates, "port state (ACTIVE, DOWN, …)");
    case Fact::rate_gbps:
    case Fact::acpi_index:
    case Fact::numa_node: return std::to_string(TRY(parse_unsigned(text)));
    case Fact::guid: return check_guid(text);
    case Fact::subnet: TRY(AddressPrefix::parse(text)); return std::string(text);
    case Fact::pkey: return pkey_text(partition_of(TRY(hex16(text, "partition key"))));
    case Fact::driver:
    case Fact::netdev:
    case Fact::pf_name:
    case Fact::root_device:
    case Fact::rdma_name:
    case Fact::link_type:
    case Fact::role:
    case Fact::first_pkey:
    case Fact::auxiliary_type:
    case Fact::kind:
    case Fact::ddp_package:
    case Fact::vdpa_type: break;
  }
  if (text.empty()) return no(text, "name");
  return std::string(text);
}

}  // namespace railhead::pools
