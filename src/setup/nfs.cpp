// SPDX-License-Identifier: Apache-2.0
//
// An automount: the server is asked on first use, when the RDMA device is up, and a server that is
// away does not hold up the start of the node. rdma-core's rdma-hw.target is reached once an RDMA
// device is there (kernel-boot/rdma-hw.target.in); openibd is OFED's. A unit has to be named after
// its mount point (systemd.mount(5)).
#include "base/text.h"
#include "host/mounts.h"
#include "proof/nfs_use.h"
#include "setup/files.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

constexpr const char* kUnitFolder = "/etc/systemd/system/";

std::string automount_of(const NfsWish& wish) {
  const std::string mount = usage::mount_unit_name(wish.where);
  return mount.substr(0, mount.rfind('.')) + ".automount";
}

std::string options_of(const NfsWish& wish) {
  std::string options = "rdma";
  if (!usage::mount_option(wish.options, "port")) options += ",port=20049";  // RFC 8267, IANA
  return options + (wish.options.empty() ? "" : "," + wish.options);
}

/// Who reloads the RDMA stack beneath a mount, which then hangs, or keeps the old stack loaded.
/// "": nobody is seen. The OFED container of NVIDIA's network operator keeps its state there
/// (Mellanox/doca-driver-build, entrypoint.sh).
std::string reloader_of(const Situation& situation) {
  if (!situation.system.folder("/run/mellanox/drivers").known()) return "";
  return "the OFED driver container of NVIDIA's network operator reloads the RDMA stack, and a "
         "mount beneath it hangs: mount by a PersistentVolume with mountOptions rdma,port=20049 in "
         "pods that start after it, and set UNLOAD_STORAGE_MODULES=true for the container";
}

/// Whether systemd waits there for the first use, or it is mounted.
bool is_waited_for(host::Host& host, const std::string& where) {
  const std::string mounts = text_of(host, "/proc/1/mountinfo");
  for (const auto line : split(mounts, '\n')) {
    const auto mount = host::parse_mount_line(line);
    if (mount && mount->point == where) return true;
  }
  return false;
}

Step started(const Situation& situation, const Plan& plan, const NfsWish& wish) {
  Change change{Change::Kind::unit, automount_of(wish), ""};
  Step step{.id = "nfs.started" + wish.where,
            .title = wish.where + " is mounted on first use",
            .risk = risk_of(change),
            .after = automount_of(wish) + " is started"};
  host::Host& host = *situation.machine.host;
  if (is_waited_for(host, wish.where)) {
    step.before = "it is";
    step.reason = "/proc/1/mountinfo";
    return step;
  }
  if (!situation.machine.is_live)
    return parked(std::move(step), "no kernel runs in this tree: the next boot starts it");
  if (!has_systemd(situation)) return parked(std::move(step), "systemd does not run here");
  for (const auto& before : plan) {
    if (before.id.ends_with(wish.where) && before.state != StepState::done)
      return parked(std::move(step), "after its units");
  }
  step.state = StepState::todo;
  step.changes = {std::move(change)};
  return step;
}

/// What the kernel says of a mount that is there; one that waits for its first use has no
/// transport yet.
void add_transport(const Situation& situation, const NfsWish& wish, Plan& plan) {
  const auto mounts = situation.system.nfs.mounts.value;
  if (!mounts) return;
  for (const auto& mount : mounts->mounts) {
    if (mount.mount_point != wish.where) continue;
    const auto use = proof::judge_nfs(mount, nullptr, {wish.where});
    Step step{.id = "nfs.transport" + wish.where,
              .title = wish.where + " uses RDMA",
              .before = use.transport,
              .after = "rdma",
              .reason = use.why};
    plan.push_back(use.verdict == proof::NfsVerdict::rdma
                       ? std::move(step)
                       : parked(std::move(step),
                                use.why + ": railhead doctor --check nfs.transport says why; it is "
                                          "mounted anew once nobody uses it"));
  }
}

}  // namespace

std::vector<FileText> nfs_files(const Wanted& wanted) {
  std::vector<FileText> files;
  for (const auto& wish : wanted.nfs) {
    files.push_back({kUnitFolder + usage::mount_unit_name(wish.where),
                     "[Unit]\nDescription=NFS over RDMA on " + wish.where +
                         "\nAfter=network-online.target rdma-hw.target openibd.service\n"
                         "Wants=network-online.target\n\n[Mount]\nWhat=" +
                         wish.what + "\nWhere=" + wish.where +
                         "\nType=nfs\nOptions=" + options_of(wish) + "\n"});
    files.push_back({kUnitFolder + automount_of(wish),
                     "[Unit]\nDescription=" + wish.where + " on first use\n\n[Automount]\nWhere=" +
                         wish.where + "\n\n[Install]\nWantedBy=multi-user.target\n"});
  }
  return files;
}

void plan_nfs(const Situation& situation, Plan& plan) {
  const std::string reloader = reloader_of(situation);
  for (const auto& wish : situation.wanted.nfs) {
    Wanted only;
    only.nfs = {wish};
    auto files = nfs_files(only);
    // The link that `systemctl enable` makes of [Install], as a file that can be taken back.
    files.push_back(
        {std::string(kUnitFolder) + "multi-user.target.d/railhead-" + automount_of(wish) + ".conf",
         "[Unit]\nWants=" + automount_of(wish) + "\n"});
    Step step{.id = "nfs.units" + wish.where, .title = wish.where + " has its units"};
    if (!reloader.empty()) {
      plan.push_back(refused(std::move(step), reloader));
      continue;
    }
    plan.push_back(files_step(situation, std::move(step), files));
    plan.push_back(started(situation, plan, wish));
    add_transport(situation, wish, plan);
  }
}

}  // namespace railhead::setup
