// SPDX-License-Identifier: Apache-2.0
#include "usage/rdma_objects.h"

#include <rdma/rdma_netlink.h>

#include <array>

#include "host/netlink.h"

namespace railhead::usage {
namespace {

/// The attributes of one entry that are read, by number.
class Attributes {
 public:
  static Result<Attributes> parse(std::string_view bytes) {
    Attributes found;
    while (const auto attribute = host::take_netlink_attribute(bytes)) {
      if (attribute->type < kCount) found.payloads_[attribute->type] = attribute->payload;
    }
    if (!bytes.empty()) return Error{ErrorCode::malformed, "an attribute is cut off"};
    return found;
  }

  [[nodiscard]] std::optional<std::uint32_t> u32(std::uint16_t type) const {
    return number<std::uint32_t>(type);
  }

  template <typename T>
  [[nodiscard]] std::optional<T> number(std::uint16_t type) const {
    const auto& payload = payloads_[type];
    return payload ? host::netlink_number<T>(*payload) : std::nullopt;
  }

  /// Without the NUL that the kernel puts behind it.
  [[nodiscard]] std::optional<std::string> text(std::uint16_t type) const {
    const auto& payload = payloads_[type];
    if (!payload) return std::nullopt;
    return std::string(payload->substr(0, payload->find('\0')));
  }

  [[nodiscard]] std::optional<std::string_view> bytes(std::uint16_t type) const {
    return payloads_[type];
  }

 private:
  static constexpr std::size_t kCount = RDMA_NLDEV_ATTR_RES_CTX_ENTRY + 1;
  std::array<std::optional<std::string_view>, kCount> payloads_;
};

/// Calls `use` with the attributes of each message.
template <typename Use>
Status each_message(std::string_view messages, Use use) {
  while (const auto message = host::take_netlink_message(messages)) {
    if (message->type == host::kNetlinkDone) continue;
    const auto attributes = TRY(Attributes::parse(message->payload));
    TRY_STATUS(use(attributes));
  }
  if (!messages.empty()) return Error{ErrorCode::malformed, "a message is cut off"};
  return {};
}

/// All entries of one kind: `table` holds `entry`s, `make` gives the object of one's attributes, or
/// nothing where what it cannot be without is missing.
template <typename Object, typename Make>
Result<std::vector<Object>> entries(std::string_view messages, std::uint16_t table,
                                    std::uint16_t entry, Make make) {
  std::vector<Object> objects;
  const auto add = [&](const Attributes& message) -> Status {
    auto rest = message.bytes(table).value_or(std::string_view());
    while (const auto attribute = host::take_netlink_attribute(rest)) {
      if (attribute->type != entry) continue;
      if (objects.size() == kMaxRdmaObjects) {
        return Error{ErrorCode::too_large, "more than 200000 objects"};
      }
      const auto attributes = TRY(Attributes::parse(attribute->payload));
      if (std::optional<Object> object = make(attributes)) objects.push_back(*object);
    }
    if (!rest.empty()) return Error{ErrorCode::malformed, "an entry is cut off"};
    return {};
  };
  TRY_STATUS(each_message(messages, add));
  return objects;
}

ObjectOwner owner_of(const Attributes& attributes) {
  auto name = attributes.text(RDMA_NLDEV_ATTR_RES_KERN_NAME);
  return {attributes.u32(RDMA_NLDEV_ATTR_RES_PID), name.has_value(),
          std::move(name).value_or(std::string())};
}

QpState qp_state(std::optional<std::uint8_t> number) {
  return number && *number < 7 ? static_cast<QpState>(*number) : QpState::unknown;
}

/// include/rdma/ib_verbs.h: SMI 0, GSI 1, RC 2, UC 3, UD 4, raw IPv6 5, raw Ethertype 6, raw packet
/// 8, XRC initiator 9 and target 10, driver 255 and above (of which a byte is left).
QpType qp_type(std::optional<std::uint8_t> number) {
  switch (number.value_or(0x7f)) {
    case 0:
    case 1: return QpType::management;
    case 2: return QpType::rc;
    case 3: return QpType::uc;
    case 4: return QpType::datagram;
    case 5:
    case 6:
    case 8: return QpType::raw;
    case 9:
    case 10: return QpType::xrc;
    case 255: return QpType::driver;
    default: return QpType::unknown;
  }
}

std::optional<QueuePair> queue_pair(const Attributes& attributes) {
  const auto number = attributes.u32(RDMA_NLDEV_ATTR_RES_LQPN);
  if (!number) return std::nullopt;
  QueuePair pair;
  pair.owner = owner_of(attributes);
  pair.number = *number;
  pair.remote = attributes.u32(RDMA_NLDEV_ATTR_RES_RQPN);
  pair.port = attributes.u32(RDMA_NLDEV_ATTR_PORT_INDEX);
  pair.type = qp_type(attributes.number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_TYPE));
  pair.state = qp_state(attributes.number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_STATE));
  pair.domain = attributes.u32(RDMA_NLDEV_ATTR_RES_PDN);
  pair.send_psn = attributes.u32(RDMA_NLDEV_ATTR_RES_SQ_PSN);
  pair.receive_psn = attributes.u32(RDMA_NLDEV_ATTR_RES_RQ_PSN);
  return pair;
}

