// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace railhead::agent {

/// The name of this node in Kubernetes: the configured one, else the host name in lower case, as
/// the kubelet does by default. Reads a file. Source: Kubernetes pkg/util/node/node.go,
/// GetHostname().
std::string kubernetes_node_name(const std::string& configured);

}  // namespace railhead::agent
