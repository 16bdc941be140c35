// SPDX-License-Identifier: Apache-2.0
// A pod or a container in as few bytes as it can be kept: a message that read_pod or read_container
// reads again to the same views, without what container::Request has no member for (labels,
// arguments, seccomp profiles).
#pragma once

#include <string>

#include "container/request.h"

namespace railhead::nri {

std::string pod_record(const container::Request& request);
std::string container_record(const container::Request& request);

}  // namespace railhead::nri
