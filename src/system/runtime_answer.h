// SPDX-License-Identifier: Apache-2.0
// Whether a runtime would start with a set of files, and whether NRI is on then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "system/runtime_files.h"

namespace railhead::system {

enum class Known : std::uint8_t { no, yes, unknown };
std::string_view to_string(Known known);  ///< "no", "yes", "unknown"

/// What was found in the files.
struct RuntimeReason {
  /// Stable: "version-higher", "import-missing".
  std::string_view code;
  std::string path;
  data::Mark mark{};
  std::string text{};       ///< in words, without the place
  std::string releases{};   ///< those that see it so: "1.7, 2.3"; "": all that were asked
  bool is_failure = false;  ///< it keeps the runtime from starting

  [[nodiscard]] std::string place() const;  ///< "/etc/containerd/config.toml:3"
  [[nodiscard]] std::string words() const;  ///< the text, with the releases

  friend bool operator==(const RuntimeReason& a, const RuntimeReason& b) {
    return a.code == b.code && a.path == b.path && a.text == b.text;
  }
};

struct RuntimeAnswer {
  Known starts = Known::unknown;
  Known nri = Known::unknown;  ///< on, and plugins may connect; of the releases that start
  std::string socket{};        ///< where NRI listens; "": releases differ
  std::vector<RuntimeReason> reasons{};
  bool refused_by_most = false;  ///< more than half of the releases do not start

  /// The reasons for which it does not start, or may not; those of NRI where it starts.
  [[nodiscard]] std::string why() const;
};

/// Releases of containerd that read files in another way than the one before. 2.1 reads as 2.0, and
/// what comes after 2.4 as that.
enum class ContainerdRelease : std::uint8_t { v1_7, v2_0, v2_2, v2_3, v2_4 };
inline constexpr std::string_view kContainerdReleases[] = {"1.7", "2.0", "2.2", "2.3", "2.4"};

/// What one release makes of them. `version` is that of what it merges: it decides what is migrated
/// later.
struct ContainerdReading {
  RuntimeAnswer answer;
  std::int64_t version = 0;
};

ContainerdReading read_as(const ContainerdFiles& files, ContainerdRelease release);

/// The releases that a machine with these files may have: those that know the version that the main
/// file says, or start all the same.
std::vector<ContainerdRelease> possible_releases(const ContainerdFiles& files);

/// What all of them make of the files: unknown where they differ.
RuntimeAnswer judge_containerd(const ContainerdFiles& files,
                               std::optional<ContainerdRelease> release = std::nullopt);

/// What CRI-O makes of its files. `minor` is that of its release 1.x; NRI is off by default before
/// 1.30 (cri-o/cri-o#7790).
RuntimeAnswer judge_crio(const CrioFiles& files, std::optional<unsigned> minor = std::nullopt);

/// NRI's socket where files do not say another place (containerd/nri pkg/api/plugin.go).
inline constexpr std::string_view kNriSocket = "/var/run/nri/nri.sock";

/// The paths at which a socket shows: /var/run is a link to /run, which a tree may not have.
std::vector<std::string> places_of_socket(const std::string& path);

/// Whether Go's time.ParseDuration takes it: "5s", "1h2m", "-1.5ms", "0".
bool is_go_duration(std::string_view text);

}  // namespace railhead::system
