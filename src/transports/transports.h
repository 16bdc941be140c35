// SPDX-License-Identifier: Apache-2.0
// What NCCL, UCX and NVSHMEM make of a container's environment. Invariants:
//   * it is read as the libraries read it, releases and source files stand beside each rule;
//   * what only a plugin, a file in the image or a later release knows is unknown, and nothing is
//     said of it: a false alarm is worse than none;
//   * whoever wants to know whether an environment fits a container's NICs asks here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transports/variables.h"

namespace railhead::transports {

enum class Library : std::uint8_t { nccl, ucx, nvshmem };

/// What a port is to the libraries. NCCL's and NVSHMEM's own transports take InfiniBand and
/// Ethernet alone; EFA is neither.
enum class LinkKind : std::uint8_t { unknown, infiniband, ethernet, efa };

struct KnownPort {
  unsigned number = 1;
  bool usable = true;  ///< ACTIVE, or nothing is known against it
  LinkKind link = LinkKind::unknown;
  /// Indices of the GIDs that the container sees there; absent: not known.
  std::optional<std::vector<unsigned>> gids{};
};

/// An RDMA device of the machine.
struct KnownNic {
  std::string_view name;
  bool given = false;  ///< the container can open it
  std::vector<KnownPort> ports{};
};

/// A variable that does not fit the NICs which the container has.
struct Contradiction {
  Library library = Library::nccl;
  std::string_view variable;  ///< "NCCL_IB_HCA"
  /// `NCCL_IB_HCA="mlx5_0" names …`: variable, value, what is wrong and what is right.
  std::string text;
  bool nothing_left = false;  ///< the library has no RDMA by it
};

struct LibraryUse {
  bool known = true;               ///< false: a plugin, another library or the release decides
  std::string_view off_by{};       ///< the variable that turns RDMA off; "" where none does
  std::vector<std::string> ports;  ///< it uses over RDMA, "mlx5_0:1"; none where NICs are not known
  bool chosen = false;             ///< the environment names them
};

/// A NIC that a list names and that is not given.
struct Wanted {
  std::size_t nic = 0;        ///< index into the machine's
  std::string_view variable;  ///< the first that names it
};

struct Reading {
  std::array<LibraryUse, 3> libraries;  ///< by Library
  std::vector<Contradiction> contradictions;
  /// What releases of UCX make of UCX_NET_DEVICES where they do not agree about the NICs given:
  /// which release runs is not known, and nothing is claimed. "" where they agree.
  std::string by_release;
  std::vector<Wanted> wanted;  ///< each NIC once

  /// The contradiction that leaves a library nothing; null where there is none, or where the
  /// environment names NICs for another library and these are there: who sets up NCCL by name may
  /// keep MPI's UCX on TCP.
  [[nodiscard]] const Contradiction* obstacle() const;

  /// The texts of what leaves a library nothing, for people; "" where nothing does.
  [[nodiscard]] std::string off_rdma() const;
};

/// `nics` are the machine's; null: nothing is known of them, as where there is a manifest only.
Reading read_environment(const std::vector<std::string_view>& environment,
                         const std::vector<KnownNic>* nics);

}  // namespace railhead::transports
