// SPDX-License-Identifier: Apache-2.0
#include "agent/options.h"

#include <random>
#include <utility>

#include "base/text.h"
#include "host/directory_host.h"
#include "host/input_file.h"
#include "snapshot/snapshot_host.h"

namespace railhead::agent {
namespace {

constexpr std::size_t kMaxSnapshotBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxTopologyBytes = std::size_t{1} << 20;

Error bad_role(const config::RoleSetting::Text& setting, std::string_view key,
               std::string_view why) {
  return Error{ErrorCode::malformed, setting.where + ": roles." + std::string(key) + ": " +
                                         in_quotes(setting.text) + " " + std::string(why)};
}

Status read_address(const config::RoleSetting::Text& setting, affinity::RoleOverride& into) {
  if (setting.text.empty()) return {};
  const auto address = node::PciAddress::parse(setting.text);
  if (!address) return bad_role(setting, "pci", "is no PCI address such as 0000:18:00.0");
  into.pci = *address;
  return {};
}

/// Four hexadecimal digits, as lspci -n prints an id.
std::optional<std::uint16_t> parse_id(std::string_view text) {
  const auto id = parse_hex(text);
  if (text.size() != 4 || !id) return std::nullopt;
  return static_cast<std::uint16_t>(*id);
}

Status read_ids(const config::RoleSetting::Text& setting, affinity::RoleOverride& into) {
  if (setting.text.empty()) return {};
  const auto parts = split(setting.text, ':');
  if (parts.size() == 2) {
    into.vendor = parse_id(parts[0]);
    into.device = parse_id(parts[1]);
    if (into.vendor && (into.device || parts[1] == "*")) return {};
  }
  return bad_role(setting, "device", "is no vendor:device such as 15b3:1021 or 15b3:*");
}

Status read_link_layer(const config::RoleSetting::Text& setting, affinity::RoleOverride& into) {
  if (setting.text.empty()) return {};
  for (const auto layer : {node::LinkLayer::infiniband, node::LinkLayer::ethernet}) {
    if (setting.text == to_string(layer)) {
      into.link_layer = layer;
      return {};
    }
  }
  return bad_role(setting, "linkLayer", "is neither InfiniBand nor Ethernet");
}

}  // namespace

Result<std::unique_ptr<host::Host>> open_machine(const MachineOrigin& origin) {
  if (origin.snapshot.empty()) return host::DirectoryHost::open(origin.root);
  auto host =
      snapshot::SnapshotHost::parse(TRY(host::read_input_file(origin.snapshot, kMaxSnapshotBytes)));
  if (!host) return host.error().context(origin.snapshot);
  return host;
}

Result<MachineOrigin> machine_origin(const config::Settings& settings) {
  if (!settings.host.nccl_topo.empty()) {
    return Error{ErrorCode::usage, "--nccl-topo: a topology file is not a machine to read"};
  }
  return MachineOrigin{settings.host.root, settings.host.snapshot};
}

Result<std::optional<topology::NcclTopology>> machine_file(const config::Settings& settings) {
  const std::string& path = settings.host.nccl_topo;
  if (path.empty()) return std::optional<topology::NcclTopology>();
  if (!settings.host.snapshot.empty()) {
    return Error{ErrorCode::usage, "--nccl-topo and --snapshot exclude each other"};
  }
  const auto text = TRY(host::read_input_file(path, kMaxTopologyBytes));
  return std::optional(TRY(topology::parse_nccl_topology(text, path)));
}

inject::InjectionPolicy injection_policy(const config::Settings& settings) {
  const auto& injection = settings.injection;
  inject::InjectionPolicy policy;
  policy.gpus = injection.gpus;
  policy.annotations = injection.annotations;
  policy.memlock_cap = injection.memlock_cap_bytes;
  policy.devices = injection.devices;
  policy.roce_without_host_network = injection.roce_without_host_network;
  policy.pf_with_vfs = injection.pf_with_vfs;
  policy.gpu_resources = injection.gpu_resources;
  policy.vm_runtimes = injection.vm_runtimes;
  policy.vm_runtime_handlers = injection.vm_runtime_handlers;
  policy.ucx_env = injection.ucx_environment;
  policy.nvshmem_env = injection.nvshmem_environment;
  policy.topology_file = injection.nccl_topo_file;
  return policy;
}

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
  if (plugin.hand_out == config::HandOut::nri && !settings.nri.enabled) {
    return Error{ErrorCode::usage,
                 "devicePlugin.handout: nri hands out nothing while nri.enabled "
                 "is false; say device-specs"};
  }
  options.hand_out = plugin.hand_out.value_or(settings.nri.enabled ? config::HandOut::nri
                                                                   : config::HandOut::device_specs);
  options.folders = {plugin.cdi_dir, plugin.device_info_dir};
  return std::optional(std::move(options));
}

