// SPDX-License-Identifier: Apache-2.0
#include "nri/capability.h"

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/text.h"

namespace railhead::nri {
namespace {

struct Release {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;

  friend auto operator<=>(const Release&, const Release&) = default;
};

struct Version {
  Release release;
  bool before_release = false;  // -rc.1, -beta.0, -dev
};

// The first release of each runtime that has a feature; back-ports name the older series too.
struct Since {
  bool RuntimeFeatures::*feature;
  std::optional<Release> containerd;  // absent: in no release so far
  std::optional<Release> crio;
};

constexpr std::array kSince = {
    Since{&RuntimeFeatures::rlimits, Release{1, 7, 7}, Release{1, 29, 0}},
    Since{&RuntimeFeatures::cdi_devices_adjust, Release{2, 1, 0}, Release{1, 34, 0}},
    Since{&RuntimeFeatures::sees_rlimits, Release{2, 3, 0}, Release{1, 36, 0}},
    Since{&RuntimeFeatures::sees_cdi, Release{2, 3, 0}, std::nullopt},
    Since{&RuntimeFeatures::split_synchronize, Release{1, 7, 26}, Release{1, 32, 0}},
    // CRI-O 1.36.3 still builds with NRI 0.11, containerd 2.4.2 with 0.12.3.
    Since{&RuntimeFeatures::per_event_rpcs, Release{2, 3, 0}, Release{1, 37, 0}},
    Since{&RuntimeFeatures::failure_policy, Release{2, 4, 3}, Release{1, 37, 0}},
    Since{&RuntimeFeatures::no_sync_gap, Release{1, 7, 26}, std::nullopt},
};

// Releases of a newer series that came before the back-port above: they lack the feature.
constexpr Release kSyncGapFrom{2, 0, 0};
constexpr Release kSyncGapUntil{2, 0, 3};

std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const auto number = parse_unsigned(text.substr(0, digits));
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<std::uint32_t>(*number);
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

// "-rc.1", "~rc1+ds1", "-beta.0", "-dev"; not "-3-gabcdef0" or "~ds1-6+b5".
bool names_pre_release(std::string_view suffix) {
  if (!suffix.starts_with('-') && !suffix.starts_with('~')) return false;
  suffix.remove_prefix(1);
  for (const std::string_view word : {"rc", "beta", "alpha", "dev"}) {
    if (suffix.starts_with(word)) return true;
  }
  return false;
}

std::optional<Version> parse_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  Version version;
  const auto major = take_number(text);
  if (!major || !take_dot(text)) return std::nullopt;
  const auto minor = take_number(text);
  if (!minor) return std::nullopt;
  version.release = {*major, *minor, 0};
  if (take_dot(text)) {
    const auto patch = take_number(text);
    if (!patch) return std::nullopt;
    version.release.patch = *patch;
  }
  version.before_release = names_pre_release(text);
  return version;
}

bool reached(const Version& version, const std::optional<Release>& since) {
  if (!since) return false;
  return version.before_release ? version.release > *since : version.release >= *since;
}

std::string to_string(const Release& release) {
  return std::to_string(release.major) + "." + std::to_string(release.minor) + "." +
         std::to_string(release.patch);
}

std::optional<Release> first_release(bool RuntimeFeatures::*feature, std::string_view name) {
  for (const Since& since : kSince) {
    if (since.feature == feature) return name == "containerd" ? since.containerd : since.crio;
  }
  return std::nullopt;
}

}  // namespace

RuntimeFeatures features_of(std::string_view name, std::string_view version) {
  RuntimeFeatures features;
  const bool containerd = name == "containerd";
  const auto parsed = parse_version(version);
  if ((!containerd && name != "cri-o") || !parsed) return features;
  features.known = true;
  for (const Since& since : kSince) {
    features.*since.feature = reached(*parsed, containerd ? since.containerd : since.crio);
  }
  if (containerd && reached(*parsed, kSyncGapFrom) && !reached(*parsed, kSyncGapUntil)) {
    features.no_sync_gap = false;
  }
  return features;
}

std::vector<std::string> missing_features(const WantedFeatures& wanted, std::string_view name,
                                          std::string_view version) {
  struct Row {
    bool wanted;
    bool RuntimeFeatures::*feature;
    std::string_view what;
  };

  const std::array rows = {
      Row{wanted.rlimits, &RuntimeFeatures::rlimits, "ignores RLIMIT_MEMLOCK from NRI plugins"},
      Row{wanted.cdi_devices_adjust, &RuntimeFeatures::cdi_devices_adjust,
          "ignores CDI devices from NRI plugins"},
      Row{wanted.sees_cdi, &RuntimeFeatures::sees_cdi,
          "does not tell NRI plugins the CDI devices of a container"},
      Row{wanted.failure_policy, &RuntimeFeatures::failure_policy,
          "ignores the failure policy of NRI plugins"},
  };
  const RuntimeFeatures features = features_of(name, version);
  std::vector<std::string> sentences;
  for (const Row& row : rows) {
    if (!row.wanted || features.*row.feature) continue;
    const auto since = first_release(row.feature, name);
    sentences.push_back(std::string(name) + " " + std::string(version) + " " +
                        std::string(row.what) +
                        (since ? " (needs " + to_string(*since) + ")" : " (no release does)"));
  }
  return sentences;
}

}  // namespace railhead::nri
