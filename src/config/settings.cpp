// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "gpu/vendors.h"

namespace railhead {
namespace {

constexpr std::uint64_t kUnlimitedBytes = ~std::uint64_t{0};

Status any_text(std::string_view) {
  return {};
}

Status a_path(std::string_view text) {
  if (text.starts_with('/')) return {};
  return Error{ErrorCode::malformed, in_quotes(text) + " is not an absolute path"};
}

Status a_path_or_nothing(std::string_view text) {
  return text.empty() ? Status() : a_path(text);
}

Status a_switch(std::string_view text) {
  TRY(parse_switch(text));
  return {};
}

Status a_byte_limit(std::string_view text) {
  TRY(parse_byte_limit(text));
  return {};
}

Status one_of(std::string_view text, std::span<const std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return {};
  std::string list;
  for (const auto word : allowed) list += (list.empty() ? "" : ", ") + std::string(word);
  return Error{ErrorCode::malformed, in_quotes(text) + " is none of " + list};
}

Status a_gpu_policy(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kWords{"closest", "numa", "all", "none"};
  return one_of(text, kWords);
}

Status an_annotation_policy(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kWords{"narrow", "allow", "deny"};
  return one_of(text, kWords);
}

Status a_log_level(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kWords{"debug", "info", "warn", "error"};
  return one_of(text, kWords);
}

Status a_log_format(std::string_view text) {
  static constexpr std::array<std::string_view, 2> kWords{"text", "json"};
  return one_of(text, kWords);
}

Status a_handout(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kWords{"auto", "nri", "device-specs", "cdi"};
  return one_of(text, kWords);
}

Status a_route(std::string_view text) {
  static constexpr std::array<std::string_view, 2> kWords{"enrol", "found"};
  return one_of(text, kWords);
}

Status off_until_built(std::string_view text) {
  if (!TRY(parse_switch(text))) return {};
  return Error{ErrorCode::unsupported, "this version has no such face yet; leave it false"};
}

Status device_classes(std::string_view text) {
  for (const auto word : split(text, ',')) TRY_STATUS(one_of(word, kDeviceClasses));
  return {};
}

/// nri: pkg/api/plugin.go: exactly two digits.
Status a_plugin_index(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() == 2 && digit(text[0]) && digit(text[1])) return {};
  return Error{ErrorCode::malformed, in_quotes(text) + " is not two digits"};
}

/// nri: pkg/api/plugin.go: letters, digits and "_.+-".
Status a_plugin_name(std::string_view text) {
  static constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
  if (!text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos) return {};
  return Error{ErrorCode::malformed,
               in_quotes(text) + " has other characters than letters, digits, _.+-"};
}

Status an_interval(std::string_view text) {
  const auto seconds = parse_unsigned(text);
  if (seconds && *seconds >= 1 && *seconds <= kMaxRescanSeconds) return {};
  return Error{ErrorCode::malformed,
               in_quotes(text) + " is not 1 to " + std::to_string(kMaxRescanSeconds) + " seconds"};
}

Status seconds_or_none(std::string_view text) {
  return text == "0" ? Status() : an_interval(text);
}

Status pod_patterns(std::string_view text) {
  for (const auto piece : split(text, ',')) {
    const auto word = trim(piece);
    const auto slash = word.find('/');
    const bool both = slash != std::string_view::npos && slash > 0 && slash + 1 < word.size() &&
                      word.find('/', slash + 1) == std::string_view::npos;
    if (both || word.empty()) continue;
    return Error{ErrorCode::malformed, in_quotes(word) + " is not NAMESPACE/POD"};
  }
  return {};
}

constexpr SettingSpec kSettings[] = {
    {"host.root", "--host-root", "RAILHEAD_HOST_ROOT", "/", "DIR",
     "root of the tree that the machine is read from", a_path},
    {"host.snapshot", "--snapshot", "RAILHEAD_SNAPSHOT", "", "FILE",
     "read the machine from a snapshot instead", any_text},
    {"host.ncclTopo", "--nccl-topo", "RAILHEAD_NCCL_TOPO", "", "FILE",
     "take an NCCL topology file for the machine: GPUs, NICs and PCI tree only; not for the agent",
     any_text},
    {"host.proc", "--host-proc", "RAILHEAD_HOST_PROC", "/proc", "DIR",
     "the host's procfs as the agent sees it", a_path},
    {"host.rescanSeconds", "--rescan-interval", "RAILHEAD_RESCAN_INTERVAL", "30", "SECONDS",
     "read the machine again at least this often, events or not", an_interval, Change::live},
    {"host.portCheckSeconds", "--port-check-interval", "RAILHEAD_PORT_CHECK_INTERVAL", "1",
     "SECONDS",
     "look at the state of every port so often, and read the machine where one has changed; 0: "
     "only "
     "events and rescans",
     seconds_or_none, Change::live},
    {"topology.file", "--topology-file", "RAILHEAD_TOPOLOGY_FILE", "", "FILE",
     "NCCL topology file of this machine; it counts before everything that sysfs says", any_text,
     Change::live},
    {"node.name", "--node-name", "RAILHEAD_NODE_NAME", "", "NAME",
     "the Kubernetes node name; default: the host name", any_text},
    {"nri.enabled", "--nri", "RAILHEAD_NRI", "true", "true|false",
     "connect to the container runtime and inject", a_switch},
    {"nri.socket", "--nri-socket", "RAILHEAD_NRI_SOCKET", "/var/run/nri/nri.sock", "PATH",
     "the runtime's NRI socket (mount its directory, not the file)", a_path},
    {"nri.pluginName", "--nri-plugin-name", "RAILHEAD_NRI_PLUGIN_NAME", "railhead", "NAME",
     "our name at the runtime", a_plugin_name},
    {"nri.pluginIndex", "--nri-plugin-index", "RAILHEAD_NRI_PLUGIN_INDEX", "90", "NN",
     "our place among the plugins; late, so that we see what others did", a_plugin_index},
    {"nri.failRequest", "--nri-fail-request", "RAILHEAD_NRI_FAIL_REQUEST", "false", "true|false",
     "a request that we do not answer fails the container (NRI 0.12.4 and later)", a_switch},
    {"devicePlugin.enabled", "--device-plugin", "RAILHEAD_DEVICE_PLUGIN", "true", "true|false",
     "report resources to the kubelet, where there is one", a_switch},
    {"devicePlugin.dir", "--device-plugin-dir", "RAILHEAD_DEVICE_PLUGIN_DIR", "", "DIR",
     "the kubelet's device-plugins folder; default: the one under its root folder if a kubelet "
     "listens there, else /var/lib/kubelet/device-plugins",
     a_path_or_nothing},
    {"devicePlugin.handout", "--handout", "RAILHEAD_HANDOUT", "auto", "auto|nri|device-specs|cdi",
     "who puts the nodes of an allocation into the container; auto: nri while nri.enabled, else "
     "device-specs; cdi: the runtime, by names that kubelets from 1.28 on pass",
     a_handout},
    {"devicePlugin.cdiDir", "--cdi-dir", "RAILHEAD_CDI_DIR", "/var/run/cdi", "DIR",
     "where the spec files of handout: cdi are; one of the folders that the runtime reads", a_path},
    {"devicePlugin.deviceInfoDir", "--device-info-dir", "RAILHEAD_DEVICE_INFO_DIR",
     "/var/run/k8s.cni.cncf.io/devinfo/dp", "DIR",
     "where Multus finds what was allocated of exclusive pools; empty: it is told nothing",
     a_path_or_nothing},
    {"devicePlugin.registration", "--registration", "RAILHEAD_REGISTRATION", "enrol", "enrol|found",
     "how the kubelet learns of the resources: we register on its socket, or it finds ours in "
     "plugins_registry",
     a_route},
    {"devicePlugin.resourcePrefix", "--resource-prefix", "RAILHEAD_RESOURCE_PREFIX", "intel.com",
     "DOMAIN", "of resources in an SR-IOV plugin's file that name no resourcePrefix", any_text,
     Change::live},
    {"kubelet.rootDir", "--kubelet-root-dir", "RAILHEAD_KUBELET_ROOT_DIR", "/var/lib/kubelet",
     "DIR", "the kubelet's root folder", a_path},
    {"dra.enabled", "--dra", "RAILHEAD_DRA", "false", "true|false",
     "publish NICs through dynamic resource allocation (not in this version)", off_until_built},
    {"injection.gpus", "--gpus", "RAILHEAD_GPUS", "closest", "closest|numa|all|none",
     "which NICs a container with GPUs gets without asking", a_gpu_policy, Change::live},
    {"injection.gpuResources", "--gpu-resources", "RAILHEAD_GPU_RESOURCES", kGpuResources, "LIST",
     "resources that are GPUs, shell patterns: who names GPUs in the environment must hold one",
     any_text, Change::live},
    {"injection.annotations", "--annotations", "RAILHEAD_ANNOTATIONS", "narrow",
     "narrow|allow|deny", "what pod annotations may do", an_annotation_policy, Change::live},
    {"injection.memlockCap", "--memlock-cap", "RAILHEAD_MEMLOCK_CAP", "unlimited",
     "unlimited|BYTES", "highest RLIMIT_MEMLOCK that is ever set", a_byte_limit, Change::live},
    {"injection.devices", "--inject-devices", "RAILHEAD_INJECT_DEVICES", "uverbs,rdma_cm", "LIST",
     "device classes of a NIC that go into a container; umad and issm allow raw management "
     "datagrams",
     device_classes, Change::live},
    {"injection.roceWithoutHostNetwork", "--roce-without-host-network",
     "RAILHEAD_ROCE_WITHOUT_HOST_NETWORK", "false", "true|false",
     "deal Ethernet NICs to pods with a network namespace of their own, too", a_switch,
     Change::live},
    {"injection.pfWithVfs", "--pf-with-vfs", "RAILHEAD_PF_WITH_VFS", "false", "true|false",
     "deal physical functions that have virtual functions enabled, too", a_switch, Change::live},
    {"injection.vmRuntimes", "--vm-runtimes", "RAILHEAD_VM_RUNTIMES", "false", "true|false",
     "inject into containers of virtual-machine runtimes (kata and the like), too", a_switch,
     Change::live},
    {"injection.vmRuntimeHandlers", "--vm-runtime-handlers", "RAILHEAD_VM_RUNTIME_HANDLERS",
     "kata*,firecracker*,gvisor*,runsc*", "LIST",
     "runtime handlers whose containers have a kernel of their own, shell patterns", any_text,
     Change::live},
    {"injection.ucxEnvironment", "--ucx-environment", "RAILHEAD_UCX_ENVIRONMENT", "false",
     "true|false", "also set UCX_NET_DEVICES", a_switch, Change::live},
    {"injection.nvshmemEnvironment", "--nvshmem-environment", "RAILHEAD_NVSHMEM_ENVIRONMENT",
     "false", "true|false", "also set NVSHMEM_HCA_LIST", a_switch, Change::live},
    {"injection.ncclTopoFile", "--inject-nccl-topo", "RAILHEAD_INJECT_NCCL_TOPO",
     "/run/railhead/nccl-topology.xml", "PATH",
     "where the agent keeps the NCCL topology file that containers with GPUs get on virtual "
     "machines "
     "whose PCI tree hides the switches; empty: they get none",
     a_path_or_nothing, Change::live},
    {"pods.sampleSeconds", "--pods-interval", "RAILHEAD_PODS_INTERVAL", "15", "SECONDS",
     "how often the agent looks who uses RDMA; 0: never", seconds_or_none},
    {"pods.graceSeconds", "--pods-grace", "RAILHEAD_PODS_GRACE", "300", "SECONDS",
     "age from which a container with several GPUs, peers and no connected queue pair is a silent "
     "fallback to TCP",
     seconds_or_none},
    {"pods.ignore", "--pods-ignore", "RAILHEAD_PODS_IGNORE", "", "NAMESPACE/POD,...",
     "pods that are no silent fallback whatever they do, shell patterns: \"monitoring/*\"",
     pod_patterns, Change::live},
    {"metrics.bindAddress", "--bind-address", "RAILHEAD_BIND_ADDRESS", ":9479", "HOST:PORT",
     "where /metrics, /healthz and /readyz are served; port 0 picks one; empty: nowhere", any_text},
    {"metrics.socket", "--metrics-socket", "RAILHEAD_METRICS_SOCKET", "/run/railhead/agent.sock",
     "PATH", "Unix socket where all pages are served, for root on the node; empty: none",
     a_path_or_nothing},
    {"metrics.tokenFile", "--metrics-token-file", "RAILHEAD_METRICS_TOKEN_FILE", "", "FILE",
     "file of the bearer token for which /pods is served on metrics.bindAddress, too; empty: never",
     a_path_or_nothing},
    {"log.level", "--log-level", "RAILHEAD_LOG_LEVEL", "info", "debug|info|warn|error",
     "least severity that is logged", a_log_level, Change::live},
    {"log.format", "--log-format", "RAILHEAD_LOG_FORMAT", "text", "text|json",
     "one line of text or one JSON object an event", a_log_format},
};

}  // namespace

