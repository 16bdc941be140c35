// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"
#include "transports/transports.h"

namespace railhead::inject {

/// What a library takes this port for.
transports::LinkKind link_kind_of(const node::Nic& nic, const node::Port& port);

/// What the container's own environment makes of these NICs (indices into the node), which it has
/// or gets; without any, no list of NICs is judged. A privileged container can open all.
transports::Reading transports_of(const container::Request& request,
                                  const container::Surroundings& surroundings,
                                  const DecisionTable& table, const std::vector<std::size_t>& nics);

}  // namespace railhead::inject
