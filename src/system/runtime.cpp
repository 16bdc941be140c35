// SPDX-License-Identifier: Apache-2.0
#include "system/gather.h"

namespace railhead::system {

void read_runtime(const Gather& gather) {
  // The processes are known by now: Part::services comes first, and checks ask for both parts.
  const auto* containerd = gather.into.processes.find("containerd");
  const bool named = containerd != nullptr && containerd->config.starts_with('/');
  gather.into.containerd = read_containerd_files(
      gather.host, named ? containerd->config : "/etc/containerd/config.toml");
  gather.into.crio = read_crio_files(gather.host);
  for (const auto* folder : {"/var/run/nri", "/run/nri", "/run", "/var/lib/kubelet",
                             "/var/lib/kubelet/device-plugins", "/run/containerd"}) {
    gather.folder(folder);
  }
}

}  // namespace railhead::system
