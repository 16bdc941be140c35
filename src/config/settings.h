// SPDX-License-Identifier: Apache-2.0
//
// Every setting: a member of Settings, which has the parsed value, and a row of kSettings. Flags,
// environment variables, file keys, `--help`, `railhead config` and docs/configuration.md all come
// from the row; the defaults live in it, in the binary.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/find.h"
#include "base/result.h"
#include "config/words.h"
#include "gpu/vendors.h"

namespace railhead::config {

/// What the settings say, for whoever acts by them. The rows below say what each is.
struct Settings {
  struct Host {
    std::string root;
    std::string snapshot;
    std::string nccl_topo;
    std::string proc;
    std::chrono::seconds rescan{};
    std::chrono::seconds port_check{};
  };

  struct Topology {
    std::string file;
  };

  struct Node {
    std::string name;
  };

  struct Nri {
    bool enabled = false;
    std::string socket;
    std::string plugin_name;
    std::string plugin_index;
    bool fail_request = false;
  };

  struct DevicePlugin {
    bool enabled = false;
    std::string dir;
    std::optional<HandOut> hand_out;
    std::string cdi_dir;
    std::string device_info_dir;
    Registration registration{};
    std::string resource_prefix;
  };

  struct Kubelet {
    std::string root_dir;
  };

  struct Kubernetes {
    bool startup_taint = false;
    bool events = false;
    bool conditions = false;
    std::string kubeconfig;
  };

  struct Nfd {
    std::string file;
    std::chrono::seconds expiry{};
    bool remove_at_end = false;
  };

  struct Injection {
    GpuPolicy gpus{};
    std::vector<std::string> gpu_resources;
    AnnotationPolicy annotations{};
    std::uint64_t memlock_cap_bytes = 0;
    std::vector<std::string> devices;
    bool roce_without_host_network = false;
    bool pf_with_vfs = false;
    bool vm_runtimes = false;
    std::vector<std::string> vm_runtime_handlers;
    bool ucx_environment = false;
    bool nvshmem_environment = false;
    bool gdrcopy = false;
    std::string nccl_topo_file;
  };

  struct Pods {
    std::chrono::seconds sample{};
    std::chrono::seconds grace{};
    std::vector<std::string> ignore;
    QueuePairChoice queue_pairs{};
  };

  struct Metrics {
    std::string bind_address;
    std::string socket;
    std::string token_file;
    std::chrono::seconds ports{};
  };

  struct Doctor {
    std::chrono::seconds every{};
    std::string history_file;
  };

  struct Log {
    LogLevel level{};
    LogFormat format{};
  };

  Host host;
  Topology topology;
  Node node;
  Nri nri;
  DevicePlugin device_plugin;
  Kubelet kubelet;
  Kubernetes kubernetes;
  Nfd nfd;
  Injection injection;
  Pods pods;
  Metrics metrics;
  Doctor doctor;
  Log log;
};

/// When a changed value takes effect in a running agent.
enum class Change : std::uint8_t {
  restart,
  live,
  machine,  ///< live, once the machine's table is made or read in its way
};
std::string_view to_string(Change change);  ///< "restart", "live"; machine is "live", too

/// A row of kSettings.
struct SettingSpec {
  std::string_view key;       ///< path in the file: "nri.socket"
  std::string_view flag;      ///< "--nri-socket"; its variable is RAILHEAD_NRI_SOCKET
  std::string_view fallback;  ///< the default, as text
  std::string_view shape;     ///< "PATH", "true|false", …
  std::string_view help;
  /// Parses a text into its member; refuses one that is not of this shape, and the error says what
  /// is allowed.
  Status (*read)(std::string_view text, Settings& into);
  Change change = Change::restart;

