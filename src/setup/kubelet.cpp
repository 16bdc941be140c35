// SPDX-License-Identifier: Apache-2.0
//
// The kubelet's configuration is looked at and never edited: a managed node gets it anew, and the
// kubelet does not start with a policy other than that of its state file
// (pkg/kubelet/cm/cpumanager; kubernetes.io, "Control Topology Management Policies").
#include "base/text.h"
#include "data/value.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

constexpr const char* kDefaultPolicy = "none";
constexpr std::string_view kFlag = "--topology-manager-policy";

struct Policy {
  std::string value = kDefaultPolicy;
  std::string said_by = "the kubelet's default";
  std::string error{};  ///< why it is not known
};

/// A flag counts more than the file (kubernetes.io, kubelet-config-file).
Policy policy_of(host::Host& host, const system::Service* kubelet) {
  Policy policy;
  const bool is_named = kubelet != nullptr && kubelet->config.starts_with('/');
  const std::string path = is_named ? kubelet->config : "/var/lib/kubelet/config.yaml";
  const auto text = host.read(path);
  if (!text) policy.error = text.error().message;
  if (text && *text) {
    const auto file = data::parse_yaml(**text);
    if (!file) policy.error = path + ": " + file.error().message;
    const auto* found = file ? file->find("topologyManagerPolicy") : nullptr;
    if (found != nullptr) policy = {found->scalar, path, ""};
  } else if (text && kubelet == nullptr) {
    policy.error = "no kubelet runs here, and there is no " + path;
  }
  if (kubelet == nullptr) return policy;
  const std::string command = text_of(host, "/proc/" + std::to_string(kubelet->pid) + "/cmdline");
  // "--flag=value", or the value as the next word.
  bool is_next = false;
  for (const auto word : split(command, '\0')) {
    const bool has_value = word.starts_with(kFlag) && word.substr(kFlag.size()).starts_with('=');
    if (has_value || is_next) {
      policy = {std::string(is_next ? word : word.substr(kFlag.size() + 1)),
                "a flag of the kubelet", ""};
    }
    is_next = word == kFlag;
  }
  return policy;
}

}  // namespace

void plan_kubelet(const Situation& situation, Plan& plan) {
  const auto& wanted = situation.wanted.topology_manager_policy;
  if (wanted.empty()) return;
  const auto policy =
      policy_of(*situation.machine.host, situation.system.processes.find("kubelet"));
  Step step{.id = "kubelet.topology-manager",
            .title = "the kubelet's topologyManagerPolicy is " + wanted,
            .before = policy.error.empty() ? policy.value : "",
            .after = wanted,
            .reason = policy.error.empty() ? policy.said_by : policy.error};
  if (!policy.error.empty()) {
    step.state = StepState::parked;
  } else if (policy.value != wanted) {
    step.state = StepState::refused;
    step.reason +=
        " says it; setup never edits the kubelet's configuration: drain the node, then "
        "say it where the node gets it (az aks nodepool add --kubelet-config, OpenShift's "
        "KubeletConfig, kubeadm's KubeletConfiguration)";
  }
  plan.push_back(std::move(step));
}

}  // namespace railhead::setup
