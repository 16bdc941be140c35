// SPDX-License-Identifier: Apache-2.0
#include "inject/surroundings.h"

#include <algorithm>

#include "base/text.h"

namespace railhead {

bool is_privileged(const ContainerRequest& request) {
  return std::any_of(request.mounts.begin(), request.mounts.end(), [](const PresentMount& mount) {
    return mount.read_write && mount.type == "sysfs" && mount.destination == "/sys";
  });
}

bool has_host_network(const ContainerRequest& request) {
  const auto& types = request.pod_namespaces;
  return !types.empty() && std::find(types.begin(), types.end(), "network") == types.end();
}

Surroundings surroundings_of(const ContainerRequest& request, const InjectionPolicy& policy) {
  Surroundings out;
  out.privileged = is_privileged(request);
  out.host_network = has_host_network(request);
  if (!policy.vm_runtimes && !request.runtime_handler.empty()) {
    const auto& globs = policy.vm_runtime_handlers;
    out.vm = std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
      return glob_match(glob, request.runtime_handler);
    });
  }
  return out;
}

}  // namespace railhead
