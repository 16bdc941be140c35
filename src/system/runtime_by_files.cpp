// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/find.h"
#include "system/kept_files.h"
#include "system/node_runtime.h"
#include "system/system.h"

namespace railhead::system {
namespace {

bool is_there(host::Host& host, const std::string& path) {
  const auto text = host.read_keeping(path, kept_runtime_settings);
  return !text || *text;
}

bool has_names(host::Host& host, const std::string& folder) {
  const auto names = host.list(folder);
  return names && *names && !(**names).empty();
}

/// Programs that bring a kubelet and a containerd with a file of its own.
struct Distribution {
  std::string_view config;
  std::array<std::string_view, 2> units;
};

constexpr Distribution kDistributions[] = {
    {"/var/lib/rancher/k3s/agent/etc/containerd/config.toml", {"k3s", "k3s-agent"}},
    {"/var/lib/rancher/rke2/agent/etc/containerd/config.toml", {"rke2-server", "rke2-agent"}},
    {"/etc/k0s/containerd.toml", {"k0scontroller", "k0sworker"}},
    {"/var/snap/microk8s/current/args/containerd.toml",
     {"snap.microk8s.daemon-containerd", "snap.microk8s.daemon-kubelite"}},
};

bool has_unit(host::Host& host, std::string_view name) {
  return !read_unit(host, std::string(name)).path.empty();
}

}  // namespace

std::string default_runtime_config(std::string_view name) {
  return name == "crio" ? "/etc/crio/crio.conf" : "/etc/containerd/config.toml";
}

NodeRuntime runtime_by_files(host::Host& host) {
  const std::string basis = "no process of a runtime is seen: by names and files";
  for (const auto& [config, units] : kDistributions) {
    if (!is_there(host, std::string(config))) continue;
    const auto* unit = find_where(units, [&](auto name) { return has_unit(host, name); });
    return {.name = "containerd",
            .basis = basis,
            .config = std::string(config),
            .unit = std::string(unit == nullptr ? "" : *unit),
            .is_within_another = true};
  }
  const bool crio_files =
      is_there(host, default_runtime_config("crio")) || has_names(host, kCrioDropIns);
  const bool containerd_files = is_there(host, default_runtime_config("containerd"));
  bool crio = has_unit(host, "crio");
  bool containerd = has_unit(host, "containerd");
  if (crio == containerd && crio_files != containerd_files) {
    crio = crio_files;
    containerd = containerd_files;
  } else if (!crio && !containerd) {
    crio = containerd = crio_files;
  }
  if (crio && containerd) {
    return {.unknown =
                "no process tells which runtime the kubelet uses, and both containerd and "
                "CRI-O are here"};
  }
  if (!crio && !containerd) return {};
  const std::string name = crio ? "crio" : "containerd";
  return {.name = name, .basis = basis, .config = default_runtime_config(name), .unit = name};
}

}  // namespace railhead::system
