// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "usage/held_files.h"

namespace railhead::usage {

/// Inodes of established TCP connections to somewhere else, from the text of /proc/PID/net/tcp or
/// tcp6: those to this machine itself (loopback, or both ends of one address) are left out.
/// Source: Linux net/ipv4/tcp_ipv4.c (get_tcp4_sock), net/ipv6/tcp_ipv6.c.
std::vector<std::uint64_t> established_elsewhere(std::string_view text);

/// Bytes that all devices of a network namespace but loopback received and sent, from the text of
/// /proc/PID/net/dev. Source: Linux net/core/net-procfs.c.
std::uint64_t netdev_bytes(std::string_view text);

/// The network of a set of processes that share one namespace.
struct NetworkUse {
  bool own = false;                    ///< a network namespace that is not the node's
  std::size_t connections = 0;         ///< established TCP connections to elsewhere that they hold
  std::optional<std::uint64_t> bytes;  ///< through the netdevs of a namespace of their own
  /// Those connections, where the kernel counts their bytes and there is room for them; by inode.
  std::optional<std::vector<host::TcpSocket>> sockets{};
  bool by_statistics = false;  ///< sock_diag said so, not /proc/PID/net/tcp

  friend bool operator==(const NetworkUse&, const NetworkUse&) = default;
};

/// The networks of containers. The connections of a namespace are read once, however many
/// containers share it, from the kernel's socket statistics (Host::tcp_sockets), or, where those
/// may not be had, from /proc/PID/net/tcp and tcp6, which say no bytes.
class Networks {
 public:
  /// Of all containers together so many connections are kept with their bytes. A container that
  /// has more than what is left keeps their number.
  static constexpr std::size_t kKept = 65'536;

  Networks(host::Host& host, const std::string& proc_dir, const ProcessTable& table)
      : host_(host),
        proc_dir_(proc_dir),
        table_(table) {}

  /// Fails, with the reason, where it cannot be said whether there is a connection: no right to
  /// look at the namespace or, in the node's own, at the descriptors of the processes; a table that
  /// cannot be read or is too large, or more descriptors than we look at, and no connection in what
  /// was seen; or all processes have ended.
  Result<NetworkUse> use_of(const std::vector<std::uint32_t>& processes, const HeldFiles& held);

 private:
  struct Connections {
    std::vector<host::TcpSocket> sockets;
    std::size_t count = 0;  ///< of a namespace that is not the node's the sockets may be left out
    bool there = false;     ///< a table at least
    bool counted = false;   ///< their bytes are known
    std::string doubt;      ///< why there may be more
  };

  const Connections& connections_of(std::uint32_t process, const std::string& name, bool own);
  Connections read(const std::string& folder);
  Connections read_tables(const std::string& folder);

  host::Host& host_;
  std::string proc_dir_;
  const ProcessTable& table_;
  std::map<std::string, Connections> by_namespace_;
  std::size_t left_ = kKept;          ///< in containers
  std::size_t left_by_name_ = kKept;  ///< in by_namespace_
};

}  // namespace railhead::usage
