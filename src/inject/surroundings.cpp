// SPDX-License-Identifier: Apache-2.0
#include "inject/surroundings.h"

#include <algorithm>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::inject {

bool is_privileged(const container::Request& request) {
  return std::any_of(
      request.mounts.begin(), request.mounts.end(), [](const container::PresentMount& mount) {
        return mount.read_write && mount.type == "sysfs" && mount.destination == "/sys";
      });
}

bool has_host_network(const container::Request& request) {
  const auto is_without = [](const std::vector<std::string_view>& types) {
    return !types.empty() && !contains(types, "network");
  };
  return is_without(request.pod_namespaces) || is_without(request.container_namespaces);
}

container::Surroundings surroundings_of(const container::Request& request,
                                        const InjectionPolicy& policy) {
  container::Surroundings out;
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

}  // namespace railhead::inject
