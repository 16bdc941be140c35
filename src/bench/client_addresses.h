// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace railhead::bench {

/// An address of a netdev of this machine.
struct OwnAddress {
  std::string text;  ///< "10.0.0.5", "fd00::1"
  bool is_ipv6 = false;
  bool is_loopback = false;
  bool is_link_local = false;  ///< means nothing without a netdev's name
};

/// In the order of netdevs; those of netdevs that are down are left out.
std::vector<OwnAddress> own_addresses();

/// "HOST:PORT"s by which clients reach who listens on `listening`: itself, unless it is every
/// address of the machine ("0.0.0.0:7174", "[::]:7174"). Then those of `own` that another machine
/// may know, at most eight; loopback where there is no other. A socket on [::] takes IPv4, too
/// (ipv6(7), bindv6only).
std::vector<std::string> client_addresses(const std::string& listening,
                                          const std::vector<OwnAddress>& own);

}  // namespace railhead::bench
