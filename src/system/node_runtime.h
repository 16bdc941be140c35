// SPDX-License-Identifier: Apache-2.0
//
// Which container runtime the kubelet of a machine uses. A node may have several: Docker keeps a
// containerd of its own beside that of K3s, and files in /etc outlive the program that read them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace railhead::system {

struct Service;

/// A program, its process, its file and its unit.
struct NodeRuntime {
  std::string name{};     ///< "containerd", "crio", "cri-dockerd"; "": none, or it is not known
  std::string unknown{};  ///< why it is not known which one it is; "": it is, or none is here
  /// What the answer goes by: "the kubelet's endpoint /run/k3s/containerd/containerd.sock".
  std::string basis{};
  bool is_by_endpoint = false;  ///< the kubelet says it; else names of processes and files do

  std::string socket{};                  ///< of the CRI, as the kubelet names it; "": not known
  int pid = 0;                           ///< 0: no process of it is seen
  std::vector<std::string> arguments{};  ///< of its process, without the program
  std::string config{};                  ///< its main file, there or not
  bool is_config_named = false;          ///< by its command line or its environment
  std::string drop_in_folder{};          ///< CRI-O's
  std::string unit{};                    ///< of systemd, without ".service"; "": not known
  /// The process is not in the unit that is named after it: it was started by K3s, MicroK8s….
  bool is_within_another = false;

  [[nodiscard]] bool is(std::string_view one) const { return name == one; }

  [[nodiscard]] bool is_here() const { return !name.empty(); }

  friend bool operator==(const NodeRuntime&, const NodeRuntime&) = default;
};

/// Reads what is needed beyond `services`, which have their arguments already.
NodeRuntime find_node_runtime(host::Host& host, const std::vector<Service>& services);

/// By what is in /etc and by units: without processes that is all there is. Units say what can
/// start; files outlive their program.
NodeRuntime runtime_by_files(host::Host& host);

/// The main file of "containerd" or "crio" where nothing names another.
std::string default_runtime_config(std::string_view name);

/// crio.conf.d(5)
inline constexpr const char* kCrioDropIns = "/etc/crio/crio.conf.d";

/// The value of an option of a Go program, "-c X", "--config X", "-config=X"; the last one counts.
/// Absent: it has none of these names.
std::optional<std::string> argument_of(const std::vector<std::string>& arguments,
                                       std::initializer_list<std::string_view> names);

/// A Unix socket that a container runtime listens at, by its path.
struct Listener {
  std::string path;  ///< as socket_path() has it
  std::string inode;

  friend bool operator==(const Listener&, const Listener&) = default;
};

/// Those of the machine's network namespace: "Num RefCount Protocol Flags Type St Inode Path"
/// (proc(5), /proc/net/unix; __SO_ACCEPTCON is 1 << 16). Empty where that cannot be read.
std::vector<Listener> read_listeners(host::Host& host);

/// The path of a socket as a program says it: "unix:///var/run/x.sock" is "/run/x.sock".
std::string socket_path(std::string_view endpoint);

}  // namespace railhead::system
