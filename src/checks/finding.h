// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::checks {

enum class State : std::uint8_t {
  pass,
  warn,     ///< works, and will be slow, will not last, or is doubtful
  fail,     ///< RDMA does not work here, or not for all
  unknown,  ///< could not be read, or proves nothing
  skip,     ///< does not apply, or a failure further down makes it meaningless
};
std::string_view to_string(State state);  ///< "PASS"

/// What a remedy costs.
enum class RemedyClass : std::uint8_t {
  none,      ///< R0: nothing is to be done on the node
  live,      ///< R1: safe on a running node (modprobe, sysfs)
  restart,   ///< R2: a service or the pods restart
  cluster,   ///< R3: an object of the cluster, or its configuration, changes
  reboot,    ///< R4: firmware, kernel command line, BIOS
  hardware,  ///< R5: cable, slot, card; a ticket with the provider
};
std::string_view to_string(RemedyClass remedy);  ///< "R0"

/// What was looked at, and what stood there.
struct Evidence {
  std::string path;     ///< of the file, or of the netlink attribute
  std::string value;    ///< "" where it is not there or not known
  std::string error{};  ///< why it is not known; "" where it was read or is not there

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// What one check says of one thing.
struct Finding {
  std::string_view id;  ///< of the check
  std::string subject;  ///< "node", "mlx5_3", "mlx5_3/1", "0000:18:00.0", "ib_umad"
  State state = State::unknown;
  std::string observed{};
  std::string expected{};  ///< of WARN and FAIL
  std::string reason{};    ///< of UNKNOWN and SKIP: why
  std::string effect{};    ///< of WARN and FAIL: what users see of it, cause first
  std::vector<Evidence> evidence{};
  std::string remedy{};  ///< of WARN and FAIL
  RemedyClass remedy_class = RemedyClass::none;
  std::string_view covers{};  ///< of the check: ids, with blanks
  std::string since{};        ///< when an agent first saw it so; "": nobody looks all the time
};

}  // namespace railhead::checks
