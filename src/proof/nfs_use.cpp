// SPDX-License-Identifier: Apache-2.0
#include "proof/nfs_use.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/find.h"
#include "base/sort_unique.h"
#include "base/text.h"

namespace railhead::proof {
namespace {

/// What in a declaration asks for RDMA; empty: nothing.
std::string declared_by(const usage::NfsDeclaration& declared) {
  if (usage::mount_option(declared.options, "rdma")) return "option rdma in " + declared.where;
  const auto protocol = usage::mount_option(declared.options, "proto");
  return protocol && usage::is_rdma_protocol(*protocol) ? "proto=rdma in " + declared.where : "";
}

std::string wanted_by(const std::vector<std::string>& wanted, std::string_view place) {
  const auto* match = find_where(wanted, [&](const std::string& pattern) {
    return glob_match(usage::plain_place(pattern), place);
  });
  return match == nullptr ? "" : "--want " + *match;
}

/// Who asked for RDMA; empty: nobody.
std::string who_wants(const usage::NfsMount& mount, const usage::NfsDeclaration* declared,
                      const std::vector<std::string>& wanted) {
  if (usage::is_rdma_protocol(mount.protocol)) return "proto=" + mount.protocol + " of the mount";
  const auto who = declared != nullptr ? declared_by(*declared) : "";
  return who.empty() ? wanted_by(wanted, mount.mount_point) : who;
}

/// What is written down, by the mount it is about; of two the first counts.
class DeclarationIndex {
 public:
  explicit DeclarationIndex(const std::vector<usage::NfsDeclaration>& declarations) {
    for (const auto& one : declarations) {
      if (one.mount_point.empty()) {
        by_source_.try_emplace({one.server, one.path}, &one);
      } else {
        by_place_.try_emplace(one.mount_point, &one);
      }
    }
  }

  /// Null where nothing is written down of the mount.
  [[nodiscard]] const usage::NfsDeclaration* find(const usage::NfsMount& mount) const {
    if (const auto at = by_place_.find(mount.mount_point); at != by_place_.end()) return at->second;
    const auto at = by_source_.find({mount.server, mount.path});
    return at == by_source_.end() ? nullptr : at->second;
  }

 private:
  std::map<std::string_view, const usage::NfsDeclaration*> by_place_;
  std::map<std::pair<std::string_view, std::string_view>, const usage::NfsDeclaration*> by_source_;
};

/// Adds how many connections were asked for, and whether fewer were made.
void add_connections(const usage::NfsMount& mount, const usage::NfsDeclaration* declared,
                     NfsUse& use) {
  const auto option =
      declared != nullptr ? usage::mount_option(declared->options, "nconnect") : std::nullopt;
  // The kernel makes 16 at most. Source: Linux fs/nfs/fs_context.c, NFS_MAX_CONNECTIONS.
  constexpr std::uint64_t kMost = 16;
  const auto asked = option ? parse_unsigned(*option).value_or(0) : 0;
  const bool is_declared = asked > 0 && asked <= kMost;
  use.nconnect = is_declared ? std::optional(static_cast<unsigned>(asked)) : mount.nconnect;
  const auto made = mount.transports.size();
  if (!use.nconnect || made == 0 || made >= *use.nconnect) return;
  use.fewer = "nconnect=" + std::to_string(*use.nconnect) + " in " +
              (is_declared ? declared->where : "the mount's own options") + ", " +
              counted(made, "connection") + " made";
  // Source: "NFS: enable nconnect for RDMA", T. Myklebust, linux-nfs, 2024-02-28.
  if (use.transport == "rdma") use.fewer += " (before Linux 6.9 it counts for TCP only)";
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
  auto judged = absent(std::move(mount), who);
  if (!declaration.refused.empty()) judged.use.why += ": " + declaration.refused;
  return judged;
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

NfsUse judge_nfs(const usage::NfsMount& mount, const usage::NfsDeclaration* declared,
                 const std::vector<std::string>& wanted) {
  std::vector<std::string> protocols;
  for (const auto& one : mount.transports) protocols.push_back(one.protocol);
  sort_unique(protocols);
  NfsUse use;
  use.transport = join(protocols, ",");
  use.port = port_of(mount, use.transport);
  add_connections(mount, declared, use);
  const auto who = who_wants(mount, declared, wanted);
  if (protocols.empty()) {
    use.why =
        mount.problem.empty() ? "the kernel names no connection of this mount" : mount.problem;
  } else if (use.transport == "rdma") {
    use.verdict = NfsVerdict::rdma;
    use.why = usage::is_rdma_protocol(mount.protocol) || mount.protocol.empty()
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

std::vector<JudgedNfs> judge_all_nfs(const usage::NfsMounts& mounts,
                                     const std::vector<usage::NfsDeclaration>& declarations,
                                     const std::vector<std::string>& wanted) {
  const DeclarationIndex declared(declarations);
  std::vector<JudgedNfs> judged;
  std::set<std::string> places;
  for (const auto& mount : mounts.mounts) {
    places.insert(mount.mount_point);
    judged.push_back({mount, judge_nfs(mount, declared.find(mount), wanted)});
  }
  for (const auto& declaration : declarations) {
    if (declaration.deferred || !mounts.of_machine) continue;
    auto who = declared_by(declaration);
    if (who.empty()) who = wanted_by(wanted, declaration.mount_point);
    if (who.empty()) continue;
    if (places.insert(declaration.mount_point).second) judged.push_back(absent(declaration, who));
  }
  for (const auto& pattern : wanted) {
    const auto place = usage::plain_place(pattern);
    const bool is_known =
        std::ranges::any_of(places, [&](const auto& known) { return glob_match(place, known); });
    if (is_known) continue;
    usage::NfsMount nothing;
    nothing.mount_point = place;
    judged.push_back(absent(std::move(nothing), "--want " + pattern));
  }
  return judged;
}

}  // namespace railhead::proof
