// SPDX-License-Identifier: Apache-2.0
// Keeps resources known to the kubelet.
//
// Invariants
// * One agent of a node holds the registration, by a lock in the kubelet's folder; another one
//   stands by. Kubelets up to 1.36.3 know a plugin by its resource name alone
//   (pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go), so a second registration would end
//   the first, and the first one's exit could stop the second's endpoint. The successor waits, lock
//   in hand, until the kubelet has seen the old socket close.
// * A kubelet that starts removes every socket in its folder and then makes its own: whenever that
//   one is new, or ours is gone, we serve and enrol anew. The lock is no socket and stays. It
//   counts only as the file of that name: a folder that was made anew needs a new one.
// * Enrolled is what the kubelet shows, not what it once said: the list is being watched, and the
//   kubelet counts the resource among what the node offers. Where it does not, we enrol again.
// * Nothing here waits: tick() looks, does what is due, and returns. It is called when something
//   happens in the folders; until_tick() bounds what is missed there.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/file_lock.h"
#include "kubelet/device_plugin.h"
#include "kubelet/pod_resources.h"

namespace railhead::kubelet {

/// How the kubelet learns of a plugin. One of the two for a resource, never both.
enum class Route {
  enrol,  ///< Register on device-plugins/kubelet.sock
  found,  ///< the kubelet finds the socket in plugins_registry
};

enum class RegistrationState {
  standing_by,  ///< another agent holds the registration
  no_kubelet,   ///< its socket is not there
  not_served,   ///< our socket, or the lock, cannot be made
  enrolling,    ///< waiting for the kubelet's answer, or to be found
  refused,      ///< the kubelet said no; tried again
  enrolled,
};
std::string_view to_string(RegistrationState state);  ///< "enrolled", "standing-by"

struct ResourceStatus {
  std::string resource;
  RegistrationState state = RegistrationState::enrolling;
  std::string detail;  ///< the error, or ""
  unsigned enrolments = 0;
};

struct RegistrarOptions {
  std::string plugin_folder;    ///< device-plugins
  std::string registry_folder;  ///< plugins_registry; only for Route::found
  Route route = Route::enrol;
};

class Registrar {
 public:
  using Changed = std::function<void(const ResourceStatus&)>;

  struct Links {
    loop::Mailbox& mailbox;
    host::Clock& clock;
    PodResources& pod_resources;  ///< says what the kubelet counts, on whatever thread
  };

  /// `changed` gets every new state. All on the mailbox's thread.
  Registrar(RegistrarOptions options, Links links, Changed changed);
  ~Registrar();

  /// From now on this resource is offered. `resource` has to outlive the registrar or
  /// withdraw().
  void offer(DevicePluginOptions options, Resource& resource, std::vector<Device> devices);
  void withdraw(const std::vector<std::string>& resources);
  void publish(const std::string& resource, const std::vector<Device>& devices);

  /// Does what is due. Call it when something in the folders changed, and after `until_tick()`.
  void tick();

  /// How long the next tick() may wait where nothing changes in the folders. Shorter after a new
  /// state (`changed`).
  [[nodiscard]] std::chrono::milliseconds until_tick() const;

  /// The folders where something may happen that tick() has to look at; that of the plugin folder,
  /// too, which may be removed.
  [[nodiscard]] std::vector<std::string> folders() const;

  [[nodiscard]] std::vector<ResourceStatus> statuses() const;

  /// Another agent holds the registration.
  [[nodiscard]] bool stands_by() const { return is_locked_out_; }

  /// The lock is ours, or there is none to be had and nobody to share with. What agents of the node
  /// have in common is for who holds it.
  [[nodiscard]] bool holds() const { return holds_; }

 private:
  class Registration;

  /// Closed by the registrar's end: what comes later from other threads is left.
  struct Gate {
    std::mutex mutex;
    bool closed = false;
  };

  /// False while another agent holds it, and shortly after we took it.
  Result<bool> take_lock(const std::string& path);
  /// Absent where neither folder is there.
  [[nodiscard]] std::optional<std::string> lock_path() const;
  [[nodiscard]] std::chrono::steady_clock::duration since_lock() const;
  /// Which kubelet is there: its socket in the plugin folder.
  [[nodiscard]] std::optional<host::FileIdentity> kubelet() const;
  [[nodiscard]] std::string kubelet_socket() const;
  /// Asks the kubelet what it counts, now and then.
  void verify();
  void compare(const std::vector<container::Holding>& counted,
               std::chrono::steady_clock::time_point asked_at);

  RegistrarOptions options_;
  Links links_;
  Changed changed_;
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::optional<host::FileLock> lock_;
  bool is_locked_out_ = false;
  bool holds_ = false;
  std::chrono::steady_clock::time_point locked_at_{};
  std::chrono::steady_clock::time_point verified_at_{};
  std::vector<std::unique_ptr<Registration>> registrations_;
};

/// The socket of a resource in a folder: "railhead-rdma.io_hca.sock", shortened with a digest where
/// the path would be longer than a socket's may be.
std::string socket_path(const std::string& folder, const std::string& resource);

}  // namespace railhead::kubelet
