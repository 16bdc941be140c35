// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.h"

namespace railhead::cli {

/// `doctor --kube`: the flags that the node's doctor has, too.
struct KubeDoctorFlags {
  bool wanted = false;
  std::string kubeconfig;
  std::vector<std::string> checks;  ///< ids; none: all
  std::string explain;
  bool list = false;
  bool all = false;
  std::chrono::milliseconds limit{10'000};
};

/// --kube and --kubeconfig.
void add_kube_options(CLI::App& app, KubeDoctorFlags& flags);

/// The whole command, with its exit code.
Result<int> run_kube_doctor(const Invocation& invocation, const KubeDoctorFlags& flags);

}  // namespace railhead::cli
