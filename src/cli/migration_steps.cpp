// SPDX-License-Identifier: Apache-2.0
#include "cli/migration_steps.h"

#include "base/contains.h"
#include "base/text.h"

namespace railhead::cli {
namespace {

using Plugins = std::vector<pools::PoolFlavour>;

std::string names(const Plugins& plugins) {
  if (plugins.empty()) return "the old plugin";
  return join(plugins, " and ", [](auto plugin) { return to_string(plugin); });
}

constexpr const char* kCompare =
    "Compare: `railhead pools` there shows the resources and counts of `kubectl describe node "
    "NODE`.";
constexpr const char* kUntilGone =
    ", and wait until `kubectl describe node NODE` shows 0 allocatable of its resources.";
constexpr const char* kUntilThere = ", and wait until the resources are allocatable again.";
constexpr const char* kPodsKeep =
    "Pods that run keep their devices. When one of their containers restarts, the kubelet repeats "
    "the old plugin's answer, so it has the same nodes as before.";
constexpr const char* kPodsLose =
    "Pods that run keep their devices. When one of their containers restarts, the kubelet repeats "
    "the answer of k8s-rdma-device-plugin, which names no device: delete the pods that hold a slot "
    "before that happens.";
constexpr const char* kDelete =
    "Delete the pods that hold one of the resources and were admitted while the agent ran "
    "(`kubectl "
    "drain NODE` deletes all). The kubelet repeats the agent's answer when a container restarts, "
    "and under the old plugin that gives it no node.";

}  // namespace

std::vector<std::string> switch_over_steps(const Plugins& from) {
  const bool flat = contains(from, pools::PoolFlavour::k8s_rdma_device_plugin);
  return {
      "Save the configuration as /etc/railhead/config.yaml on the node.",
      kCompare,
      "kubectl cordon NODE",
      "End " + names(from) + " on the node" + kUntilGone,
      std::string("Start the agent") + kUntilThere,
      "kubectl uncordon NODE",
      flat ? kPodsLose : kPodsKeep,
  };
}

std::vector<std::string> rollback_steps(const Plugins& to) {
  std::vector<std::string> steps{"kubectl cordon NODE"};
  const bool by_the_kubelet = contains(to, pools::PoolFlavour::shared_plugin) ||
                              contains(to, pools::PoolFlavour::sriov_plugin);
  if (by_the_kubelet) steps.emplace_back(kDelete);
  steps.push_back(std::string("Stop the agent on the node") + kUntilGone);
  steps.push_back("Start " + names(to) + " on the node" + kUntilThere);
  steps.emplace_back("kubectl uncordon NODE");
  return steps;
}

}  // namespace railhead::cli
