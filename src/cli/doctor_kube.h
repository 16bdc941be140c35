// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/doctor_print.h"

namespace railhead::cli {

/// `doctor --kube`: which cluster.
struct KubeTarget {
  bool wanted = false;
  std::string kubeconfig;
};

/// Of every check that --kube makes.
std::vector<std::string> cluster_check_ids();

/// --kube and --kubeconfig.
void add_kube_options(CLI::App& app, KubeTarget& target);

/// The whole command, with its exit code.
Result<int> run_kube_doctor(const Invocation& invocation, const KubeTarget& target,
                            const DoctorQuestion& question);

}  // namespace railhead::cli
