// SPDX-License-Identifier: Apache-2.0
//
// The files that a wanted state means on any machine. A plan compares a machine with them, and
// `setup profile --machine-config` writes them down for who may not be edited live.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "setup/wanted.h"

namespace railhead::setup {

struct FileText {
  std::string path;
  std::string text;
  std::optional<std::string> edited{};  ///< what it was made of; absent: of nothing
};

/// Names, one a line, of modules-load.d(5).
FileText modules_file(const std::vector<std::string>& names);
FileText namespaces_file(const Wanted& wanted);
FileText sysctl_file(const Wanted& wanted);
FileText memlock_file(const std::string& service);
FileText limits_file();
FileText crio_nri_file();
/// Mount and automount units, two for each wish, in its order.
std::vector<FileText> nfs_files(const Wanted& wanted);

/// All of them, for a node with CRI-O.
std::vector<FileText> files_of(const Wanted& wanted);

/// An OpenShift MachineConfig (YAML) for the machines of a role, with these files: units of systemd
/// as units, others as files.
std::string machine_config(const Wanted& wanted, const std::string& role);

/// Keys of what is wanted for which a MachineConfig has no file: "link", "mtu".
std::vector<std::string> left_out_of_machine_config(const Wanted& wanted);

/// A KubeletConfig of OpenShift; "" where nothing of the kubelet is wanted.
std::string kubelet_config(const Wanted& wanted, const std::string& role);

}  // namespace railhead::setup
