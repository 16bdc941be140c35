// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "setup/machine.h"
#include "setup/module_index.h"
#include "setup/step.h"
#include "setup/wanted.h"

namespace railhead::setup {

/// What a step is made of.
struct Situation {
  const Machine& machine;
  const Wanted& wanted;
  const ModuleIndex& modules;
  /// Who else writes the files in /etc of this machine, and would take ours away: "OpenShift's
  /// machine-config operator". "": nobody.
  std::string etc_belongs_to;
};

/// What there is to do for a node to be as wanted. Reads, and changes nothing. Steps above
/// `allowed` are refused.
Result<Plan> make_plan(const Machine& machine, const Wanted& wanted, Risk allowed);

/// The steps of one subject, appended in the order in which they are to be done. Each in a file of
/// its own, listed in plan.cpp.
void plan_modules(const Situation& situation, Plan& plan);
void plan_rdma_namespaces(const Situation& situation, Plan& plan);
void plan_sriov(const Situation& situation, Plan& plan);
void plan_sysctl(const Situation& situation, Plan& plan);
void plan_memlock(const Situation& situation, Plan& plan);
void plan_nri(const Situation& situation, Plan& plan);
/// Restarts what runs otherwise than its files say by now. The last one: it goes by the others'
/// steps.
void plan_restarts(const Situation& situation, Plan& plan);

/// A step that puts `text` into a file: done where it is there, refused where /etc is not ours.
Step file_step(const Situation& situation, Step step, const std::string& path,
               const std::string& text);

}  // namespace railhead::setup
