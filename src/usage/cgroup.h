// SPDX-License-Identifier: Apache-2.0
//
// Which container a process is in, by the name of its cgroup. Invariants:
//   * /proc/PID/cgroup has one line "0::PATH" (v2), or several "N:CONTROLLERS:PATH" (v1, and both
//     in a hybrid); all lines of a container's process name the same container (cgroups(7));
//   * a container is a component of 64 hexadecimal digits, bare (the cgroupfs driver) or as
//     "<runtime>-<digits>.scope" (the systemd driver: cri-containerd, crio, docker). It may have
//     cgroups of its own below, containers in the container among them, which it names as it likes,
//     another pod's names included; a node that is itself a container (kind) is above the pods;
//   * the pod is "pod<uid>", with the driver's words around it; systemd needs '_' for '-' in it. A
//     static pod's uid is a hash: 32 hexadecimal digits;
//   * seen from another cgroup namespace a path begins with "/..".
// Sources: Kubernetes pkg/kubelet/cm/cgroup_manager_linux.go, containerd
// internal/cri/server/helpers.go, CRI-O internal/config/cgmgr, runc libcontainer/cgroups/systemd.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace railhead::usage {

struct ContainerPlace {
  std::string container;               ///< 64 hexadecimal digits
  std::optional<std::string> pod_uid;  ///< with '-', as the API server writes it

  friend bool operator==(const ContainerPlace&, const ContainerPlace&) = default;
};

/// The container in the text of /proc/PID/cgroup: the outermost of a pod if there is one, else the
/// outermost. Nothing for a process of the host.
std::optional<ContainerPlace> container_of_cgroup(std::string_view text);

}  // namespace railhead::usage
