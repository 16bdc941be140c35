// SPDX-License-Identifier: Apache-2.0
#include "proof/nfs_use.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/sort_unique.h"
#include "base/text.h"

namespace railhead::proof {
namespace {

bool is_rdma(std::string_view protocol) {
  return protocol == "rdma" || protocol == "rdma6";
}

/// What in /etc/fstab asks for RDMA; empty: nothing.
std::string declared_by(std::string_view options) {
  if (usage::mount_option(options, "rdma")) return "option rdma in /etc/fstab";
  const auto protocol = usage::mount_option(options, "proto");
  return protocol && is_rdma(*protocol) ? "proto=rdma in /etc/fstab" : "";
}

std::string wanted_by(const std::vector<std::string>& wanted, std::string_view place) {
  const auto match = std::find_if(wanted.begin(), wanted.end(), [&](const std::string& pattern) {
    return glob_match(usage::plain_place(pattern), place);
  });
  return match == wanted.end() ? "" : "--want " + *match;
}

/// Who asked for RDMA; empty: nobody.
std::string who_wants(const usage::NfsMount& mount, const std::vector<std::string>& wanted) {
  if (is_rdma(mount.protocol)) return "proto=" + mount.protocol + " of the mount";
  const auto who = declared_by(mount.declared.value_or(""));
  return who.empty() ? wanted_by(wanted, mount.mount_point) : who;
}

/// Mounted by hand or when somebody looks: its absence says nothing.
bool is_deferred(std::string_view options) {
  return usage::mount_option(options, "noauto") ||
         usage::mount_option(options, "x-systemd.automount");
}

JudgedNfs absent(usage::NfsMount mount, const std::string& who) {
  NfsUse use;
  use.verdict = NfsVerdict::absent;
  use.why = who + ", and no NFS is mounted there";
  return {std::move(mount), std::move(use)};
}

JudgedNfs absent(const usage::NfsDeclaration& declaration, const std::string& who) {
  usage::NfsMount mount;
  mount.server = declaration.server;
  mount.path = declaration.path;
  mount.mount_point = declaration.mount_point;
  mount.declared = declaration.options;
  return absent(std::move(mount), who);
}

/// The port that NFS 4 uses where none is stated; NFS 3 asks the server's rpcbind.
/// Source: Linux include/linux/nfs.h, NFS_PORT and NFS_RDMA_PORT.
std::optional<std::uint16_t> port_of(const usage::NfsMount& mount, const std::string& transport) {
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
    case NfsVerdict::absent: return "absent";
    case NfsVerdict::unknown: break;
  }
  return "unknown";
}

NfsUse judge_nfs(const usage::NfsMount& mount, const std::vector<std::string>& wanted) {
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

std::vector<JudgedNfs> judge_all_nfs(const std::vector<usage::NfsMount>& mounts,
                                     const std::vector<usage::NfsDeclaration>& declarations,
                                     const std::vector<std::string>& wanted) {
  std::vector<JudgedNfs> judged;
  std::set<std::string> places;
  for (const auto& mount : mounts) {
    places.insert(mount.mount_point);
    judged.push_back({mount, judge_nfs(mount, wanted)});
  }
  for (const auto& declaration : declarations) {
    auto who = declared_by(declaration.options);
    if (who.empty()) who = wanted_by(wanted, declaration.mount_point);
    if (who.empty() || is_deferred(declaration.options)) continue;
    if (places.insert(declaration.mount_point).second) judged.push_back(absent(declaration, who));
  }
  for (const auto& pattern : wanted) {
    const auto place = usage::plain_place(pattern);
    const bool is_known = std::any_of(places.begin(), places.end(),
                                      [&](const auto& known) { return glob_match(place, known); });
    if (is_known) continue;
    usage::NfsMount nothing;
    nothing.mount_point = place;
    judged.push_back(absent(std::move(nothing), "--want " + pattern));
  }
  return judged;
}

}  // namespace railhead::proof
