// SPDX-License-Identifier: Apache-2.0
//
// DaemonSets of the guides that do by a shell what is wanted here. The kubelet keeps the logs of
// each pod of the node in a folder NAMESPACE_NAME_UID, and removes it with the pod
// (pkg/kubelet/kuberuntime, BuildPodLogsDirectory).
#include <set>

#include "base/contains.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

struct Other {
  std::string_view name;  ///< in its pods' names
  std::string_view does;
  std::string_view manifest;  ///< where its guide has it
  bool (*is_replaced)(const Wanted& wanted);
};

constexpr Other kOthers[] = {
    {"ib-node-config",
     "loads modules and restarts containerd and the kubelet at each of its starts",
     "ib-node-config.yaml of NVIDIA Dynamo's guide",
     [](const Wanted& wanted) { return contains(wanted.modules, "ib_umad"); }},
    {"nvidia-peermem-reloader", "runs modprobe nvidia-peermem",
     "configs/nvidia-peermem-reloader/ds.yaml of Azure/aks-rdma-infiniband",
     [](const Wanted& wanted) { return contains(wanted.modules, "nvidia_peermem"); }},
    {"ulimit-adjuster", "raises limits of pods that have its annotation",
     "contrib/kustomize/ulimit-adjuster of containerd/nri",
     [](const Wanted& wanted) { return wanted.nri; }},
};

/// A pod of a DaemonSet is named after it, with five characters.
std::string owner_of(const std::string& pod) {
  const auto dash = pod.rfind('-');
  return dash == std::string::npos ? pod : pod.substr(0, dash);
}

}  // namespace

void plan_others(const Situation& situation, Plan& plan) {
  const auto pods = names_in(*situation.machine.host, "/var/log/pods", "");
  std::set<std::string> seen;
  for (const auto& entry : pods) {
    const auto parts = split(entry, '_');
    if (parts.size() != 3) continue;
    const std::string space(parts[0]);
    const std::string owner = owner_of(std::string(parts[1]));
    for (const auto& other : kOthers) {
      if (!owner.ends_with(other.name) || !other.is_replaced(situation.wanted)) continue;
      // Of a pod that is being replaced there are two.
      if (!seen.insert(space + "/" + owner).second) continue;
      Step step{.id = "others/" + space + "/" + owner,
                .title = "nobody else does it: " + owner,
                .before = "pod " + space + "/" + std::string(parts[1]),
                .after = "deleted"};
      // Its manifest is printed first, as the API server has it: what is deleted is not lost.
      const std::string file = shell_word(owner + ".yaml");
      plan.push_back(
          parked(std::move(step), "it " + std::string(other.does) + " (" +
                                      std::string(other.manifest) + "): kubectl get daemonset -n " +
                                      shell_word(space) + " " + shell_word(owner) + " -o yaml >" +
                                      file + " && kubectl delete -f " + file));
    }
  }
}

}  // namespace railhead::setup
