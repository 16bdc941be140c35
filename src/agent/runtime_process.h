// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/host.h"
#include "inject/decide.h"
#include "nri/session.h"

namespace railhead::agent {

/// What the process of the connected runtime may do. As it is made: not read yet.
struct RuntimeProcess {
  bool in_doubt = true;            ///< not read yet, or it could not be
  bool may_be_read_later = false;  ///< it could not be read at this moment
  std::string why;                 ///< why not everything is known; "" where it is
  std::optional<int> pid = {};     ///< in that procfs; absent where it is not sure which
  std::optional<std::uint64_t> cap_effective;
  std::optional<std::uint64_t> memlock_soft_bytes;
  std::optional<std::uint64_t> memlock_hard_bytes;
};

/// Reads it from the procfs of the live host (never of a host root or snapshot): the peer's pid,
/// else the process of its name. Any pod can start a process of that name: those in a pod's cgroup
/// or in a PID namespace below that of procfs are not it, nor is one of a user where root has one.
/// Where several are left, the lowest limits count, and it may be read later, when there is one.
/// Where none is to be seen, the runtime is outside this PID namespace and is asked as configured,
/// which `why` says: RDMA without memlock fails on every node, a runtime that cannot set it is
/// rare. May wait for the kernel.
RuntimeProcess read_runtime(const nri::RuntimePeer& peer, host::Host& live,
                            const std::string& proc_dir);

/// What the runtime is able to do, by its version and its process.
inject::RuntimeAbility ability_of(const nri::RuntimePeer& peer, const RuntimeProcess& process);

/// Reads the process on whichever thread may wait for it.
class RuntimeReader {
 public:
  virtual ~RuntimeReader() = default;

  /// Calls `done` on the loop: once with nothing where reading takes longer than `patience`, and
  /// with the process whenever it has been read.
  virtual void read(const nri::RuntimePeer& peer, std::chrono::milliseconds patience,
                    std::function<void(const std::optional<RuntimeProcess>&)> done) = 0;
};

}  // namespace railhead::agent
