// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"
#include "inject/kubelet_answer.h"

namespace railhead::inject {

/// The GPUs of a container. Invariants:
///  - Device nodes and CDI names are what the kubelet or the runtime was to hand out; no pod
///    author can write them. The first of the two that names a GPU of this node is believed, and
///    the kubelet need not be asked.
///  - The environment and the mounts of NVIDIA's volume list can be written by anybody. Alone they
///    count only with the kubelet's answer, and then the ids that it has for this container are the
///    truth. Without a kubelet they are believed.
///  - The environment only ever narrows: ids in it that were not allocated do not count, and that
///    is said. "all", "void", "none" and an empty value are no ids.
///  - Where the kubelet says that the container holds GPUs by ids that are none (plugins that hand
///    out fractions), the environment says which, at most as many as there are such ids.
container::GpuFacts gpus_of(const container::Request& request, const DecisionTable& table,
                            bool privileged, const KubeletAnswer& answer);

/// "GPU 3", or its PCI address where it has no index.
std::string gpu_name(const node::Node& node, std::size_t gpu);
std::string gpu_names(const node::Node& node,
                      const std::vector<std::size_t>& gpus);  ///< "GPUs 0, 1"

}  // namespace railhead::inject
