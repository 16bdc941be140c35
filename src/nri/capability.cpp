// SPDX-License-Identifier: Apache-2.0
#include "nri/capability.h"

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/member_count.h"
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

// The first release of each runtime that has a feature.
struct Since {
  bool RuntimeFeatures::*feature;
  Release containerd;
  Release crio;
  std::string_view without;  // what a runtime before does
};

constexpr std::array kSince = {
    Since{&RuntimeFeatures::rlimits, Release{1, 7, 7}, Release{1, 29, 0},
          "ignores RLIMIT_MEMLOCK from NRI plugins"},
    // CRI-O 1.36.3 still builds with NRI 0.11, containerd 2.4.2 with 0.12.3.
    Since{&RuntimeFeatures::failure_policy, Release{2, 4, 3}, Release{1, 37, 0},
          "ignores the failure policy of NRI plugins"},
};

static_assert(kSince.size() == member_count<RuntimeFeatures>(), "each feature has a row");

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

bool reached(const Version& version, const Release& since) {
  return version.before_release ? version.release > since : version.release >= since;
}

std::string to_string(const Release& release) {
  return std::to_string(release.major) + "." + std::to_string(release.minor) + "." +
         std::to_string(release.patch);
}

}  // namespace

RuntimeFeatures features_of(std::string_view name, std::string_view version) {
  RuntimeFeatures features;
  const bool containerd = name == "containerd";
  const auto parsed = parse_version(version);
  const bool is_known = (containerd || name == "cri-o") && parsed;
  for (const Since& since : kSince) {
    features.*since.feature =
        !is_known || reached(*parsed, containerd ? since.containerd : since.crio);
  }
  return features;
}

std::vector<std::string> missing_features(const RuntimeFeatures& wanted, std::string_view name,
                                          std::string_view version) {
  const RuntimeFeatures features = features_of(name, version);
  std::vector<std::string> sentences;
  for (const Since& since : kSince) {
    if (!(wanted.*since.feature) || features.*since.feature) continue;
    const Release& first = name == "containerd" ? since.containerd : since.crio;
    sentences.push_back(std::string(name) + " " + std::string(version) + " " +
                        std::string(since.without) + " (needs " + to_string(first) + ")");
  }
  return sentences;
}

}  // namespace railhead::nri