  /// Its environment variable: "RAILHEAD_NRI_SOCKET".
  [[nodiscard]] std::string variable() const;
};

/// SettingSpec::read for a member of a section.
template <auto section, auto member, auto parse>
Status into(std::string_view text, Settings& settings) {
  (settings.*section).*member = TRY(parse(text));
  return {};
}

/// In the order of the documentation.
inline constexpr SettingSpec kSettings[] = {
    {"host.root", "--host-root", "/", "DIR", "root of the tree that the machine is read from",
     into<&Settings::host, &Settings::Host::root, parse_path>},
    {"host.snapshot", "--snapshot", "", "FILE", "read the machine from a snapshot instead",
     into<&Settings::host, &Settings::Host::snapshot, parse_any_text>},
    {"host.ncclTopo", "--nccl-topo", "", "FILE",
     "take an NCCL topology file for the machine: GPUs, NICs and PCI tree only; not for the agent",
     into<&Settings::host, &Settings::Host::nccl_topo, parse_any_text>},
    {"host.proc", "--host-proc", "/proc", "DIR", "the host's procfs as the agent sees it",
     into<&Settings::host, &Settings::Host::proc, parse_path>},
    {"host.rescanSeconds", "--rescan-interval", "30", "TIME",
     "read the machine again at least this often, events or not",
     into<&Settings::host, &Settings::Host::rescan, parse_interval>, Change::machine},
    {"host.portCheckSeconds", "--port-check-interval", "1", "TIME",
     "look at the state of every port this often, and read the machine again if one has changed; "
     "0: only events and rescans",
     into<&Settings::host, &Settings::Host::port_check, parse_interval_or_never>, Change::machine},
    {"topology.file", "--topology-file", "", "FILE",
     "NCCL topology file of this machine; it overrides sysfs",
     into<&Settings::topology, &Settings::Topology::file, parse_any_text>, Change::machine},
    {"node.name", "--node-name", "", "NAME", "the Kubernetes node name; default: the host name",
     into<&Settings::node, &Settings::Node::name, parse_any_text>},
    {"nri.enabled", "--nri", "true", "true|false", "connect to the container runtime and inject",
     into<&Settings::nri, &Settings::Nri::enabled, parse_switch>},
    {"nri.socket", "--nri-socket", "/var/run/nri/nri.sock", "PATH",
     "the runtime's NRI socket (mount its directory, not the file)",
     into<&Settings::nri, &Settings::Nri::socket, parse_path>},
    {"nri.pluginName", "--nri-plugin-name", "railhead", "NAME", "our name at the runtime",
     into<&Settings::nri, &Settings::Nri::plugin_name, parse_plugin_name>},
    {"nri.pluginIndex", "--nri-plugin-index", "90", "NN",
     "our place among the plugins; late, so that we see what others did",
     into<&Settings::nri, &Settings::Nri::plugin_index, parse_plugin_index>},
    {"nri.failRequest", "--nri-fail-request", "false", "true|false",
     "a request that we do not answer fails the container (NRI 0.12.4 and later)",
     into<&Settings::nri, &Settings::Nri::fail_request, parse_switch>},
    {"devicePlugin.enabled", "--device-plugin", "true", "true|false",
     "report resources to the kubelet, where there is one",
     into<&Settings::device_plugin, &Settings::DevicePlugin::enabled, parse_switch>},
    {"devicePlugin.dir", "--device-plugin-dir", "", "DIR",
     "the kubelet's device-plugins folder; default: the one under its root folder if a kubelet "
     "listens there, else /var/lib/kubelet/device-plugins",
     into<&Settings::device_plugin, &Settings::DevicePlugin::dir, parse_path_or_nothing>},
    {"devicePlugin.handout", "--handout", "auto", "auto|nri|device-specs|cdi",
     "who puts the nodes of an allocation into the container; auto: nri while nri.enabled, else "
     "device-specs; cdi: the runtime, by names that kubelets from 1.28 on pass",
     into<&Settings::device_plugin, &Settings::DevicePlugin::hand_out, parse_hand_out>},
    {"devicePlugin.cdiDir", "--cdi-dir", "/var/run/cdi", "DIR",
     "where the spec files of handout: cdi are; one of the folders that the runtime reads",
     into<&Settings::device_plugin, &Settings::DevicePlugin::cdi_dir, parse_path>},
    {"devicePlugin.deviceInfoDir", "--device-info-dir", "/var/run/k8s.cni.cncf.io/devinfo/dp",
     "DIR", "where Multus finds what was allocated of exclusive pools; empty: no files are written",
     into<&Settings::device_plugin, &Settings::DevicePlugin::device_info_dir,
          parse_path_or_nothing>},
    {"devicePlugin.registration", "--registration", "enrol", "enrol|found",
     "how the kubelet learns of the resources: we register on its socket, or it finds ours in "
     "plugins_registry",
     into<&Settings::device_plugin, &Settings::DevicePlugin::registration, parse_registration>},
    {"devicePlugin.resourcePrefix", "--resource-prefix", "intel.com", "DOMAIN",
     "the prefix of resources in an SR-IOV plugin's file that name none",
     into<&Settings::device_plugin, &Settings::DevicePlugin::resource_prefix, parse_any_text>,
     Change::machine},
    {"kubelet.rootDir", "--kubelet-root-dir", "/var/lib/kubelet", "DIR",
     "the kubelet's root folder",
     into<&Settings::kubelet, &Settings::Kubelet::root_dir, parse_path>},
    {"kubernetes.startupTaint", "--startup-taint", "false", "true|false",
     "take the taint railhead.io/not-ready off this node once containers are served",
     into<&Settings::kubernetes, &Settings::Kubernetes::startup_taint, parse_switch>},
    {"kubernetes.events", "--kubernetes-events", "false", "true|false",
     "post Events of pods and of the node where RDMA is refused, contradicted or silently not used",
     into<&Settings::kubernetes, &Settings::Kubernetes::events, parse_switch>},
    {"kubernetes.conditions", "--node-conditions", "false", "true|false",
     "write what the doctor's checks find into the conditions of this node; needs "
     "doctor.everySeconds",
     into<&Settings::kubernetes, &Settings::Kubernetes::conditions, parse_switch>},
    {"kubernetes.kubeconfig", "--kubeconfig", "", "FILE",
     "how to reach the API server; default: KUBECONFIG, else the pod's service account",
     into<&Settings::kubernetes, &Settings::Kubernetes::kubeconfig, parse_path_or_nothing>},
    {"nfd.file", "--nfd-file", "", "FILE",
     "write labels of this node for node-feature-discovery here; empty: none",
     into<&Settings::nfd, &Settings::Nfd::file, parse_path_or_nothing>},
    {"nfd.expirySeconds", "--nfd-expiry", "0", "TIME",
     "how long the labels hold after the agent last wrote them; 0: until the file changes or goes",
     into<&Settings::nfd, &Settings::Nfd::expiry, parse_interval_or_never>},
    {"nfd.removeAtEnd", "--nfd-remove-at-end", "false", "true|false",
     "remove the file when the agent ends, if it wrote it last",
     into<&Settings::nfd, &Settings::Nfd::remove_at_end, parse_switch>},
    {"injection.gpus", "--gpus", "closest", "closest|numa|all|none",
     "which NICs a container with GPUs gets without asking",
     into<&Settings::injection, &Settings::Injection::gpus, parse_gpu_policy>, Change::machine},
    {"injection.gpuResources", "--gpu-resources", gpu::kGpuResources, "LIST",
     "resources that are GPUs, shell patterns: who names GPUs in the environment must hold one",
     into<&Settings::injection, &Settings::Injection::gpu_resources, parse_list>, Change::machine},
    {"injection.annotations", "--annotations", "narrow", "narrow|allow|deny",
     "what pod annotations may do",
     into<&Settings::injection, &Settings::Injection::annotations, parse_annotation_policy>,
     Change::machine},
    {"injection.memlockCap", "--memlock-cap", "unlimited", "unlimited|BYTES",
     "highest RLIMIT_MEMLOCK that is ever set; a number may end in Ki, Mi, Gi or Ti",
     into<&Settings::injection, &Settings::Injection::memlock_cap_bytes, parse_byte_limit>,
     Change::machine},
    {"injection.devices", "--inject-devices", "uverbs,rdma_cm", "LIST",
     "device classes of a NIC that go into a container; umad and issm allow raw management "
     "datagrams",
     into<&Settings::injection, &Settings::Injection::devices, parse_device_classes>,
     Change::machine},
    {"injection.roceWithoutHostNetwork", "--roce-without-host-network", "false", "true|false",
     "deal Ethernet NICs to pods with a network namespace of their own, too",
     into<&Settings::injection, &Settings::Injection::roce_without_host_network, parse_switch>,
     Change::machine},
    {"injection.pfWithVfs", "--pf-with-vfs", "false", "true|false",
     "deal physical functions that have virtual functions enabled, too",
     into<&Settings::injection, &Settings::Injection::pf_with_vfs, parse_switch>, Change::machine},
    {"injection.vmRuntimes", "--vm-runtimes", "false", "true|false",
     "inject into containers of virtual-machine runtimes (kata and the like), too",
     into<&Settings::injection, &Settings::Injection::vm_runtimes, parse_switch>, Change::machine},
    {"injection.vmRuntimeHandlers", "--vm-runtime-handlers", "kata*,firecracker*,gvisor*,runsc*",
     "LIST", "runtime handlers whose containers have a kernel of their own, shell patterns",
     into<&Settings::injection, &Settings::Injection::vm_runtime_handlers, parse_list>,
     Change::machine},
    {"injection.ucxEnvironment", "--ucx-environment", "false", "true|false",
     "also set UCX_NET_DEVICES",
     into<&Settings::injection, &Settings::Injection::ucx_environment, parse_switch>,
     Change::machine},
    {"injection.nvshmemEnvironment", "--nvshmem-environment", "false", "true|false",
     "also set the variables by which NVSHMEM takes the NICs",
     into<&Settings::injection, &Settings::Injection::nvshmem_environment, parse_switch>,
     Change::machine},
    {"injection.gdrcopy", "--gdrcopy", "false", "true|false",
     "give /dev/gdrdrv to containers with NVIDIA GPUs where GDRCopy's module is loaded",
     into<&Settings::injection, &Settings::Injection::gdrcopy, parse_switch>, Change::machine},
    {"injection.ncclTopoFile", "--inject-nccl-topo", "/run/railhead/nccl-topology.xml", "PATH",
     "where the agent keeps the NCCL topology file that containers with GPUs get on virtual "
     "machines whose PCI tree hides the switches; empty: they get none",
     into<&Settings::injection, &Settings::Injection::nccl_topo_file, parse_path_or_nothing>,
     Change::machine},
    {"pods.sampleSeconds", "--pods-interval", "120", "TIME",
     "how often the agent looks who uses RDMA; an alarm takes three looks; 0: never",
     into<&Settings::pods, &Settings::Pods::sample, parse_interval_or_never>},
    {"pods.graceSeconds", "--pods-grace", "300", "TIME",
     "how long a container that is due to use RDMA may take, from when it opened its GPUs and had "
     "a TCP connection, until it is a silent fallback",
     into<&Settings::pods, &Settings::Pods::grace, parse_interval_or_never>},
    {"pods.ignore", "--pods-ignore", "", "NAMESPACE/POD,...",
     "pods that are no silent fallback whatever they do, shell patterns: \"monitoring/*\"",
     into<&Settings::pods, &Settings::Pods::ignore, parse_pod_patterns>, Change::live},
    {"pods.queuePairs", "--queue-pairs", "auto", "auto|always|never",
     "whether the kernel is asked to list queue pairs; auto: not where its version is known to "
     "read freed memory while it does",
     into<&Settings::pods, &Settings::Pods::queue_pairs, parse_queue_pair_choice>},
    {"metrics.bindAddress", "--bind-address", ":9479", "HOST:PORT",
     "where /metrics, /healthz and /readyz are served; port 0 picks one; empty: nowhere",
     into<&Settings::metrics, &Settings::Metrics::bind_address, parse_any_text>},
    {"metrics.socket", "--metrics-socket", "/run/railhead/agent.sock", "PATH",
     "Unix socket where all pages are served, for root on the node; empty: none",
     into<&Settings::metrics, &Settings::Metrics::socket, parse_path_or_nothing>},
    {"metrics.tokenFile", "--metrics-token-file", "", "FILE",
     "file of the bearer token for which /pods and /doctor are served on metrics.bindAddress, too; "
     "empty: never",
     into<&Settings::metrics, &Settings::Metrics::token_file, parse_path_or_nothing>},
    {"metrics.portSeconds", "--port-counters-interval", "15", "TIME",
     "how often the counters of ports are read for /metrics; 0: never",
     into<&Settings::metrics, &Settings::Metrics::ports, parse_interval_or_never>},
    {"doctor.everySeconds", "--doctor-interval", "0", "TIME",
     "how often the agent makes the doctor's checks of the node; 0: never",
     into<&Settings::doctor, &Settings::Doctor::every, parse_interval_or_never>},
    {"doctor.historyFile", "--doctor-history", "/run/railhead/doctor-history.json", "PATH",
     "where the agent keeps what it saw of port counters since the node was started, and where "
     "railhead doctor reads it; empty: the agent keeps it in memory, and forgets it when it ends",
     into<&Settings::doctor, &Settings::Doctor::history_file, parse_path_or_nothing>},
    {"log.level", "--log-level", "info", "debug|info|warn|error", "least severity that is logged",
     into<&Settings::log, &Settings::Log::level, parse_log_level>, Change::live},
    {"log.format", "--log-format", "text", "text|json",
     "one line of text or one JSON object an event",
     into<&Settings::log, &Settings::Log::format, parse_log_format>},
};

/// The row of this key; null where there is none.
constexpr const SettingSpec* find_setting(std::string_view key) {
  return find_by(kSettings, &SettingSpec::key, key);
}

/// A row as code names it: a key that there is not does not compile.
class SettingRow {
 public:
  // Not explicit: code writes the bare key.
  consteval SettingRow(const char* key)
      : row_(find_setting(key)) {  // NOLINT
    if (row_ == nullptr) throw "no such setting";
  }

  constexpr SettingRow(const SettingSpec& row)
      : row_(&row) {}  // NOLINT

  const SettingSpec& operator*() const { return *row_; }

  const SettingSpec* operator->() const { return row_; }

  /// Its place in the table.
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(row_ - kSettings); }

  friend auto operator<=>(const SettingRow&, const SettingRow&) = default;

 private:
  const SettingSpec* row_;
};

}  // namespace railhead::config
