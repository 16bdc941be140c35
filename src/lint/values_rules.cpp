// SPDX-License-Identifier: Apache-2.0
//
// Values of the charts of GPU and network operator. Helm passes over what a chart does not read.
// Sources: NVIDIA/gpu-operator deployments/gpu-operator/values.yaml (v22.9.0 to v26.7.0),
// Mellanox/network-operator deployment/network-operator/values.yaml and templates: v24.10.0 took
// mellanox.com_v1alpha1_nicclusterpolicy_cr.yaml away, and the values that it read.
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "lint/rule.h"
#include "lint/schema.h"

namespace railhead::lint {
namespace {

constexpr std::array<std::string_view, 11> kPolicyValues = {"deployCR",
                                                            "ofedDriver",
                                                            "nvPeerDriver",
                                                            "rdmaSharedDevicePlugin",
                                                            "sriovDevicePlugin",
                                                            "ibKubernetes",
                                                            "secondaryNetwork",
                                                            "nvIpam",
                                                            "nicFeatureDiscovery",
                                                            "docaTelemetryService",
                                                            "psp"};

bool is_values_file(const Object& object) {
  return object.kind.empty() && object.root.kind == data::Value::Kind::map;
}

void without_effect(const Given& given, Found& found) {
  for (const auto& object : given.objects) {
    if (!is_values_file(object)) continue;
    std::vector<std::string> names;
    const data::Value::Entry* first = nullptr;
    bool is_wanted = false;
    for (const auto& entry : object.root.entries) {
      // Only the chart had `deploy`; without it this may be a part of a policy.
      const bool is_it = entry.key == "deployCR" || (contains(kPolicyValues, entry.key) &&
                                                     below(entry.value, {"deploy"}) != nullptr);
      if (!is_it) continue;
      if (first == nullptr) first = &entry;
      names.push_back(entry.key == "deployCR" ? entry.key : entry.key + ".deploy");
      is_wanted =
          is_wanted || is_true(entry.value, {"deploy"}) || is_true(object.root, {"deployCR"});
    }
    if (first == nullptr) continue;
    auto& finding = found.add(
        object, first,
        join(names, ", ") + (names.size() == 1 ? " does" : " do") + " nothing since chart 24.10");
    if (!is_wanted) finding.severity = Severity::note;
  }
}

/// Sections that say whose values these are, if they have keys which other charts have not.
bool is_of_gpu_operator(const data::Value& root) {
  constexpr std::array<std::string_view, 14> kCommon = {
      "enabled", "image",        "repository",      "version",          "env",
      "args",    "resources",    "imagePullPolicy", "imagePullSecrets", "config",
      "name",    "nodeSelector", "tolerations",     "affinity"};
  const auto& shape = shape_of_gpu_values();
  std::size_t own = 0;
  for (const auto& entry : root.entries) {
    const auto* section = shape.key(entry.key);
    if (section == nullptr) return false;
    for (const auto& inner : entry.value.entries) {
      if (contains(kCommon, inner.key)) continue;
      std::vector<std::string> known;
      for (const auto& key : section->shape.keys) known.emplace_back(key.name);
      const auto is_near = [&](const std::string& word) {
        return !contains(kCommon, word) && to_lower(word) == to_lower(inner.key);
      };
      if (std::ranges::any_of(known, is_near)) ++own;
    }
  }
  constexpr std::array<std::string_view, 5> kOwn = {"toolkit", "dcgmExporter", "migManager",
                                                    "sandboxWorkloads", "gdrcopy"};
  const bool has_own =
      std::ranges::any_of(kOwn, [&](std::string_view key) { return root.find(key) != nullptr; });
  return own > 0 || (has_own && root.find("driver") != nullptr);
}

void misspelt(const Given& given, Found& found) {
  for (const auto& object : given.objects) {
    if (!is_values_file(object) || !is_of_gpu_operator(object.root)) continue;
    for (const auto& misfit : misfits(shape_of_gpu_values(), object.root, "values")) {
      // The chart of another release may have what is near to nothing.
      if (misfit.what != Misfit::What::unknown_key || misfit.text.empty()) continue;
      found.add(object, misfit.mark,
                misfit.path + " is read by no release of the GPU operator's chart" + misfit.text);
    }
  }
}

constexpr Rule kValuesRules[] = {
    {"operator.dead-value", "Values of the network operator's chart make no policy any more.",
     Severity::warn,
     "The chart makes no NicClusterPolicy since 24.10, so neither OFED nor a device plugin runs, "
     "and a GPU driver that waits for OFED stays in Init.",
     "Apply a NicClusterPolicy with these sections beside the chart.", "", without_effect},
    {"operator.value", "A value of the GPU operator's chart is misspelt.", Severity::warn,
     "Helm passes it over without a word, and the default holds.", "Write it as the chart has it.",
     "", misspelt},
};

}  // namespace

std::span<const Rule> values_rules() {
  return kValuesRules;
}

}  // namespace railhead::lint
