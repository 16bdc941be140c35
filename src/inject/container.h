// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railhead {

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
struct ContainerRequest {
  std::string_view pod_name;
  std::string_view pod_namespace;
  std::string_view pod_uid;
  std::string_view runtime_handler;
  KeyValues pod_annotations;
  std::vector<std::string_view> pod_namespaces;  ///< types: "network", "ipc"…; empty: unknown
  std::string_view id;
  std::string_view name;
  KeyValues annotations;              ///< the container's own
  std::vector<std::string_view> env;  ///< "NAME=value"
  std::vector<PresentMount> mounts;
  std::vector<PresentDevice> devices;
  std::vector<ResourceLimit> rlimits;
  std::vector<std::string_view> cdi_devices;  ///< containerd 2.3 and later
};

/// A device node to add.
struct NewDevice {
  std::string path;
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::uint32_t mode = 0;  ///< 07777
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;

  friend bool operator==(const NewDevice&, const NewDevice&) = default;
};

/// A file of the host to bind into the container, read-only.
struct NewMount {
  std::string source;       ///< path on the host; the runtime opens it
  std::string destination;  ///< path in the container

  friend bool operator==(const NewMount&, const NewMount&) = default;
};

/// What to add to a container. Everything in it is absent from the request: adding what is already
/// there would conflict with the plugin that put it there and fail the container.
struct Adjustment {
  std::vector<NewDevice> devices;
  std::vector<NewMount> mounts;
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::uint64_t> memlock_bytes;  ///< hard and soft RLIMIT_MEMLOCK; ~0: unlimited

  [[nodiscard]] bool empty() const {
    return devices.empty() && mounts.empty() && env.empty() && !memlock_bytes;
  }
};

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

}  // namespace railhead
