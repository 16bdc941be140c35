// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "setup/files.h"
#include "setup/machine.h"
#include "setup/module_index.h"
#include "setup/step.h"
#include "setup/wanted.h"
#include "system/system.h"

namespace railhead::setup {

/// What a step is made of.
struct Situation {
  const Machine& machine;
  const Wanted& wanted;
  const ModuleIndex& modules;
  const node::Node& node;
  const system::System& system;
  /// Who else writes the files in /etc of this machine, and would take ours away: "OpenShift's
  /// machine-config operator". "": nobody.
  std::string etc_belongs_to;
};

/// What there is to do for a node to be as wanted. Reads, and changes nothing. Steps above
/// `allowed` are refused. None where why_skipped() has a reason.
Result<Plan> make_plan(const Machine& machine, const Wanted& wanted, Risk allowed);

/// A stable code of why nothing is prepared on this machine, whatever is wanted: "no-rdma-nic",
/// where each of its PCI functions can be read, none is a NIC that is known for RDMA, with a driver
/// or without, and there is no RDMA device, be it one of software. "": it is prepared. So it is
/// where one of these cannot be read, as in a copied tree, and where the module of a software
/// device is wanted.
std::string why_skipped(const Machine& machine, const Wanted& wanted);

/// The steps of one subject, appended in the order in which they are to be done. Each in a file of
/// its own, listed in plan.cpp.
void plan_modules(const Situation& situation, Plan& plan);
void plan_rdma_namespaces(const Situation& situation, Plan& plan);
void plan_sriov(const Situation& situation, Plan& plan);
void plan_sysctl(const Situation& situation, Plan& plan);
void plan_memlock(const Situation& situation, Plan& plan);
void plan_nri(const Situation& situation, Plan& plan);
void plan_nfs(const Situation& situation, Plan& plan);
void plan_link(const Situation& situation, Plan& plan);
void plan_gpudirect(const Situation& situation, Plan& plan);
/// What is only looked at.
void plan_kubelet(const Situation& situation, Plan& plan);
void plan_others(const Situation& situation, Plan& plan);
/// Restarts what runs otherwise than its files say by now. The last one: it goes by the others'
/// steps.
void plan_restarts(const Situation& situation, Plan& plan);

/// Whether all that the step can do is done, and the rest is for a restart.
bool waits_for_restart(const Step& step);

/// It changes nothing, for this reason: it is not done at all, or waits for something.
Step refused(Step step, std::string reason);
Step parked(Step step, std::string reason);

/// A step that puts texts into files: done where they are there, refused where /etc is not ours, or
/// where they are there and `overruler`, which is not one of them, counts more.
Step files_step(const Situation& situation, Step step, const std::vector<FileText>& files,
                const std::string& overruler = "");

/// A step that changes a running kernel, with `reason` beside it: parked in a tree of files.
Step kernel_step(const Situation& situation, Step step, std::string reason, Change change);

/// The same of what stands at `path`: done where it is so already.
Step live_step(const Situation& situation, Step step, const std::string& path, std::string reason,
               Change change);

/// Of a service that runs, and not with any amount of locked memory: "containerd (process 7) may
/// lock 65536 bytes". "": it may lock any amount, or none is seen to run.
std::string limited_process(const Situation& situation, const std::string& service);

/// That a runtime runs whose NRI socket is not at the place that its files name: "no NRI socket at
/// /var/run/nri/nri.sock". "": it is, no process is seen, or nobody can look.
std::string missing_nri_socket(const Situation& situation);

/// Why the runtime in this unit must not be restarted with the files that it has. "": nothing keeps
/// it from starting, or the unit has no runtime.
std::string kept_from_starting(const Situation& situation, const std::string& unit);

/// Why the runtime must not get these files, by the path of each that it reads. Others, and all of
/// them where it starts, are not in it.
std::map<std::string, std::string> kept_by_files(const Machine& machine,
                                                 const system::ChangedFiles& changed);

/// Whether systemd runs the machine (sd_booted(3)).
bool has_systemd(const Situation& situation);

/// Whether the GPU operator's driver container brings NVIDIA's modules: its probe says so there
/// (NVIDIA/gpu-operator, assets/state-driver/0500_daemonset.yaml).
bool has_gpu_operator_driver(const Situation& situation);

}  // namespace railhead::setup
