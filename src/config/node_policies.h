// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "data/value.h"

namespace railhead::config {

/// A SriovNetworkNodePolicy, and what to call its place in messages.
struct NodePolicy {
  std::string name;    ///< metadata.name
  std::string source;  ///< of the file
  data::Value spec;
};

/// The file that sriov-network-operator writes for its device plugin on a node that all of these
/// policies select; `nodeSelector` is not looked at. Policies of one resource are one, the one of
/// the greatest number in `priority` comes first. Source: k8snetworkplumbingwg/
/// sriov-network-operator controllers/sriovnetworknodepolicy_controller.go at 249e200, with
/// which it was compared on 2026-11-22.
Result<ConfigFile> file_of_node_policies(std::vector<NodePolicy> policies,
                                         std::vector<std::string>& warnings);

/// PCI device ids of the physical functions whose virtual functions have this id.
std::vector<std::string> physical_ids_of(std::string_view virtual_id);

}  // namespace railhead::config
