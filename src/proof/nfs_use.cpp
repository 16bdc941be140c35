// SPDX-License-Identifier: Apache-2.0
#include "proof/nfs_use.h"

#include <algorithm>

#include "base/sort_unique.h"
#include "base/text.h"

namespace railhead {
namespace {

bool is_rdma(std::string_view protocol) {
  return protocol == "rdma" || protocol == "rdma6";
}

/// Who asked for RDMA; empty: nobody.
std::string who_wants(const NfsMount& mount, const std::vector<std::string>& wanted) {
  if (is_rdma(mount.protocol)) return "proto=" + mount.protocol + " of the mount";
  if (mount.declared) {
    const auto& options = *mount.declared;
    if (mount_option(options, "rdma")) return "option rdma in /etc/fstab";
    const auto protocol = mount_option(options, "proto");
    if (protocol && is_rdma(*protocol)) return "proto=rdma in /etc/fstab";
  }
  const auto match = std::find_if(wanted.begin(), wanted.end(), [&](const std::string& pattern) {
    return glob_match(pattern, mount.mount_point);
  });
  return match == wanted.end() ? "" : "--want " + *match;
}

/// The port that NFS 4 uses where none is stated; NFS 3 asks the server's rpcbind.
/// Source: Linux include/linux/nfs.h, NFS_PORT and NFS_RDMA_PORT.
std::optional<std::uint16_t> port_of(const NfsMount& mount, const std::string& transport) {
  if (mount.port || !mount.version.starts_with('4')) return mount.port;
  if (transport == "rdma") return std::uint16_t{20049};
  if (transport == "tcp") return std::uint16_t{2049};
  return std::nullopt;
}

}  // namespace

std::string_view to_string(NfsVerdict verdict) {
  switch (verdict) {
    case NfsVerdict::rdma: return "RDMA";
    case NfsVerdict::tcp: return "TCP";
    case NfsVerdict::fallback: return "fallback";
    case NfsVerdict::unknown: break;
  }
  return "unknown";
}

NfsUse judge_nfs(const NfsMount& mount, const std::vector<std::string>& wanted) {
  std::vector<std::string> protocols;
  for (const auto& one : mount.transports) protocols.push_back(one.protocol);
  sort_unique(protocols);
  NfsUse use;
  use.transport = join(protocols, ",");
  use.port = port_of(mount, use.transport);
  const auto who = who_wants(mount, wanted);
  if (protocols.empty()) {
    use.why = "the kernel names no connection of this mount";
  } else if (use.transport == "rdma") {
    use.verdict = NfsVerdict::rdma;
    use.why = is_rdma(mount.protocol) || mount.protocol.empty()
                  ? "every connection is RDMA"
                  : "proto=" + mount.protocol + " shares an RDMA connection to this server";
  } else if (!who.empty()) {
    use.verdict = NfsVerdict::fallback;
    use.why = who + ", connected by " + use.transport;
  } else {
    use.verdict = NfsVerdict::tcp;
    use.why = "connected by " + use.transport + ", and RDMA was not asked for";
  }
  return use;
}

}  // namespace railhead
