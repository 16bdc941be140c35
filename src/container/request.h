// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace railhead::container {

using KeyValues = std::vector<std::pair<std::string_view, std::string_view>>;

/// A device the container has already (from the pod spec, a device plugin, CDI or an earlier
/// plugin).
struct PresentDevice {
  std::string_view path;
  char type = 'c';
  std::int64_t major = 0;
  std::int64_t minor = 0;
};

struct PresentMount {
  std::string_view destination;
  std::string_view type;
  std::string_view source;
  bool read_write = false;  ///< an "rw" option
};

struct ResourceLimit {
  std::string_view type;  ///< "RLIMIT_MEMLOCK"
  std::uint64_t hard = 0;
  std::uint64_t soft = 0;
};

/// What the runtime tells about a container that is being created. All views point into the
/// request, which outlives the decision; nothing here is generated protobuf.
struct Request {
  std::string_view pod_name;
  std::string_view pod_namespace;
  std::string_view pod_uid;
  std::string_view runtime_handler;
  KeyValues pod_annotations;
  std::vector<std::string_view> pod_namespaces;  ///< types: "network", "ipc"…; empty: unknown
  std::vector<std::string_view> container_namespaces;  ///< the same of the container
  std::string_view id;
  std::string_view name;
  KeyValues annotations;              ///< the container's own
  std::vector<std::string_view> env;  ///< "NAME=value"
  std::vector<PresentMount> mounts;
  std::vector<PresentDevice> devices;
  std::vector<ResourceLimit> rlimits;
  std::vector<std::string_view> cdi_devices;  ///< containerd 2.3 and later
};

}  // namespace railhead::container
