// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/node.h"
#include "pools/function_index.h"
#include "pools/pool_spec.h"
#include "pools/pools.h"

namespace railhead::pools {

/// Whether what a pool hands out will work for the one who gets it. Keeps references to what it is
/// made of.
///
/// In a shared pool nobody raises a link after the allocation: a port that is not ACTIVE counts.
/// What an exclusive pool hands out is idle until then. A RoCE port is ACTIVE only while its netdev
/// is up and has a carrier (Linux drivers/infiniband/hw/mlx5/main.c, mlx5_query_port_roce()), and
/// the netdev of an idle function is down until a CNI plugin raises it in the pod; an InfiniBand VF
/// is DOWN until someone gives it a GUID. So there only what no pod can cure counts: a driver that
/// is missing, and a cable.
class MemberReadiness {
 public:
  MemberReadiness(const node::Node& node, const std::vector<NetFunction>& functions,
                  const std::vector<NicStatus>& statuses);

  /// Why a member will not work now; "" where it will, or where the pool does not look at links.
  [[nodiscard]] std::string trouble_of(const PoolSpec& spec, const Selector& selector,
                                       const NetFunction& function) const;

 private:
  [[nodiscard]] std::string trouble_when_idle(const NetFunction& function, std::size_t nic) const;
  [[nodiscard]] std::string trouble_of_cable(const NetFunction& physical) const;
  [[nodiscard]] bool is_raised_by_the_pod(const node::Nic& nic) const;
  [[nodiscard]] bool has_no_carrier(const std::string& netdev) const;

  const node::Node& node_;
  const std::vector<NicStatus>& statuses_;
  FunctionIndex by_address_;
  std::map<const NetFunction*, std::string> cables_;  ///< of physical functions, their troubles
};

}  // namespace railhead::pools