std::string_view to_string(Change change) {
  return change == Change::live ? "live" : "restart";
}

std::span<const SettingSpec> all_settings() {
  return kSettings;
}

const SettingSpec* find_setting(std::string_view key) {
  for (const auto& spec : kSettings) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

Result<std::uint64_t> parse_byte_limit(std::string_view text) {
  if (text == "unlimited" || text == "-1") return kUnlimitedBytes;
  static constexpr std::string_view kSuffixes[] = {"Ki", "Mi", "Gi", "Ti"};
  std::string_view digits = text;
  unsigned shift = 0;
  for (std::size_t i = 0; i < std::size(kSuffixes); ++i) {
    if (text.ends_with(kSuffixes[i])) {
      shift = static_cast<unsigned>(10 * (i + 1));
      digits.remove_suffix(2);
    }
  }
  const auto number = parse_unsigned(digits);
  if (!number || *number > (kUnlimitedBytes >> shift)) {
    return Error{ErrorCode::malformed,
                 in_quotes(text) + " is neither \"unlimited\" nor a number of bytes"};
  }
  return *number << shift;
}

Result<bool> parse_switch(std::string_view text) {
  const auto lower = to_lower(text);
  if (lower == "true" || lower == "1" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "0" || lower == "no" || lower == "off") return false;
  return Error{ErrorCode::malformed, in_quotes(text) + " is neither true nor false"};
}

}  // namespace railhead
