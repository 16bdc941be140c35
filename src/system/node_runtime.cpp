// SPDX-License-Identifier: Apache-2.0
#include "system/node_runtime.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "data/below.h"
#include "data/toml.h"
#include "system/kept_files.h"
#include "system/system.h"

namespace railhead::system {
namespace {

/// The default of the kubelet, and of containerd
/// (pkg/kubelet/apis/config/v1beta1/defaults.go).
constexpr std::string_view kContainerdSocket = "/run/containerd/containerd.sock";
/// CRI-O's, whose packages say it to the kubelet, too (internal/lib/constants, CrioSocketPath).
constexpr std::string_view kCrioSocket = "/run/crio/crio.sock";
/// Of kubeadm (cmd/kubeadm/app/constants) and of its own unit.
constexpr std::string_view kCriDockerdSocket = "/run/cri-dockerd.sock";
/// Where a kubelet before 1.24 served itself for Docker (--container-runtime=docker).
constexpr std::string_view kDockershimSocket = "/run/dockershim.sock";
/// K3s and RKE2 start a containerd there unless they are told to use another runtime
/// (k3s-io/k3s, pkg/agent/config).
constexpr std::string_view kK3sSocket = "/run/k3s/containerd/containerd.sock";

constexpr std::string_view kContainerd = "containerd";
constexpr std::string_view kCrio = "crio";
constexpr std::string_view kCriDockerd = "cri-dockerd";

/// Of the kubelet, and of cri-dockerd.
constexpr std::string_view kOption = "container-runtime-endpoint";

/// Where the kubelet says its runtime to be.
struct Endpoint {
  std::string path;
  std::string said_by;
};

/// A process that may be the runtime.
struct Candidate {
  const Service* service = nullptr;
  std::string config;
  std::string address;
  bool is_config_named = false;
  bool has_cri = true;  ///< false: its file switches off what a kubelet asks
};

constexpr bool is_kubelet(std::string_view name) {
  return name == "kubelet" || name == "kubelite" || name.starts_with("k3s-");
}

std::string file_text(host::Host& host, const std::string& path, host::Keep keep) {
  const auto text = host.read_keeping(path, keep);
  return text && *text ? **text : "";
}

std::string folder_of_process(int pid) {
  return "/proc/" + std::to_string(pid);
}

/// Unit of systemd that a process is in, by the last name in its cgroups that is one (cgroups(7),
/// /proc/PID/cgroup).
std::string unit_of(std::string_view cgroups) {
  constexpr std::string_view kEnd = ".service";
  std::string unit;
  for (const auto line : split(cgroups, '\n')) {
    for (const auto name : split(line, '/')) {
      if (name.ends_with(kEnd)) unit = name.substr(0, name.size() - kEnd.size());
    }
  }
  return unit;
}

/// Whether it runs in a container of the kubelet: a pod of "Docker in Docker" has a containerd.
bool is_in_pod(std::string_view cgroups) {
  return cgroups.find("/kubepods") != std::string_view::npos;
}

/// Of a machine that is itself in a pod nothing can be said.
bool is_in_pod(host::Host& host, const Service& service) {
  return !is_in_pod(file_text(host, folder_of_process(1) + "/cgroup", kept_unit)) &&
         is_in_pod(file_text(host, folder_of_process(service.pid) + "/cgroup", kept_unit));
}

/// A path that a process names, as the machine has it.
std::string absolute(host::Host& host, int pid, const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  const auto folder = host.readlink(folder_of_process(pid) + "/cwd");
  if (!folder || !*folder) return "";
  return host::join_link(**folder + "/cwd", path);
}

/// The value of an option of CRI-O, which its environment may say, too (internal/criocli).
std::optional<std::string> option_of_crio(host::Host& host, const Service& service,
                                          std::initializer_list<std::string_view> names,
                                          std::string_view variable) {
  if (auto said = argument_of(service.arguments, names)) return said;
  const auto text =
      file_text(host, folder_of_process(service.pid) + "/environ", kept_crio_environment);
  for (const auto word : split(text, '\0')) {
    if (word.starts_with(variable) && word.substr(variable.size()).starts_with('='))
      return std::string(word.substr(variable.size() + 1));
  }
  return std::nullopt;
}

std::string_view default_address(std::string_view name) {
  return name == kContainerd ? kContainerdSocket : name == kCrio ? kCrioSocket : kCriDockerdSocket;
}

bool has_cri(const data::Value& containerd) {
  for (const auto& plugin : data::items_below(containerd, {"disabled_plugins"})) {
    if (plugin.scalar == "cri" || plugin.scalar == "io.containerd.grpc.v1.cri") return false;
  }
  return true;
}

Candidate candidate_of(host::Host& host, const Service& service) {
  const bool is_containerd = service.name == kContainerd;
  Candidate found{&service, default_runtime_config(service.name), ""};
  const auto config = service.name == kCrio
                          ? option_of_crio(host, service, {"config", "c"}, "CONTAINER_CONFIG")
                          : argument_of(service.arguments, {"config", "c"});
  found.is_config_named = config.has_value();
  if (config) found.config = absolute(host, service.pid, *config);
  auto address = is_containerd           ? argument_of(service.arguments, {"address", "a"})
                 : service.name == kCrio ? argument_of(service.arguments, {"listen"})
                                         : argument_of(service.arguments, {kOption});
  const auto file = service.name == kCriDockerd
                        ? Result<data::Value>(data::Value())
                        : data::parse_toml(file_text(host, found.config, kept_runtime_settings));
  if (file && is_containerd) found.has_cri = has_cri(*file);
  if (file && !address)
    address = std::string(is_containerd ? data::text_below(*file, {"grpc", "address"})
                                        : data::text_below(*file, {"crio", "api", "listen"}));
  // "fd://": systemd listens for it, at the usual place.
  if (!address || address->empty() || address->starts_with("fd:"))
    address = default_address(service.name);
  found.address = socket_path(*address);
  return found;
}

/// "${SNAP_COMMON}/run/containerd.sock" of MicroK8s (canonical/microk8s,
/// microk8s-resources/default-args).
std::string without_snap(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kFolders{
      {{"${SNAP_COMMON}", "/var/snap/microk8s/common"},
       {"${SNAP_DATA}", "/var/snap/microk8s/current"}}};
  for (const auto& [name, folder] : kFolders) {
    const auto at = text.find(name);
    if (at != std::string::npos) text.replace(at, name.size(), folder);
  }
  return text;
}

/// What a file of the kubelet says; "": nothing. Absent: it cannot be read.
std::optional<std::string> endpoint_said(host::Host& host, const std::string& path) {
  const auto text = host.read_keeping(path, kept_kubelet_settings);
  if (!text || !*text) return std::nullopt;
  const auto file = data::parse_yaml(**text);
  if (!file) return std::nullopt;
  return std::string(data::text_below(*file, {"containerRuntimeEndpoint"}));
}

/// The file, and what is in its drop-ins, the last of which counts (--config-dir, kubernetes.io,
/// kubelet-config-file). Absent: one of them cannot be read.
std::optional<Endpoint> endpoint_in_file(host::Host& host, const std::string& path,
                                         const std::string& drop_ins) {
  std::vector<std::string> paths = {path};
  const auto names =
      host.list_keeping(drop_ins, [](std::string_view name) { return name.ends_with(".conf"); });
  if (!drop_ins.empty() && names && *names) {
    for (const auto& name : **names) {
      if (name.ends_with(".conf")) paths.push_back(drop_ins + "/" + name);
    }
  }
  Endpoint found{std::string(kContainerdSocket), path};
  for (const auto& one : paths) {
    const auto said = endpoint_said(host, one);
    if (!said) return std::nullopt;
    if (!said->empty()) found = {socket_path(*said), one};
  }
  return found;
}

/// The kubelet's arguments one a line, or in quotes behind a variable (kubeadm-flags.env).
std::optional<Endpoint> endpoint_in_arguments(host::Host& host, const std::string& path) {
  std::string text = file_text(host, path, kept_endpoint_argument);
  std::ranges::replace(text, '"', ' ');
  std::vector<std::string> words;
  for (const auto word : split_words(text)) words.emplace_back(word);
  const auto said = argument_of(words, {kOption});
  if (!said) return std::nullopt;
  return Endpoint{socket_path(without_snap(*said)), path};
}

/// Of K3s and RKE2's own process. Their containerd is at that place unless they are told otherwise,
/// and what tells them may be a file that holds the token of the cluster, which is not read.
std::optional<Endpoint> endpoint_of_k3s(const Service& service,
                                        const std::vector<Candidate>& candidates) {
  const auto said = argument_of(service.arguments, {kOption});
  const std::string path = folder_of_process(service.pid) + "/cmdline";
  if (said) return Endpoint{socket_path(*said), path};
  if (find_by(candidates, &Candidate::address, kK3sSocket) == nullptr) return std::nullopt;
  return Endpoint{std::string(kK3sSocket), path};
}

/// The flag counts more than the file, and the file more than the default (kubernetes.io,
/// kubelet-config-file).
std::optional<Endpoint> endpoint_of_kubelet(host::Host& host, const Service& service,
                                            const std::vector<Candidate>& candidates) {
  if (service.name.starts_with("k3s")) return endpoint_of_k3s(service, candidates);
  if (service.name == "kubelite")
    return endpoint_in_arguments(host, "/var/snap/microk8s/current/args/kubelet");
  const std::string path = folder_of_process(service.pid) + "/cmdline";
  if (const auto said = argument_of(service.arguments, {kOption}))
    return Endpoint{socket_path(*said), path};
  if (argument_of(service.arguments, {"container-runtime"}) == "docker")
    return Endpoint{std::string(kDockershimSocket), path};
  if (service.arguments.empty()) return std::nullopt;  // hidden from us
  const auto config = argument_of(service.arguments, {"config"});
  if (!config) return Endpoint{std::string(kContainerdSocket), path};
  const auto drop_ins = argument_of(service.arguments, {"config-dir"}).value_or("");
  return endpoint_in_file(host, absolute(host, service.pid, *config),
                          absolute(host, service.pid, drop_ins));
}

/// What the kubelet is told at its next start, where none runs.
std::optional<Endpoint> endpoint_in_files(host::Host& host) {
  if (auto said = endpoint_in_arguments(host, "/var/lib/kubelet/kubeadm-flags.env")) return said;
  const std::string path = "/var/lib/kubelet/config.yaml";
  const auto said = endpoint_said(host, path);
  if (!said || said->empty()) return std::nullopt;
  return Endpoint{socket_path(*said), path};
}

/// The inode of the socket that listens at this path. "": none does, or it is not known.
std::string inode_of_listener(host::Host& host, const std::string& path) {
  for (const auto& listener : read_listeners(host)) {
    if (listener.path == path) return listener.inode;
  }
  return "";
}

bool has_open(host::Host& host, int pid, const std::string& inode) {
  constexpr std::size_t kMaxFiles = 65536;
  bool found = false;
  (void)host.walk_links(folder_of_process(pid) + "/fd", kMaxFiles, [&](const std::string& target) {
    found = found || target == "socket:[" + inode + "]";
  });
  return found;
}

std::vector<const Candidate*> at_address(const std::vector<Candidate>& candidates,
                                         std::string_view path) {
  std::vector<const Candidate*> found;
  for (const auto& candidate : candidates) {
    if (candidate.address == path) found.push_back(&candidate);
  }
  return found;
}

/// Who listens there. The kernel is asked where what the processes say of themselves names none or
/// several.
std::vector<const Candidate*> listeners(host::Host& host, const std::vector<Candidate>& candidates,
                                        const std::string& path) {
  auto found = at_address(candidates, path);
  if (found.size() == 1) return found;
  const auto inode = inode_of_listener(host, path);
  if (inode.empty()) return found;
  std::vector<const Candidate*> holders;
  for (const auto& candidate : candidates) {
    if (has_open(host, candidate.service->pid, inode)) holders.push_back(&candidate);
  }
  return holders.empty() ? found : holders;
}

/// A program by the name of its socket, where no process is seen.
std::string name_in(std::string_view socket) {
  for (const auto name : {kCriDockerd, kCrio, kContainerd}) {
    if (socket.find(name) != std::string_view::npos) return std::string(name);
  }
  return "";
}

void take(host::Host& host, const Candidate& candidate, NodeRuntime& runtime) {
  const auto& service = *candidate.service;
  runtime.name = service.name;
  runtime.pid = service.pid;
  runtime.arguments = service.arguments;
  runtime.config = candidate.config;
  runtime.is_config_named = candidate.is_config_named;
  if (runtime.socket.empty()) runtime.socket = candidate.address;
  runtime.unit = unit_of(file_text(host, folder_of_process(service.pid) + "/cgroup", kept_unit));
  runtime.is_within_another = !runtime.unit.empty() && runtime.unit != service.name;
  // A process of another file is most likely not that of the usual unit.
  if (runtime.unit.empty() && candidate.config == default_runtime_config(service.name))
    runtime.unit = service.name;
  if (candidate.config.empty()) {
    runtime.unknown = folder_of_process(service.pid) +
                      "/cmdline names its file by a relative path, and its folder cannot be read";
  }
}

std::string described(const Candidate& candidate) {
  return candidate.service->name + " (process " + std::to_string(candidate.service->pid) + ")";
}

/// By the socket that the kubelet names.
NodeRuntime by_endpoint(host::Host& host, const std::vector<Candidate>& candidates,
                        const Endpoint& endpoint) {
  NodeRuntime runtime{
      .basis = "the kubelet's endpoint " + endpoint.path + ", by " + endpoint.said_by,
      .is_by_endpoint = true,
      .socket = endpoint.path};
  const auto found = listeners(host, candidates, endpoint.path);
  if (found.size() == 1) {
    take(host, *found.front(), runtime);
  } else if (found.size() > 1) {
    runtime.unknown = endpoint.said_by + " names " + endpoint.path + ", and " +
                      join(found, " and ", [](const auto* one) { return described(*one); }) +
                      " say that they listen there";
  } else {
    runtime.name = name_in(endpoint.path);
    const bool is_other = std::ranges::any_of(candidates, [&](const Candidate& candidate) {
      return candidate.service->name == runtime.name;
    });
    if (runtime.name.empty() || is_other) {
      runtime.unknown = endpoint.said_by + " names " + endpoint.path +
                        ", and no process of a runtime that is seen listens there";
      runtime.name.clear();
    }
    runtime.config = default_runtime_config(runtime.name);
    runtime.unit = runtime.name;
  }
  return runtime;
}

/// Docker's daemon gives its containerd a file of its own, in its folder or in that of its snap;
/// Docker's package has one without CRI.
bool is_dockers(const Candidate& candidate) {
  constexpr std::array<std::string_view, 3> kFolders = {"/docker/containerd/", "/snap/docker/",
                                                        "/snap.docker/"};
  const auto is_below = [&](std::string_view folder) {
    return candidate.address.find(folder) != std::string::npos ||
           candidate.config.find(folder) != std::string::npos;
  };
  return !candidate.has_cri || std::ranges::any_of(kFolders, is_below);
}

/// By the names of processes: CRI-O serves a kubelet only, containerd also Docker.
NodeRuntime by_processes(host::Host& host, const std::vector<Candidate>& candidates,
                         bool has_kubelet) {
  NodeRuntime runtime;
  std::vector<const Candidate*> found;
  for (const auto& candidate : candidates) {
    if (candidate.service->name == kCrio) found.push_back(&candidate);
  }
  for (const auto& candidate : candidates) {
    const bool is_left = found.empty() || found.front()->service->name != kCrio;
    if (is_left && candidate.service->name == kContainerd && !is_dockers(candidate))
      found.push_back(&candidate);
  }
  if (found.empty() && has_kubelet) {
    runtime.unknown = "which runtime the kubelet uses cannot be read, and no process is seen but " +
                      join(candidates, " and ", described);
  }
  if (found.size() == 1) {
    take(host, *found.front(), runtime);
    runtime.basis = "no kubelet says which runtime it uses: by the name of process " +
                    std::to_string(runtime.pid);
  } else if (found.size() > 1) {
    runtime.unknown = "no kubelet says which runtime it uses, and there are " +
                      join(found, " and ", [](const auto* one) { return described(*one); });
  }
  return runtime;
}

NodeRuntime found_runtime(host::Host& host, const std::vector<Service>& services) {
  std::vector<Candidate> candidates;
  std::vector<const Service*> kubelets;
  for (const auto& service : services) {
    const bool is_runtime =
        service.name == kContainerd || service.name == kCrio || service.name == kCriDockerd;
    if ((!is_kubelet(service.name) && !is_runtime) || is_in_pod(host, service)) continue;
    if (is_kubelet(service.name)) kubelets.push_back(&service);
    if (is_runtime) candidates.push_back(candidate_of(host, service));
  }
  std::optional<Endpoint> endpoint;
  for (const auto* kubelet : kubelets) {
    auto said = endpoint_of_kubelet(host, *kubelet, candidates);
    if (!said) continue;
    if (endpoint && endpoint->path != said->path) {
      return {.unknown = endpoint->said_by + " names " + endpoint->path + ", and " + said->said_by +
                         " names " + said->path};
    }
    endpoint = std::move(said);
  }
  if (kubelets.empty()) endpoint = endpoint_in_files(host);
  if (endpoint) return by_endpoint(host, candidates, *endpoint);
  return candidates.empty() ? runtime_by_files(host)
                            : by_processes(host, candidates, !kubelets.empty());
}

}  // namespace

NodeRuntime find_node_runtime(host::Host& host, const std::vector<Service>& services) {
  auto runtime = found_runtime(host, services);
  if (runtime.name != kCrio) return runtime;
  runtime.drop_in_folder = kCrioDropIns;
  const auto* service = find_by(services, &Service::pid, runtime.pid);
  if (service == nullptr) return runtime;
  const auto folder = option_of_crio(host, *service, {"config-dir", "d"}, "CONTAINER_CONFIG_DIR");
  if (folder) runtime.drop_in_folder = absolute(host, runtime.pid, *folder);
  if (runtime.drop_in_folder.empty()) {
    runtime.unknown = folder_of_process(runtime.pid) +
                      " names its folder of drop-ins by a path that cannot be followed";
  }
  return runtime;
}

std::optional<std::string> argument_of(const std::vector<std::string>& arguments,
                                       std::initializer_list<std::string_view> names) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string_view word = arguments[i];
    if (!word.starts_with('-')) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const auto equals = word.find('=');
    if (!contains(names, word.substr(0, equals))) continue;
    if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    }
  }
  return value;
}

std::vector<Listener> read_listeners(host::Host& host) {
  std::string text = file_text(host, "/proc/1/net/unix", kept_listeners);
  if (text.empty()) text = file_text(host, "/proc/net/unix", kept_listeners);
  std::vector<Listener> listeners;
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() == 8 && words[3] == "00010000" && is_runtimes_socket(words[7]))
      listeners.push_back({socket_path(words[7]), std::string(words[6])});
  }
  return listeners;
}

std::string socket_path(std::string_view endpoint) {
  constexpr std::string_view kScheme = "unix:";
  if (endpoint.starts_with(kScheme)) endpoint.remove_prefix(kScheme.size());
  while (endpoint.starts_with("//")) endpoint.remove_prefix(1);
  std::string path(endpoint);
  return path.starts_with("/var/run/") ? path.substr(4) : path;
}

}  // namespace railhead::system
