// SPDX-License-Identifier: Apache-2.0
//
// NFS over RDMA: is the module there, and do mounts that are to use RDMA really do so. Which
// storage tool measures it is not ours to say: fio with --direct=1 (dd reads the page cache).
#include <algorithm>
#include <array>

#include "checks/groups.h"
#include "proof/nfs_use.h"

namespace railhead::checks {
namespace {

bool is_wanted(const Machine& machine) {
  const auto& nfs = machine.system.nfs;
  const auto& known = nfs.mounts.value;
  return (known && std::ranges::any_of(
                       known->mounts,
                       [](const auto& one) { return usage::is_rdma_protocol(one.protocol); })) ||
         std::ranges::any_of(nfs.declared,
                             [](const auto& one) { return usage::asks_for_rdma(one.options); });
}

/// In the kernel's tree xprtrdma and svcrdma are other names of rpcrdma; OFED has them apart.
void module(const Machine& machine, Findings& found) {
  if (!is_wanted(machine)) return;
  bool known = false;
  for (const char* name : {"rpcrdma", "xprtrdma"}) {
    const auto there = machine.has_module(name);
    known = known || there.has_value();
    if (there == std::optional(true)) {
      found.pass(kNode, std::string(name) + " is loaded", {{"/proc/modules", name}});
      return;
    }
  }
  if (known) {
    found.fail(kNode, "not loaded", "rpcrdma", {{"/proc/modules", "no rpcrdma"}});
  } else {
    found.unknown(kNode, machine.system.text("/proc/modules"));
  }
}

void judge(const proof::JudgedNfs& judged, const std::string& source, Findings& found) {
  using proof::NfsVerdict;
  const auto& [mount, use] = judged;
  const Evidence evidence{source, mount.server + ":" + mount.path + " " + use.why};
  switch (use.verdict) {
    case NfsVerdict::rdma: found.pass(mount.mount_point, "RDMA", {evidence}); return;
    case NfsVerdict::tcp:
      found.pass(mount.mount_point, use.transport + ", and nothing asks for RDMA", {evidence});
      return;
    case NfsVerdict::fallback:
      found.fail(mount.mount_point, use.transport, "rdma", {evidence});
      return;
    case NfsVerdict::absent:
      found.fail(mount.mount_point, "not mounted", "mounted with rdma", {evidence});
      return;
    case NfsVerdict::unknown: found.unknown(mount.mount_point, use.why, {evidence}); return;
  }
}

void transport(const Machine& machine, Findings& found) {
  const auto& nfs = machine.system.nfs;
  if (!nfs.mounts.value) {
    if (is_wanted(machine)) found.unknown(kNode, nfs.mounts);
    return;
  }
  for (const auto& judged : proof::judge_all_nfs(*nfs.mounts.value, nfs.declared, {}))
    judge(judged, nfs.mounts.path, found);
}

using system::Part;

constexpr std::array kNfsChecks = {
    Check{.id = "nfs.module",
          .what = "The module of NFS over RDMA is loaded where a mount asks for it.",
          .source = "/proc/modules; mount units, /etc/fstab, /proc/1/mountstats",
          .rule = "PASS: rpcrdma (or OFED's xprtrdma); FAIL: neither, and a mount asks for RDMA; "
                  "SKIP: none asks",
          .effect = "mount fails, or takes TCP",
          .remedy = "modprobe rpcrdma. With OFED in a container set ENABLE_NFSRDMA=true for it "
                    "(not NFSRDMA_ENABLE).",
          .remedy_class = RemedyClass::live,
          .about = "NFS mount that asks for RDMA",
          .covers = "nfs.rdma F08 E13",
          .parts = Part::modules | Part::nfs,
          .look = module},
    Check{.id = "nfs.transport",
          .what = "Mounts that are to use RDMA do.",
          .source = "/proc/1/mountstats, /proc/1/mountinfo, mount units, /etc/fstab",
          .rule =
              "PASS: as asked for; FAIL: another transport, or not mounted; UNKNOWN: the kernel "
              "names no connection",
          .effect = "storage at the speed of TCP",
          .remedy = "See that the server listens on port 20049, that the route to it leaves by an "
                    "RDMA NIC, and mount again. To measure, use fio --direct=1.",
          .remedy_class = RemedyClass::restart,
          .about = "NFS mount",
          .covers = "nfs.rdma F22 F23 F24",
          .parts = Part::nfs,
          .look = transport},
};

}  // namespace

std::span<const Check> nfs_checks() {
  return kNfsChecks;
}

}  // namespace railhead::checks
