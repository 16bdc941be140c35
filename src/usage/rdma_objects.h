// SPDX-License-Identifier: Apache-2.0
//
// Objects that the kernel keeps for users of RDMA, from the bytes of its netlink dumps. Invariants
// (Linux drivers/infiniband/core/nldev.c, include/uapi/rdma/rdma_netlink.h):
//   * each message is of one device: its index, its name, and a table of entries of one kind;
//   * an attribute that is not there is not known; one of another size is not what we know, and is
//     passed over, as are attributes and entries of kinds that we do not know;
//   * the PID is that of the thread that made the object, as the asking process sees it: it is
//     missing once that thread has ended (the object lives on), and for a process of a PID
//     namespace that the asking one cannot see into. Objects of the kernel have a name instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::usage {

/// enum ib_qp_state, include/rdma/ib_verbs.h
enum class QpState : std::uint8_t { reset, init, rtr, rts, sqd, sqe, error, unknown };
std::string_view to_string(QpState state);  ///< "RTS"

/// What of enum ib_qp_type (include/rdma/ib_verbs.h) makes a difference here: `datagram` is UD,
/// `management` SMI and GSI, `driver` what a driver calls its own, such as mlx5's DC.
enum class QpType : std::uint8_t { rc, uc, xrc, datagram, management, raw, driver, unknown };
std::string_view to_string(QpType type);  ///< "RC"

/// Who made an object.
struct ObjectOwner {
  std::optional<std::uint32_t> thread;  ///< PID of a thread; see above for when it is missing
  bool kernel = false;
  std::string kernel_name{};  ///< the kernel's module: "nvme_rdma"; empty for a user's

  friend bool operator==(const ObjectOwner&, const ObjectOwner&) = default;
};

struct QueuePair {
  ObjectOwner owner;
  std::uint32_t number = 0;
  std::optional<std::uint32_t> remote;  ///< of a connected one
  std::optional<unsigned> port;
  QpType type = QpType::unknown;
  QpState state = QpState::unknown;
  std::optional<std::uint32_t> domain;  ///< its protection domain
  /// Packet sequence numbers, 24 bits: where they move, packets are sent or arrive.
  std::optional<std::uint32_t> send_psn;
  std::optional<std::uint32_t> receive_psn;

  friend bool operator==(const QueuePair&, const QueuePair&) = default;
};

struct MemoryRegion {
  ObjectOwner owner;
  std::uint64_t bytes = 0;
  std::optional<std::uint32_t> number;
  std::optional<std::uint32_t> domain;

  friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;
};

struct ProtectionDomain {
  ObjectOwner owner;
  std::uint32_t number = 0;
  std::optional<std::uint32_t> context;

  friend bool operator==(const ProtectionDomain&, const ProtectionDomain&) = default;
};

/// An open verbs device.
struct UserContext {
  ObjectOwner owner;
  std::uint32_t number = 0;

  friend bool operator==(const UserContext&, const UserContext&) = default;
};

/// A connection of the RDMA connection manager.
struct ConnectionId {
  ObjectOwner owner;
  std::optional<std::uint32_t> queue_pair;

  friend bool operator==(const ConnectionId&, const ConnectionId&) = default;
};

/// A device as the kernel numbers it.
struct RdmaDevice {
  std::uint32_t index = 0;
  std::string name;

  friend bool operator==(const RdmaDevice&, const RdmaDevice&) = default;
};

/// One dump may name so many objects, of all kinds together.
inline constexpr std::size_t kMaxRdmaObjects = 200'000;

/// Parse a whole dump. Malformed: bytes that are no messages, or a nested table that is none.
/// too_large above kMaxRdmaObjects.
Result<std::vector<RdmaDevice>> parse_rdma_devices(std::string_view messages);
Result<std::vector<QueuePair>> parse_queue_pairs(std::string_view messages);
Result<std::vector<MemoryRegion>> parse_memory_regions(std::string_view messages);
Result<std::vector<ProtectionDomain>> parse_protection_domains(std::string_view messages);
Result<std::vector<UserContext>> parse_user_contexts(std::string_view messages);
Result<std::vector<ConnectionId>> parse_connection_ids(std::string_view messages);

}  // namespace railhead::usage
