// SPDX-License-Identifier: Apache-2.0
#include "system/gather.h"

namespace railhead::system {

void read_runtime(const Gather& gather) {
  // The processes are known by now: Part::services comes first, and checks ask for both parts.
  auto& system = gather.into;
  system.runtime = find_node_runtime(gather.host, system.processes.services);
  const auto& runtime = system.runtime;
  const bool is_containerd = runtime.is("containerd") && !runtime.config.empty();
  system.containerd = read_containerd_files(
      gather.host, is_containerd ? runtime.config : "/etc/containerd/config.toml");
  const bool is_crio = runtime.is("crio") && !runtime.config.empty();
  system.crio = is_crio ? read_crio_files(gather.host, runtime.config, runtime.drop_in_folder)
                        : read_crio_files(gather.host);
  system.container_memlock = read_container_memlock(gather.host, system);
  for (const auto* folder : {"/var/run/nri", "/run/nri", "/run", "/var/lib/kubelet",
                             "/var/lib/kubelet/device-plugins", "/run/containerd"}) {
    gather.folder(folder, [](std::string_view name) {
      return name == "nri.sock" || name == "kubelet.sock" || name == "containerd.sock";
    });
  }
}

}  // namespace railhead::system
