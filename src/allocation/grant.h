// SPDX-License-Identifier: Apache-2.0
//
// What an allocation of the kubelet's gives to a container: variables, device nodes, names of CDI
// devices, and what the network plugin Multus reads.
// * Values in, values out: this folder computes texts and lists. Files are written and sockets are
//   served elsewhere (agent/, kubelet/).
// * The kubelet has chosen the device ids, and pools/ knows who they are: nothing is chosen here.
// * The kubelet repeats an answer for as long as the pod lives, also when nodes were renumbered in
//   between. So RDMA devices are named by their function; only HandOut::device_specs names nodes.
// * Nothing is given in part. A function that is not there, or whose nodes are not known, refuses
//   the whole allocation, with a reason that the user of the pod understands.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/words.h"
#include "inject/decide.h"
#include "kubelet/device_plugin.h"

namespace railhead::allocation {

/// The members of a pool that these device ids stand for, as indices: their NICs, or all members
/// where slots are no NICs. Unavailable, with a reason for the user, where a NIC is not on the node
/// any more or the pool is empty.
Result<std::vector<std::size_t>> members_held(const inject::DecisionTable& table, std::size_t pool,
                                              const std::vector<std::string>& ids);

/// The answer to Allocate: the variables that go with the pool's flavour, and with HandOut::nri the
/// allocation as an annotation, with device_specs the nodes, with cdi their names. /dev/vhost-net
/// and /dev/net/tun, whose paths say the same for ever, come as DeviceSpecs with nri, too. Fails as
/// members_held() and, where something cannot be handed out, with a reason for the user.
Result<kubelet::Grant> grant_of(const inject::DecisionTable& table, std::size_t pool,
                                const std::vector<std::string>& ids, config::HandOut hand_out);

}  // namespace railhead::allocation
