// SPDX-License-Identifier: Apache-2.0
#include "system/gather.h"

namespace railhead::system {
namespace {

CrioFiles::Options options_of_crio(const NodeRuntime& runtime) {
  auto options = crio_options(runtime.arguments);
  options.is_named = runtime.is_config_named;
  if (!runtime.config.empty()) options.config = runtime.config;
  if (!runtime.drop_in_folder.empty()) options.folder = runtime.drop_in_folder;
  return options;
}

}  // namespace

void read_runtime(const Gather& gather) {
  // The processes are known by now: Part::services comes first, and checks ask for both parts.
  auto& system = gather.into;
  system.runtime = find_node_runtime(gather.host, system.processes.services);
  const auto& runtime = system.runtime;
  system.listeners = read_listeners(gather.host);
  const bool is_containerd = runtime.is("containerd") && !runtime.config.empty();
  system.containerd = read_containerd_files(
      gather.host, is_containerd ? runtime.config : default_runtime_config("containerd"),
      is_containerd && runtime.is_config_named);
  const bool is_crio = runtime.is("crio");
  system.crio =
      read_crio_files(gather.host, is_crio ? options_of_crio(runtime) : CrioFiles::Options());
  system.container_memlock = read_container_memlock(gather.host, system);
  for (const auto* folder : {"/var/run/nri", "/run/nri", "/run", "/var/lib/kubelet",
                             "/var/lib/kubelet/device-plugins", "/run/containerd"}) {
    gather.folder(folder, [](std::string_view name) {
      return name == "nri.sock" || name == "kubelet.sock" || name == "containerd.sock";
    });
  }
  for (const auto& socket : places_of_socket(system.nri_place())) {
    gather.folder(socket.substr(0, socket.rfind('/')), [](std::string_view name) {
      return name.ends_with(".sock") || name.find("nri") != std::string_view::npos;
    });
  }
}

}  // namespace railhead::system
