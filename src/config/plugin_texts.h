// SPDX-License-Identifier: Apache-2.0
//
// What all Kubernetes manifests of a plugin say together: those that hold its files (manifest.h),
// and those that hold its flags, its variables or an operator's policies.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace railhead::config {

/// What manifests say to the plugins whose files we read.
struct PluginTexts {
  std::vector<ConfigFile> files;  ///< the plugin's own files, as file_in_manifest() names them
  std::map<std::string, std::string> environment;  ///< its RDMA_* variables
  std::map<SettingRow, std::string> flags;         ///< flags that are settings of ours
  std::vector<std::string> warnings;               ///< what was left out, with its place
  bool has_policies = false;  ///< SriovNetworkNodePolicies are among them; they name no prefix
};

/// Of the resources of SriovNetworkNodePolicies, unless their operator is given another
/// (RESOURCE_PREFIX). Source: k8snetworkplumbingwg/sriov-network-operator hack/env.sh.
inline constexpr std::string_view kPolicyPrefix = "openshift.io";

/// What the manifests of a file say: one document or several, or a List.
/// * ConfigMap: each value of `data` that is a plugin's file.
/// * NicClusterPolicy and NicNodePolicy (mellanox.com/v1alpha1): `config` and `useCdi` of
///   rdmaSharedDevicePlugin and sriovDevicePlugin.
/// * SriovNetworkNodePolicy (sriovnetwork.openshift.io/v1): node_policies.h.
/// * DaemonSet: flags and RDMA_* variables of a plugin's container, and the kubelet's root folder.
/// * values of k8s-rdma-device-plugin's Helm chart: `rdma.resourceName` and its neighbours.
/// Other kinds are passed over. `node`: its key counts where a ConfigMap has one for each. Absent:
/// the text is no manifest, which has `apiVersion` and `kind` that are not ours. Malformed: it is
/// one, and holds nothing of a plugin, or what cannot be read.
Result<std::optional<PluginTexts>> plugin_texts_of_manifest(const ConfigFile& file,
                                                            std::string_view node = "");

}  // namespace railhead::config
