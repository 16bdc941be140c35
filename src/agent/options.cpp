// SPDX-License-Identifier: Apache-2.0
#include "agent/options.h"

#include <random>
#include <utility>

#include "agent/node_name.h"
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

namespace {

kube::AccessSource access_source(const config::Settings& settings, host::Environment environment) {
  kube::AccessSource source;
  source.kubeconfig = settings.kubernetes.kubeconfig;
  source.environment = std::move(environment);
  return source;
}

}  // namespace

std::optional<StartupTaintOptions> startup_taint_options(const config::Settings& settings,
                                                         host::Environment environment) {
  if (!settings.kubernetes.startup_taint) return std::nullopt;
  StartupTaintOptions options;
  options.node = settings.node.name;
  options.access = access_source(settings, std::move(environment));
  return options;
}

std::optional<KubeEventsOptions> kube_events_options(const config::Settings& settings,
                                                     host::Environment environment) {
  if (!settings.kubernetes.events) return std::nullopt;
  KubeEventsOptions options;
  options.node = kubernetes_node_name(settings.node.name);
  options.access = access_source(settings, std::move(environment));
  return options;
}

Result<std::optional<NodeConditionsOptions>> node_conditions_options(
    const config::Settings& settings, host::Environment environment) {
  if (!settings.kubernetes.conditions) return std::optional<NodeConditionsOptions>();
  const auto doctor = node_doctor_options(settings);
  if (doctor.every.count() == 0) {
    return Error{ErrorCode::usage,
                 "kubernetes.conditions needs the doctor's checks: set doctor.everySeconds, such "
                 "as 300"};
  }
  constexpr int kMissedLooks = 3;
  NodeConditionsOptions options;
  options.node = kubernetes_node_name(settings.node.name);
  options.access = access_source(settings, std::move(environment));
  options.stale_after = kMissedLooks * (doctor.every + doctor.limit);
  return std::optional(std::move(options));
}

std::optional<FeatureFileOptions> feature_file_options(const config::Settings& settings) {
  if (settings.nfd.file.empty()) return std::nullopt;
  FeatureFileOptions options;
  options.path = settings.nfd.file;
  options.expiry = settings.nfd.expiry;
  options.remove_at_end = settings.nfd.remove_at_end;
  std::random_device random;
  options.writer = std::to_string(random()) + "-" + std::to_string(random());
  return options;
}

NodeDoctorOptions node_doctor_options(const config::Settings& settings) {
  NodeDoctorOptions options;
  options.every = settings.doctor.every;
  options.history_file = settings.doctor.history_file;
  options.node_name = settings.node.name;
  return options;
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
