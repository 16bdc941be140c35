// SPDX-License-Identifier: Apache-2.0
// Containers and pods as the runtime sends them, read in place.
//
// The runtime holds a lock over every container operation of the node while we decide, so the hot
// path parses without copying: a container::Request is views into the received bytes. Field numbers
// come from the generated types, and a test and a fuzz target compare the outcome with theirs.
//
// Entries of a map come in wire order; equal keys, which a Go map never sends, would both show.
#pragma once

#include <string_view>

#include "base/result.h"
#include "container/request.h"

namespace railhead::nri {

/// Empties every member and keeps the vectors' capacity.
void clear(container::Request& request);

/// Adds what a PodSandbox message says. Malformed where it is no protobuf message.
Status read_pod(std::string_view bytes, container::Request& request);

/// Adds what a Container message says.
Status read_container(std::string_view bytes, container::Request& request);

/// A CreateContainerRequest or any other message with pod 1 and container 2; clears first.
Status read_create_request(std::string_view bytes, container::Request& request);

/// A StateChangeEvent, as runtimes before NRI 0.12 report events: true where it says that a pod's
/// sandbox runs, with the pod in `request`; clears first.
Result<bool> read_sandbox_runs(std::string_view bytes, container::Request& request);

/// The `id` of a PodSandbox, or the `pod_sandbox_id` of a Container; "" where it is absent.
Result<std::string_view> read_pod_id(std::string_view pod_sandbox);
Result<std::string_view> read_container_pod_id(std::string_view container);

}  // namespace railhead::nri
