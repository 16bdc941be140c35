// SPDX-License-Identifier: Apache-2.0
//
// A resource as devices of the Container Device Interface.
// * One file a resource, one device a member of its pool, or one for all where slots are no NICs.
//   Names depend on the resource and the function alone, so that the kubelet's old answer to
//   Allocate means the same function for ever, and the file says which nodes that is now.
// * Names of two resources never meet: the resource is in the device's name, and no resource has a
//   colon in its name.
// * Nodes only. Variables come with the answer to Allocate: there the user's own win, here they
//   would lose.
// Source: CNCF CDI specification and specs-go/version.go, pkg/parser/parser.go of
// cncf-tags/container-device-interface.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inject/decide.h"

namespace railhead::allocation {

/// What every file of ours in a CDI folder begins with, and no other program's.
inline constexpr const char* kCdiFilePrefix = "railhead.io-resource-";

/// "railhead.io-resource-rdma.io_hca.json": no domain has an underscore.
std::string cdi_file_name(const std::string& resource);

/// The spec of a pool; absent where there is nothing that could be handed out, which a spec may not
/// say. Members without nodes, and those whose id cannot be part of a name, have no device.
std::optional<std::string> cdi_spec(const inject::DecisionTable& table, const pools::Pool& pool);

/// Qualified names for these members, such as "railhead.io/resource=rdma.io:hca:0000:18:00.0".
/// Fails where a member has nodes and no possible name, and as other_nodes().
Result<std::vector<std::string>> cdi_names(const inject::DecisionTable& table,
                                           const pools::Pool& pool,
                                           const std::vector<std::size_t>& members);

}  // namespace railhead::allocation