std::optional<MemoryRegion> memory_region(const Attributes& attributes) {
  const auto bytes = attributes.number<std::uint64_t>(RDMA_NLDEV_ATTR_RES_MRLEN);
  if (!bytes) return std::nullopt;
  return MemoryRegion{owner_of(attributes), *bytes, attributes.u32(RDMA_NLDEV_ATTR_RES_MRN),
                      attributes.u32(RDMA_NLDEV_ATTR_RES_PDN)};
}

std::optional<ProtectionDomain> protection_domain(const Attributes& attributes) {
  const auto number = attributes.u32(RDMA_NLDEV_ATTR_RES_PDN);
  if (!number) return std::nullopt;
  return ProtectionDomain{owner_of(attributes), *number, attributes.u32(RDMA_NLDEV_ATTR_RES_CTXN)};
}

std::optional<UserContext> user_context(const Attributes& attributes) {
  const auto number = attributes.u32(RDMA_NLDEV_ATTR_RES_CTXN);
  if (!number) return std::nullopt;
  return UserContext{owner_of(attributes), *number};
}

}  // namespace

std::string_view to_string(QpState state) {
  constexpr std::array<std::string_view, 8> kNames = {"RESET", "INIT", "RTR", "RTS",
                                                      "SQD",   "SQE",  "ERR", "unknown"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_string(QpType type) {
  constexpr std::array<std::string_view, 8> kNames = {"RC",         "UC",  "XRC",    "UD",
                                                      "management", "raw", "driver", "unknown"};
  return kNames[static_cast<std::size_t>(type)];
}

Result<std::vector<RdmaDevice>> parse_rdma_devices(std::string_view messages) {
  std::vector<RdmaDevice> devices;
  const auto add = [&](const Attributes& attributes) -> Status {
    const auto index = attributes.u32(RDMA_NLDEV_ATTR_DEV_INDEX);
    auto name = attributes.text(RDMA_NLDEV_ATTR_DEV_NAME);
    if (devices.size() == kMaxRdmaObjects) return Error{ErrorCode::too_large, "too many devices"};
    if (index && name) devices.push_back({*index, *std::move(name)});
    return {};
  };
  TRY_STATUS(each_message(messages, add));
  return devices;
}

Result<std::vector<QueuePair>> parse_queue_pairs(std::string_view messages) {
  return entries<QueuePair>(messages, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
                            queue_pair);
}

Result<std::vector<MemoryRegion>> parse_memory_regions(std::string_view messages) {
  return entries<MemoryRegion>(messages, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
                               memory_region);
}

Result<std::vector<ProtectionDomain>> parse_protection_domains(std::string_view messages) {
  return entries<ProtectionDomain>(messages, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
                                   protection_domain);
}

Result<std::vector<UserContext>> parse_user_contexts(std::string_view messages) {
  return entries<UserContext>(messages, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
                              user_context);
}

Result<std::vector<ConnectionId>> parse_connection_ids(std::string_view messages) {
  return entries<ConnectionId>(
      messages, RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
      [](const Attributes& attributes) {
        return std::optional(
            ConnectionId{owner_of(attributes), attributes.u32(RDMA_NLDEV_ATTR_RES_LQPN)});
      });
}

}  // namespace railhead::usage
