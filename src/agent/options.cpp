// SPDX-License-Identifier: Apache-2.0
#include "agent/options.h"

#include <random>
#include <utility>

#include "options/options.h"

namespace railhead::agent {
Result<std::optional<KubeletOptions>> kubelet_options(const config::Settings& settings) {
  const auto& plugin = settings.device_plugin;
  if (!plugin.enabled) return std::optional<KubeletOptions>();
  const std::string& root = settings.kubelet.root_dir;
  KubeletOptions options;
  auto& registrar = options.registrar;
  registrar.registry_folder = root + "/plugins_registry";
  registrar.plugin_folder = plugin.dir;
  if (registrar.plugin_folder.empty()) options.folder_under_root = root + "/device-plugins";
  if (plugin.registration == config::Registration::found) registrar.route = kubelet::Route::found;
  options.hand_out = TRY(options::hand_out(settings));
  options.folders = {plugin.cdi_dir, plugin.device_info_dir};
  return std::optional(std::move(options));
}

std::optional<StartupTaintOptions> startup_taint_options(const config::Settings& settings,
                                                         host::Environment environment) {
  if (!settings.kubernetes.startup_taint) return std::nullopt;
  return StartupTaintOptions{.node = options::kubernetes_node_name(settings),
                             .access = {settings.kubernetes.kubeconfig, std::move(environment)}};
}

std::optional<KubeEventsOptions> kube_events_options(const config::Settings& settings,
                                                     host::Environment environment) {
  if (!settings.kubernetes.events) return std::nullopt;
  return KubeEventsOptions{.node = options::kubernetes_node_name(settings),
                           .access = {settings.kubernetes.kubeconfig, std::move(environment)}};
}

std::optional<NodeConditionsOptions> node_conditions_options(const config::Settings& settings,
                                                             host::Environment environment) {
  if (!settings.kubernetes.conditions) return std::nullopt;
  const auto doctor = node_doctor_options(settings);
  constexpr int kMissedLooks = 3;
  return NodeConditionsOptions{.node = options::kubernetes_node_name(settings),
                               .access = {settings.kubernetes.kubeconfig, std::move(environment)},
                               .stale_after = kMissedLooks * (doctor.every + doctor.limit)};
}

std::optional<FeatureFileOptions> feature_file_options(const config::Settings& settings) {
  if (settings.nfd.file.empty()) return std::nullopt;
  std::random_device random;
  return FeatureFileOptions{.path = settings.nfd.file,
                            .writer = std::to_string(random()) + "-" + std::to_string(random()),
                            .expiry = settings.nfd.expiry,
                            .remove_at_end = settings.nfd.remove_at_end};
}

NodeDoctorOptions node_doctor_options(const config::Settings& settings) {
  return {.every = settings.doctor.every,
          .history_file = settings.doctor.history_file,
          .node_name = settings.node.name};
}

PodsOptions pods_options(const config::Settings& settings) {
  PodsOptions options;
  options.node_name = settings.node.name;
  options.every = settings.pods.sample;
  options.proof.grace_seconds = static_cast<double>(settings.pods.grace.count());
  options.proof.ignore = settings.pods.ignore;
  options.proc_dir = settings.host.proc;
  options.queue_pairs = options::listed_queue_pairs(settings);
  return options;
}

ReadTimes read_times(const config::Settings& settings) {
  return {settings.host.rescan, settings.host.port_check};
}

nri::SessionOptions session_options(const config::Settings& settings) {
  nri::SessionOptions options;
  options.socket_path = settings.nri.socket;
  options.plugin_name = settings.nri.plugin_name;
  options.plugin_index = settings.nri.plugin_index;
  options.fail_request = settings.nri.fail_request;
  options.random = [engine = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
  return options;
}

}  // namespace railhead::agent
