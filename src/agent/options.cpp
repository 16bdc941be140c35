// SPDX-License-Identifier: Apache-2.0
#include "agent/options.h"

#include <chrono>
#include <random>
#include <utility>

#include "base/text.h"
#include "host/directory_host.h"
#include "host/input_file.h"
#include "metrics/http_address.h"
#include "snapshot/snapshot_host.h"

namespace railhead {
namespace {

constexpr std::size_t kMaxSnapshotBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxTopologyBytes = std::size_t{1} << 20;

GpuPolicy gpu_policy(std::string_view text) {
  if (text == "numa") return GpuPolicy::numa;
  if (text == "all") return GpuPolicy::all;
  if (text == "none") return GpuPolicy::none;
  return GpuPolicy::closest;
}

AnnotationPolicy annotation_policy(std::string_view text) {
  if (text == "allow") return AnnotationPolicy::allow;
  if (text == "deny") return AnnotationPolicy::deny;
  return AnnotationPolicy::narrow;
}

Error bad_role(const RoleSetting::Text& setting, std::string_view key, std::string_view why) {
  return Error{ErrorCode::malformed, setting.where + ": roles." + std::string(key) + ": " +
                                         in_quotes(setting.text) + " " + std::string(why)};
}

Status read_address(const RoleSetting::Text& setting, RoleOverride& into) {
  if (setting.text.empty()) return {};
  const auto address = PciAddress::parse(setting.text);
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

Status read_ids(const RoleSetting::Text& setting, RoleOverride& into) {
  if (setting.text.empty()) return {};
  const auto parts = split(setting.text, ':');
  if (parts.size() == 2) {
    into.vendor = parse_id(parts[0]);
    into.device = parse_id(parts[1]);
    if (into.vendor && (into.device || parts[1] == "*")) return {};
  }
  return bad_role(setting, "device", "is no vendor:device such as 15b3:1021 or 15b3:*");
}

Status read_link_layer(const RoleSetting::Text& setting, RoleOverride& into) {
  if (setting.text.empty()) return {};
  for (const auto layer : {LinkLayer::infiniband, LinkLayer::ethernet}) {
    if (setting.text == to_string(layer)) {
      into.link_layer = layer;
      return {};
    }
  }
  return bad_role(setting, "linkLayer", "is neither InfiniBand nor Ethernet");
}

}  // namespace

Result<std::unique_ptr<Host>> open_machine(const MachineOrigin& origin) {
  if (origin.snapshot.empty()) return DirectoryHost::open(origin.root);
  auto host = SnapshotHost::parse(TRY(read_input_file(origin.snapshot, kMaxSnapshotBytes)));
  if (!host) return host.error().context(origin.snapshot);
  return host;
}

Result<MachineOrigin> machine_origin(const Config& config) {
  if (!config.text("host.ncclTopo").empty()) {
    return Error{ErrorCode::usage, "--nccl-topo: a topology file is not a machine to read"};
  }
  return MachineOrigin{config.text("host.root"), config.text("host.snapshot")};
}

Result<std::optional<NcclTopology>> machine_file(const Config& config) {
  const std::string& path = config.text("host.ncclTopo");
  if (path.empty()) return std::optional<NcclTopology>();
  if (!config.text("host.snapshot").empty()) {
    return Error{ErrorCode::usage, "--nccl-topo and --snapshot exclude each other"};
  }
  const auto text = TRY(read_input_file(path, kMaxTopologyBytes));
  return std::optional(TRY(parse_nccl_topology(text, path)));
}

InjectionPolicy injection_policy(const Config& config) {
  InjectionPolicy policy;
  policy.gpus = gpu_policy(config.text("injection.gpus"));
  policy.annotations = annotation_policy(config.text("injection.annotations"));
  policy.memlock_cap = parse_byte_limit(config.text("injection.memlockCap")).value_or(kUnlimited);
  policy.devices = config.list("injection.devices");
  policy.roce_without_host_network = config.enabled("injection.roceWithoutHostNetwork");
  policy.pf_with_vfs = config.enabled("injection.pfWithVfs");
  policy.gpu_resources = config.list("injection.gpuResources");
  policy.vm_runtimes = config.enabled("injection.vmRuntimes");
  policy.vm_runtime_handlers = config.list("injection.vmRuntimeHandlers");
  policy.ucx_env = config.enabled("injection.ucxEnvironment");
  policy.nvshmem_env = config.enabled("injection.nvshmemEnvironment");
  policy.topology_file = config.text("injection.ncclTopoFile");
  return policy;
}

Result<std::optional<KubeletOptions>> kubelet_options(const Config& config) {
  if (!config.enabled("devicePlugin.enabled")) return std::optional<KubeletOptions>();
  const std::string& root = config.text("kubelet.rootDir");
  KubeletOptions options;
  auto& registrar = options.registrar;
  registrar.registry_folder = root + "/plugins_registry";
  registrar.plugin_folder = config.text("devicePlugin.dir");
  if (registrar.plugin_folder.empty()) options.folder_under_root = root + "/device-plugins";
  if (config.text("devicePlugin.registration") == "found") registrar.route = kubelet::Route::found;
  const bool nri = config.enabled("nri.enabled");
  const std::string& hand_out = config.text("devicePlugin.handout");
  if (hand_out == "nri" && !nri) {
    return Error{ErrorCode::usage,
                 "devicePlugin.handout: nri hands out nothing while nri.enabled "
                 "is false; say device-specs"};
  }
  const bool by_nri = hand_out == "nri" || (hand_out == "auto" && nri);
  options.hand_out = by_nri ? HandOut::nri : HandOut::device_specs;
  if (hand_out == "cdi") options.hand_out = HandOut::cdi;
  options.folders = {config.text("devicePlugin.cdiDir"), config.text("devicePlugin.deviceInfoDir")};
  return std::optional(std::move(options));
}

Result<PoolSpecs> pool_specs(const Config& config) {
  PoolParseOptions options;
  options.sriov_prefix = config.text("devicePlugin.resourcePrefix");
  for (const auto role : {Role::compute, Role::storage, Role::management, Role::front_end,
                          Role::nvlink_management, Role::virtual_function, Role::unknown}) {
    options.roles.emplace_back(to_string(role));
  }
  return parse_pools(config.pool_sources(), options);
}

Result<std::vector<RoleOverride>> role_overrides(const Config& config) {
  std::vector<RoleOverride> overrides;
  for (const auto& setting : config.roles()) {
    RoleOverride one;
    one.name_glob = setting.name.text;
    one.netdev_glob = setting.netdev.text;
    TRY_STATUS(read_address(setting.pci, one));
    TRY_STATUS(read_ids(setting.device, one));
    TRY_STATUS(read_link_layer(setting.link_layer, one));
    const auto role = parse_role(setting.role.text);
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

Result<std::optional<TextFile>> read_topology_file(const std::string& path, ReadFile read) {
  if (path.empty()) return std::optional<TextFile>();
  auto text = TRY(read(path, kMaxTopologyBytes));
  return std::optional<TextFile>({path, std::move(text)});
}

Result<std::optional<NcclTopology>> operator_topology(const Config& config) {
  const auto file = TRY(read_topology_file(config.text("topology.file"), read_input_file));
  if (!file) return std::optional<NcclTopology>();
  return std::optional<NcclTopology>(TRY(parse_nccl_topology(file->text, file->path)));
}

PodsOptions pods_options(const Config& config) {
  PodsOptions options;
  options.node_name = config.text("node.name");
  options.every = std::chrono::seconds(config.number("pods.sampleSeconds"));
  options.proof.grace_seconds = static_cast<double>(config.number("pods.graceSeconds"));
  options.proof.ignore = config.list("pods.ignore");
  options.usage.proc_dir = config.text("host.proc");
  return options;
}

ReadTimes read_times(const Config& config) {
  return {std::chrono::seconds(config.number("host.rescanSeconds")),
          std::chrono::seconds(config.number("host.portCheckSeconds"))};
}

bool concerns_machine(const std::vector<std::string>& changed) {
  return std::any_of(changed.begin(), changed.end(), [](const std::string& key) {
    return key != "log.level" && key != "pods.ignore";
  });
}

nri::SessionOptions session_options(const Config& config) {
  nri::SessionOptions options;
  options.socket_path = config.text("nri.socket");
  options.plugin_name = config.text("nri.pluginName");
  options.plugin_index = config.text("nri.pluginIndex");
  options.fail_request = config.enabled("nri.failRequest");
  options.random = [engine = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
  return options;
}

Result<Policies> policies_of(const Config& config) {
  Policies policies;
  policies.settings.roles = TRY(role_overrides(config));
  auto pools = TRY(pool_specs(config));
  policies.warnings = config.warnings();
  policies.warnings.insert(policies.warnings.end(), pools.warnings.begin(), pools.warnings.end());
  for (const auto& spec : pools.specs) {
    if (spec.origin.where.empty() || config.enabled("devicePlugin.enabled")) continue;
    policies.warnings.push_back(spec.origin.where + ": pool " + spec.name +
                                " is not reported: devicePlugin.enabled is false");
  }
  policies.settings.policy = injection_policy(config);
  policies.settings.policy.pools = std::move(pools.specs);
  policies.settings.read_topology_file = [path = config.text("topology.file")] {
    return read_topology_file(path, read_file_at_once);
  };
  return policies;
}

Result<Policies> agent_policies(const Config& config) {
  TRY(machine_origin(config));
  TRY(kubelet_options(config));
  const auto& address = config.entry("metrics.bindAddress");
  if (!address.text.empty()) {
    const auto parsed = parse_http_address(address.text);
    if (!parsed) return parsed.error().context(address.where + ": metrics.bindAddress");
  }
  return policies_of(config);
}

}  // namespace railhead
