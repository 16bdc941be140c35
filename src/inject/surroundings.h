// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"

namespace railhead::inject {

/// NRI has no field for "privileged". Both runtimes mount sysfs on /sys read-only, and read-write
/// only for a privileged container (containerd: WithPrivileged makes the sysfs mount writable;
/// CRI-O adds it with "rw"). A host path on /sys is a bind mount and proves nothing, a writable
/// /sys/fs/cgroup neither (containerd 2.1 has a switch for it).
bool is_privileged(const container::Request& request);

/// A pod on the host's network has no "network" among its namespaces (containerd), or its
/// containers have none (CRI-O pins the host's network and names it as the pod's; what a list lacks
/// is the host's by the OCI runtime specification). Empty lists are unknown and count as a network
/// of its own.
bool has_host_network(const container::Request& request);

container::Surroundings surroundings_of(const container::Request& request,
                                        const InjectionPolicy& policy);

}  // namespace railhead::inject
