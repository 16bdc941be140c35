// SPDX-License-Identifier: Apache-2.0
//
// What a pod may do on its node, and what RDMA needs of it: rights, host paths, locked and shared
// memory.
#include <algorithm>

#include "base/text.h"
#include "lint/rule.h"

namespace railhead::lint {
namespace {

bool is_privileged(const Container& container) {
  return is_true(*container.value, {"securityContext", "privileged"});
}

bool has_capability(const Container& container, std::string_view wanted) {
  for (const auto& one :
       items_below(*container.value, {"securityContext", "capabilities", "add"})) {
    const std::string_view name = one.scalar;
    if (name == wanted || name == "ALL") return true;
    if (name.starts_with("CAP_") && name.substr(4) == wanted) return true;
  }
  return false;
}

/// What the container, else its pod, says of the user.
const data::Value* security(const Pod& pod, const Container& container, std::string_view key) {
  const auto* own = below(*container.value, {"securityContext", key});
  if (own != nullptr || pod.is_part) return own;
  return below(*pod.root, {"spec", "securityContext", key});
}

bool wants_rdma(const Given& given, const Container& container) {
  return nics_of(given, container) > 0;
}

void privileged(const Given& given, Found& found) {
  for (const auto& pod : given.pods) {
    for (const auto& container : pod.containers) {
      if (!is_privileged(container)) continue;
      if (gpus_of(given, container) == 0 && !wants_rdma(given, container)) continue;
      found.add(*pod.object, below(*container.value, {"securityContext", "privileged"}),
                "container " + in_quotes(container.name) + " is privileged");
    }
  }
}

bool is_infiniband(std::string_view path) {
  return path == "/dev/infiniband" || path.starts_with("/dev/infiniband/");
}

void host_path(const Given& given, Found& found) {
  for (const auto& pod : given.pods) {
    for (const auto& volume : items_below(*pod.root, {"spec", "volumes"})) {
      const auto* path = below(volume, {"hostPath", "path"});
      if (path == nullptr || !is_infiniband(path->scalar)) continue;
      const auto is_mounted_without_rights = [&](const Container& container) {
        if (is_privileged(container) || wants_rdma(given, container)) return false;
        const auto& mounts = items_below(*container.value, {"volumeMounts"});
        return std::ranges::any_of(mounts, [&](const data::Value& mount) {
          return text_below(mount, {"name"}) == text_below(volume, {"name"});
        });
      };
      const bool fails = std::ranges::any_of(pod.containers, is_mounted_without_rights);
      auto& finding = found.add(*pod.object, path,
                                fails ? "a container that is not privileged mounts " + path->scalar
                                      : path->scalar + " comes from the host");
      if (!fails) finding.severity = Severity::warn;
    }
  }
}

void ineffective_ipc_lock(const Given& given, Found& found) {
  for (const auto& pod : given.pods) {
    for (const auto& container : pod.containers) {
      if (!has_capability(container, "IPC_LOCK") || is_privileged(container)) continue;
      const auto* user = security(pod, container, "runAsUser");
      const auto* non_root = security(pod, container, "runAsNonRoot");
      const bool has_user = user != nullptr && user->scalar != "0";
      const bool is_other = has_user || (non_root != nullptr && non_root->scalar == "true");
      const bool is_mapped = !pod.is_part && is_false(*pod.root, {"spec", "hostUsers"});
      if (!is_other && !is_mapped) continue;
      found.add(*pod.object, below(*container.value, {"securityContext", "capabilities", "add"}),
                "container " + in_quotes(container.name) + " adds IPC_LOCK, and " +
                    (is_mapped ? "its pod has a user namespace of its own (hostUsers: false)"
                               : "does not run as root"));
    }
  }
}

/// Source: containerd pkg/cri/server (1.7) and internal/cri/server (2.x): the CRI's names have no
/// CAP_, so it is put before them. CRI-O takes both.
void capability_prefix(const Given& given, Found& found) {
  for (const auto& pod : given.pods) {
    for (const auto& container : pod.containers) {
      if (!wants_rdma(given, container) || is_privileged(container)) continue;
      for (const auto& one :
           items_below(*container.value, {"securityContext", "capabilities", "add"})) {
        if (!one.scalar.starts_with("CAP_")) continue;
        found.add(*pod.object, &one,
                  "containerd makes CAP_" + one.scalar + " of it: write " + one.scalar.substr(4));
      }
    }
  }
}

bool has_limit_annotation(const Pod& pod) {
  const auto* annotations = pod.annotations();
  if (annotations == nullptr) return false;
  return std::ranges::any_of(annotations->entries, [](const data::Value::Entry& entry) {
    return entry.key.starts_with("ulimits.") || entry.key.starts_with("memlock.railhead.io/");
  });
}

void memlock(const Given& given, Found& found) {
  // It raises the limit of every container that gets RDMA.
  if (!daemons_running(given, "railhead").empty()) return;
  for (const auto& pod : given.pods) {
    if (has_limit_annotation(pod)) continue;
    for (const auto& container : pod.containers) {
      if (!wants_rdma(given, container) || is_privileged(container)) continue;
      if (has_capability(container, "IPC_LOCK")) continue;
      found.add(*pod.object, container.value,
                "nothing here raises the limit of locked memory" +
                    (container.name.empty() ? "" : " of container " + in_quotes(container.name)));
    }
  }
}

void shared_memory(const Given& given, Found& found) {
  for (const auto& pod : given.pods) {
    if (pod.is_part || is_true(*pod.root, {"spec", "hostIPC"})) continue;
    if (pod.object->kind.starts_with("Dynamo")) continue;  // its operator mounts one
    for (const auto& container : pod.containers) {
      if (gpus_of(given, container) < 2) continue;
      const auto& mounts = items_below(*container.value, {"volumeMounts"});
      const bool has_own = std::ranges::any_of(mounts, [](const data::Value& mount) {
        return text_below(mount, {"mountPath"}) == "/dev/shm";
      });
      if (has_own) continue;
      found.add(*pod.object, container.value,
                "container " + in_quotes(container.name) + " has " +
                    counted(gpus_of(given, container), "GPU") + " and no volume at /dev/shm");
    }
  }
}

void pod_security(const Given& given, Found& found) {
  for (const auto* name_space : given.of_kind("Namespace")) {
    constexpr std::string_view kKey = "pod-security.kubernetes.io/enforce";
    const auto* level = below(name_space->root, {"metadata", "labels", kKey});
    if (level == nullptr || level->scalar == "privileged") continue;
    for (const auto& pod : given.pods) {
      if (pod.is_part || pod.object->name_space != name_space->name) continue;
      const bool needs = std::ranges::any_of(pod.containers, is_privileged) ||
                         std::ranges::any_of(pod.init_containers, is_privileged) ||
                         is_true(*pod.root, {"spec", "hostNetwork"}) ||
                         is_true(*pod.root, {"spec", "hostPID"});
      if (!needs) continue;
      found.add(
          *name_space, level,
          std::string(kKey) + "=" + level->scalar + " refuses the pods of " + pod.object->label());
      break;
    }
  }
}

constexpr Rule kPodRules[] = {
    {"pod.privileged", "A container with GPUs or NICs is privileged.", Severity::warn,
     "It sees and may open every device of the node, also those of other pods, so which NIC it "
     "uses says nothing of what it was given.",
     "Ask for the NIC's resource, or let Railhead's agent add the nodes of the NICs of its GPUs; "
     "take `privileged` away.",
     "N02", privileged},
    {"pod.host-path", "/dev/infiniband comes into a pod as a host path.", Severity::fail,
     "The nodes are visible and the device cgroup refuses to open them (EPERM): a host path grants "
     "no device.",
     "Ask for the NIC's resource, or let Railhead's agent add the nodes; take the volume away.",
     "N03", host_path},
    {"pod.ipc-lock-without-root", "IPC_LOCK is added, and has no effect.", Severity::warn,
     "A process that is not root does not have the capabilities that are added to its container, "
     "and the kernel asks for the capability in the first user namespace "
     "(drivers/infiniband/core/umem.c). The memory lock stays at the container's limit.",
     "Raise the container's limit of locked memory instead: Railhead's agent does, or the "
     "runtime's "
     "LimitMEMLOCK=infinity.",
     "D23 C17 C25", ineffective_ipc_lock},
    {"pod.capability-prefix", "A capability is written with CAP_.", Severity::warn,
     "containerd puts CAP_ before each name, and runc passes over a name that the kernel does not "
     "have: the container does not get it. CRI-O takes both.",
     "Write IPC_LOCK.", "", capability_prefix},
    {"pod.memlock", "Nothing here raises the limit of locked memory.", Severity::note,
     "Verbs pin what they register, against RLIMIT_MEMLOCK of the process or with IPC_LOCK in "
     "effect. A container's limit is that of its runtime: 8 MiB, or 64 KiB with an old systemd; "
     "limits of the kubelet and of PAM do not reach it.",
     "Nothing, where an NRI plugin such as Railhead's agent or LimitMEMLOCK=infinity of containerd "
     "or CRI-O raises it. Else add IPC_LOCK to a container that runs as root.",
     "D22 L06 L13 C17 E09 E10", memlock},
    {"pod.shared-memory", "A container with several GPUs has the default /dev/shm.", Severity::note,
     "The default has 64 MiB; NCCL between GPUs of one node, and data loaders, need more.",
     "Mount an emptyDir with medium: Memory at /dev/shm.", "C24 F26", shared_memory},
    {"pod.security-level", "A namespace refuses the privileged pods that are to run in it.",
     Severity::fail, "The DaemonSet exists and has no pod, because PodSecurity refuses each one.",
     "Label the namespace pod-security.kubernetes.io/enforce=privileged.", "D07", pod_security},
};

}  // namespace

std::span<const Rule> pod_rules() {
  return kPodRules;
}

}  // namespace railhead::lint
