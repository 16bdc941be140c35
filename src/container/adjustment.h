// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace railhead::container {

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

}  // namespace railhead::container
