// SPDX-License-Identifier: Apache-2.0
//
// What the kernel's routing netlink (group RTNLGRP_LINK) tells of cables and switches. Invariants
// (Linux net/core/rtnetlink.c, include/uapi/linux/{rtnetlink,if_link,if}.h):
//   * every change of an interface is one RTM_NEWLINK with all that is known of it: a header
//     (ifinfomsg: index, flags) and attributes. Most say nothing of the link, so what an interface
//     said last is kept and compared;
//   * IFF_LOWER_UP is the carrier. RoCE ports are ACTIVE exactly while their interface is up and
//   has
//     it, and that of IPoIB follows its InfiniBand port. InfiniBand without IPoIB has no interface;
//   * there is news of one network namespace only: a pod without the host's hears nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "host/changes.h"
#include "host/unique_fd.h"

struct ifinfomsg;

namespace railhead::host {

class LinkNews {
 public:
  /// So many interfaces are remembered. With more, all are forgotten, and each is news again.
  static constexpr std::size_t kMaxInterfaces = 4096;

  /// A socket on which the news arrive; none where the kernel refuses.
  static UniqueFd open_socket();

  /// The interfaces in a datagram that can carry RDMA (not loopback, nor one made of others but
  /// bonds and IPoIB: each container's veth is one) and whose link is another than they said
  /// before, or which had said nothing yet. One without a name is `everything`.
  MachineChanges take(std::string_view datagram);

  /// Some were lost: what each interface says next is news.
  void forget() { flags_.clear(); }

 private:
  /// Takes one RTM_NEWLINK.
  void take_link(const ifinfomsg& link, std::string_view attributes, MachineChanges& changes);

  std::map<int, std::uint32_t> flags_;  ///< by index
};

}  // namespace railhead::host