Result<pools::PoolSpecs> pool_specs(const config::Config& config) {
  pools::PoolParseOptions options;
  options.sriov_prefix = config.settings().device_plugin.resource_prefix;
  for (const auto role :
       {affinity::Role::compute, affinity::Role::storage, affinity::Role::management,
        affinity::Role::front_end, affinity::Role::nvlink_management,
        affinity::Role::virtual_function, affinity::Role::unknown}) {
    options.roles.emplace_back(to_string(role));
  }
  return pools::parse_pools(config.pool_sources(), options);
}

std::vector<pools::Difference> logged_differences(const config::Config& config) {
  auto differences = pools::differences(config.pool_sources(), config.settings().injection.gpus);
  std::erase_if(differences, [](const pools::Difference& one) { return !one.logged; });
  return differences;
}

Result<std::vector<affinity::RoleOverride>> role_overrides(const config::Config& config) {
  std::vector<affinity::RoleOverride> overrides;
  for (const auto& setting : config.roles()) {
    affinity::RoleOverride one;
    one.name_glob = setting.name.text;
    one.netdev_glob = setting.netdev.text;
    TRY_STATUS(read_address(setting.pci, one));
    TRY_STATUS(read_ids(setting.device, one));
    TRY_STATUS(read_link_layer(setting.link_layer, one));
    const auto role = affinity::parse_role(setting.role.text);
    if (!role) {
      return bad_role(setting.role, "role",
                      "is no role: compute, storage, management, front-end, nvlink-management, "
                      "virtual-function");
    }
    one.role = *role;
    overrides.push_back(std::move(one));
  }
  return overrides;
}

Result<std::optional<node::TextFile>> read_topology_file(const std::string& path,
                                                         host::ReadFile read) {
  if (path.empty()) return std::optional<node::TextFile>();
  auto text = TRY(read(path, kMaxTopologyBytes));
  return std::optional<node::TextFile>({path, std::move(text)});
}

Result<std::optional<topology::NcclTopology>> operator_topology(const config::Settings& settings) {
  const auto file = TRY(read_topology_file(settings.topology.file, host::read_input_file));
  if (!file) return std::optional<topology::NcclTopology>();
  return std::optional<topology::NcclTopology>(
      TRY(topology::parse_nccl_topology(file->text, file->path)));
}

PodsOptions pods_options(const config::Settings& settings) {
  PodsOptions options;
  options.node_name = settings.node.name;
  options.every = settings.pods.sample;
  options.proof.grace_seconds = static_cast<double>(settings.pods.grace.count());
  options.proof.ignore = settings.pods.ignore;
  options.usage.proc_dir = settings.host.proc;
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

Result<Policies> agent_policies(const config::Config& config) {
  const auto& settings = config.settings();
  TRY(machine_origin(settings));
  TRY(kubelet_options(settings));
  Policies policies;
  if (!settings.metrics.bind_address.empty()) {
    const auto address = metrics::parse_http_address(settings.metrics.bind_address);
    const auto& where = config.entry("metrics.bindAddress").where;
    if (!address) return address.error().context(where + ": metrics.bindAddress");
    policies.pages = *address;
  }
  policies.settings.roles = TRY(role_overrides(config));
  auto pools = TRY(pool_specs(config));
  policies.warnings = config.warnings();
  policies.warnings.insert(policies.warnings.end(), pools.warnings.begin(), pools.warnings.end());
  for (const auto& spec : pools.specs) {
    if (spec.origin.where.empty() || settings.device_plugin.enabled) continue;
    policies.warnings.push_back(spec.origin.where + ": pool " + spec.name +
                                " is not reported: devicePlugin.enabled is false");
  }
  policies.settings.policy = injection_policy(settings);
  policies.settings.policy.pools = std::move(pools.specs);
  policies.settings.read_topology_file = [path = settings.topology.file] {
    return read_topology_file(path, host::read_file_at_once);
  };
  return policies;
}

}  // namespace railhead::agent
