// SPDX-License-Identifier: Apache-2.0
// The Kubernetes objects by which the plugins' files come to a node, as they are printed and
// applied. What texts such an object holds, and what their lines are called, is said here alone.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "data/value.h"

namespace railhead::config {

/// The sections of a policy of NVIDIA's network operator that have the `config` of a plugin.
/// Source: Mellanox/network-operator api/v1alpha1/nicclusterpolicy_types.go,
/// nicnodepolicy_types.go, at b06827e.
inline constexpr std::array<const char*, 2> kPolicyPlugins{"rdmaSharedDevicePlugin",
                                                           "sriovDevicePlugin"};

/// As many files as one input may hold.
inline constexpr std::size_t kMostManifestFiles = 256;

/// A ConfigMap, or a policy of NVIDIA's network operator.
bool is_manifest(const data::Value& root);

/// A text in a manifest.
struct ManifestText {
  std::string path;                    ///< "data.config.json"
  std::string key;                     ///< the last of it, "config.json"
  const data::Value* value = nullptr;  ///< in the manifest
};

/// Each text below `data` of a ConfigMap, and each `config` of a policy.
std::vector<ManifestText> texts_in_manifest(const data::Value& root);

/// Such a text as a file of its own. A block (`key: |`) keeps the manifest's name and line numbers,
/// so that messages name the place in the manifest; `lines` are the manifest's. Any other text is
/// named after the manifest, its place there and its key.
ConfigFile file_in_manifest(const std::string& manifest, std::span<const std::string_view> lines,
                            const ManifestText& text);

/// All of them. Malformed: there is none; too_large: more than 256.
Result<std::vector<ConfigFile>> files_in_manifest(const ConfigFile& manifest,
                                                  const data::Value& root);

}  // namespace railhead::config
