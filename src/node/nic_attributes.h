// SPDX-License-Identifier: Apache-2.0
// What sysfs says of an RDMA device and its ports: a member and a row each. The readers,
// `railhead nics` and the redaction of snapshots go over the rows; a member without one does not
// compile. Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/member_count.h"

namespace railhead::node {

class Reader;

/// enum ib_port_state, include/rdma/ib_verbs.h
enum class PortState : std::uint8_t { nop, down, init, armed, active, active_defer };
std::string_view to_string(PortState state);  ///< "ACTIVE", as the kernel prints it

enum class LinkLayer : std::uint8_t { unknown, infiniband, ethernet };
std::string_view to_string(LinkLayer layer);  ///< "InfiniBand", "Ethernet", "Unknown"

struct Gid {
  unsigned index = 0;
  std::string value;                ///< eight groups of four, as sysfs prints it
  std::optional<std::string> type;  ///< "IB/RoCE v1", "RoCE v2"
  std::optional<std::string> netdev;

  friend bool operator==(const Gid&, const Gid&) = default;
};

/// Of an RDMA device that is registered in this network namespace. While a pod has it, what was
/// known of it is kept, all at once.
struct NicAttributes {
  std::optional<std::string> node_type;  ///< "CA", "RNIC"
  std::optional<std::string> node_guid;
  std::optional<std::string> sys_image_guid;
  std::optional<std::string> firmware;
  std::optional<std::string> hca_type;
  std::optional<std::string> board_id;
  std::optional<std::string> parent;  ///< netdev below a soft device

  friend bool operator==(const NicAttributes&, const NicAttributes&) = default;
};

struct PortAttributes {
  std::optional<PortState> state;
  std::optional<std::string> phys_state;  ///< "LinkUp"
  LinkLayer link_layer = LinkLayer::unknown;
  std::optional<double> rate_gbps;
  std::optional<std::string> rate_text;  ///< "400 Gb/sec (4X NDR)"
  std::optional<std::uint32_t> lid;
  std::optional<std::uint32_t> sm_lid;
  std::vector<Gid> gids;             ///< not all zero; of InfiniBand those before the first hole
  std::vector<std::uint16_t> pkeys;  ///< non-zero entries

  friend bool operator==(const PortAttributes&, const PortAttributes&) = default;
};

/// What somebody could recognise the machine by: a snapshot replaces it.
enum class Identifier : std::uint8_t { none, guid, gid, serial };

template <typename Owner, typename Value>
struct Attribute {
  Value Owner::*member;
  std::string_view file;  ///< or folder, of the device or port
  /// Answers nothing both for absent and for malformed, which it reports. Null: read apart.
  Value (*read)(Reader& reader, const std::string& path);
  std::string_view json;  ///< its key in `railhead nics -o json`; "" for none
  Identifier identifier;
  std::string_view column = {};  ///< its header in `railhead nics -o wide`; "" for none
};

template <typename Owner, typename Value>
Attribute(Value Owner::*, std::string_view,
          std::type_identity_t<Value> (*)(Reader&, const std::string&), std::string_view,
          Identifier, std::string_view = {}) -> Attribute<Owner, Value>;

std::optional<std::string> read_text(Reader& reader, const std::string& path);
std::optional<std::uint32_t> read_number(Reader& reader, const std::string& path);
std::optional<std::string> read_guid(Reader& reader, const std::string& path);
std::optional<PortState> read_port_state(Reader& reader, const std::string& path);
std::optional<std::string> read_phys_state(Reader& reader, const std::string& path);
LinkLayer read_link_layer(Reader& reader, const std::string& path);
std::optional<std::string> read_rate(Reader& reader, const std::string& path);

/// In the order in which they are read and shown.
inline constexpr std::tuple kNicAttributes{
    // read_nic() looks at it first: an entry without it may have gone.
    Attribute{&NicAttributes::node_type, "node_type", nullptr, "", Identifier::none},
    Attribute{&NicAttributes::node_guid, "node_guid", read_guid, "nodeGuid", Identifier::guid,
              "NODE GUID"},
    Attribute{&NicAttributes::sys_image_guid, "sys_image_guid", read_guid, "sysImageGuid",
              Identifier::guid},
    Attribute{&NicAttributes::firmware, "fw_ver", read_text, "firmware", Identifier::none,
              "FIRMWARE"},
    Attribute{&NicAttributes::hca_type, "hca_type", read_text, "hcaType", Identifier::none, "TYPE"},
    Attribute{&NicAttributes::board_id, "board_id", read_text, "boardId", Identifier::none},
    // Of soft devices only.
    Attribute{&NicAttributes::parent, "parent", nullptr, "parent", Identifier::none},
};

inline constexpr std::tuple kPortAttributes{
    Attribute{&PortAttributes::state, "state", read_port_state, "state", Identifier::none},
    Attribute{&PortAttributes::phys_state, "phys_state", read_phys_state, "physState",
              Identifier::none, "PHYS"},
    Attribute{&PortAttributes::link_layer, "link_layer", read_link_layer, "linkLayer",
              Identifier::none},
    // read_ports() takes it from the text below.
    Attribute{&PortAttributes::rate_gbps, "", nullptr, "rateGbps", Identifier::none},
    Attribute{&PortAttributes::rate_text, "rate", read_rate, "rate", Identifier::none},
    Attribute{&PortAttributes::lid, "lid", read_number, "lid", Identifier::none, "LID"},
    Attribute{&PortAttributes::sm_lid, "sm_lid", read_number, "smLid", Identifier::none, "SM LID"},
    // read_ports() reads both when it knows the link layer.
    Attribute{&PortAttributes::gids, "gids", nullptr, "gids", Identifier::gid},
    Attribute{&PortAttributes::pkeys, "pkeys", nullptr, "pkeys", Identifier::none},
};

static_assert(std::tuple_size_v<decltype(kNicAttributes)> == member_count<NicAttributes>(),
              "each member has a row");
static_assert(std::tuple_size_v<decltype(kPortAttributes)> == member_count<PortAttributes>(),
              "each member has a row");

/// `visit` is called with each row of a table.
template <typename Table, typename Visit>
constexpr void for_each_attribute(const Table& table, Visit visit) {
  std::apply([&](const auto&... row) { (visit(row), ...); }, table);
}

/// Fills the members from the files of a device's or port's folder.
template <typename Table, typename Owner>
void read_attributes(const Table& table, Reader& reader, const std::string& folder, Owner& into) {
  for_each_attribute(table, [&](const auto& row) {
    if (row.read) into.*row.member = row.read(reader, folder + "/" + std::string(row.file));
  });
}

}  // namespace railhead::node
