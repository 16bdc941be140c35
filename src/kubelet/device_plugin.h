// SPDX-License-Identifier: Apache-2.0
// One resource on one socket, as the kubelet's device manager wants it.
//
// Invariants
// * The kubelet's calls carry no resource name, so one server serves one resource.
// * Calls arrive on a thread of the server's own; every decision is made on the mailbox's thread.
//   Only what is constant is answered at once: GetDevicePluginOptions, and GetInfo, which the
//   kubelet gives 1 s.
// * Each open ListAndWatch has one writer, which sends the newest list and skips those between; a
//   kubelet that does not read costs nothing, one that has gone is forgotten.
// * GetPreferredAllocation never fails (that would reject the pod); it may be empty.
// * The end waits for nobody: calls are cancelled after 0.25 s, connections are cut after 0.5 s.
// * The socket's file goes with the server, so a server ends completely before another takes its
//   path.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/mailbox.h"

namespace railhead::kubelet {

/// sun_path of unix(7), without its final zero.
inline constexpr std::size_t kMaxSocketPath = 107;

struct Device {
  std::string id;  ///< at most 63 characters; stable over restarts
  bool healthy = true;
  std::vector<int> numa_nodes;  ///< empty: no hint

  friend bool operator==(const Device&, const Device&) = default;
};

struct DeviceSpec {
  std::string host_path;
  std::string container_path;
  std::string permissions = "rw";
};

/// What Allocate answers for one container.
struct Grant {
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> annotations;
  std::vector<DeviceSpec> devices;
  std::vector<std::string> cdi_devices;  ///< qualified names; never as annotations, too
};

struct Preference {
  std::vector<std::string> available;
  std::vector<std::string> must_include;
  std::size_t size = 0;
};

/// What a resource decides. Called on the thread that runs the mailbox.
class Resource {
 public:
  virtual ~Resource() = default;
  /// Fewer than asked, or none: the kubelet chooses the rest.
  virtual std::vector<std::string> prefer(const Preference& preference) = 0;
  /// An error fails the pod's admission, for good for a bare pod.
  virtual Result<Grant> allocate(const std::vector<std::string>& ids) = 0;
  /// Before every start of a container; an error is shown to the user and the start tried again.
  virtual Status pre_start(const std::vector<std::string>& ids) = 0;
};

/// The kubelet has opened the list, or the last one that had it open has gone.
using Watched = std::function<void(bool now)>;

/// A kubelet that found the socket by itself did not take the plugin, with its own words. It tries
/// again by itself.
using Refused = std::function<void(const std::string& why)>;

struct DevicePluginOptions {
  std::string resource;            ///< "rdma.io/hca"
  bool pre_start_required = true;  ///< no start while the plugin does not answer
};

class DevicePlugin {
 public:
  /// Serves on `socket_path` (at most 107 bytes), replacing a file that is there. A path in the
  /// plugin watcher's folder answers its Registration service, too. Fails, naming the path, where
  /// it cannot be bound. `watched` and `refused` are called on the mailbox's thread, and so is
  /// `resource`.
  static Result<std::unique_ptr<DevicePlugin>> serve(const std::string& socket_path,
                                                     DevicePluginOptions options,
                                                     loop::Mailbox& mailbox, Resource& resource,
                                                     Watched watched, Refused refused);
  /// Ends all calls and removes the socket, within a second. On the mailbox's thread.
  ~DevicePlugin();

  /// Begins with that, and waits for nothing: plugins that end together do so at the same time.
  void begin_end();

  /// Registers on the kubelet's socket. The kubelet calls this server before it answers, within
  /// 10 s. `done` is called on the mailbox's thread, unless the end begins before; an error carries
  /// the kubelet's own words.
  void enrol(const std::string& kubelet_socket, std::function<void(Status)> done);

  /// The whole list, sent to every kubelet that watches if it is not the one before.
  void publish(std::vector<Device> devices);

 private:
  class Service;
  DevicePlugin();
  std::unique_ptr<Service> service_;
};

}  // namespace railhead::kubelet
