// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace railhead::agent {

/// The node's name in Kubernetes: as configured, else what the kubelet calls it by default, the
/// host name in lower case. Reads a file. Source: Kubernetes pkg/util/node/node.go, GetHostname().
std::string kubernetes_node_name(const std::string& configured);

}  // namespace railhead::agent
