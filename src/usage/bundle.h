// SPDX-License-Identifier: Apache-2.0
//
// What a container is called, from the bundle that its runtime made. Invariants:
//   * the parent of a container's first process is its shim: containerd's has the bundle of the
//     sandbox for its working directory, and those of the pod's other containers are beside it,
//     named by container id (containerd runtime/v2 README); conmon gets its bundle with -b;
//   * the bundle's config.json is an OCI runtime spec; both runtimes write the names of Kubernetes
//     into its annotations (containerd internal/cri/annotations, CRI-O pkg/annotations);
//   * it holds the container's environment, secrets included: what is not needed here is dropped
//     as soon as it is read, and shortened_bundle() is what a snapshot keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace railhead::usage {

struct BundleDevice {
  std::string path;
  char type = 'c';
  std::int64_t major = 0;
  std::int64_t minor = 0;

  friend bool operator==(const BundleDevice&, const BundleDevice&) = default;
};

struct BundleMount {
  std::string destination;
  std::string type;
  std::string source;
  bool read_write = false;

  friend bool operator==(const BundleMount&, const BundleMount&) = default;
};

struct Bundle {
  std::string pod_namespace;  ///< "" where the runtime does not say: not a container of Kubernetes
  std::string pod;
  std::string pod_uid;
  std::string container;         ///< "" for a sandbox
  bool sandbox = false;          ///< the pause container
  std::vector<std::string> env;  ///< "NAME=value", of names that tell of GPUs, the job, transports
  /// Those of ours: the allocation that the container holds, and what it wishes of RDMA.
  std::vector<std::pair<std::string, std::string>> annotations{};
  std::vector<BundleDevice> devices;    ///< below /dev that are GPUs' or RDMA's
  std::vector<BundleMount> mounts;      ///< those that tell of GPUs or of privilege
  std::vector<std::string> namespaces;  ///< types, "network"…

  friend bool operator==(const Bundle&, const Bundle&) = default;
};

/// Whether an annotation is one that our Allocate gave.
bool is_allocation(std::string_view key);

/// Whether the environment names GPUs, or says "all".
bool names_gpus(const Bundle& bundle);

/// Malformed where the text is no JSON map; what it lacks is empty.
Result<Bundle> parse_bundle(std::string_view config_json);

/// The same spec with nothing in it but what parse_bundle reads; "{}\n" for what is no spec.
std::string shortened_bundle(std::string_view config_json);

/// The bytes of /proc/PID/cmdline with nothing in them but what is read: conmon's bundle, and what
/// container::shortened_arguments keeps.
std::string shortened_command_line(std::string_view command_line);

/// The config.json of a container, given one of its processes: walks up to the shim, past other
/// containers of the pod (with a shared process namespace their first process adopts orphans).
/// Absent where there is no shim, or none whose folder we may know.
Result<std::optional<std::string>> find_bundle(host::Host& host, const std::string& proc_dir,
                                               const std::string& container, std::uint32_t process);

}  // namespace railhead::usage
