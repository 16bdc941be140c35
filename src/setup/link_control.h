// SPDX-License-Identifier: Apache-2.0
//
// Settings of a netdev, each by a name in the words of ethtool(8) and dcb(8), and each with a text:
//   rings.rx, coalesce.rx-usecs, …   "512"
//   coalesce.adaptive-rx, pause.rx   "on", "off"
//   pfc                              the priorities that have it: "3", "3,4", "none"
//   ets                              "prio-tc 0,0,0,1,… tc-tsa strict,ets,… tc-bw 0,100,…"
//   dscp.26                          the priorities that it has: "3", "none"
//   vf.3.trust                       of a virtual function: "on", "off"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/dcb_netlink.h"
#include "host/host.h"
#include "setup/step.h"

namespace railhead::setup {

/// "ens8f0/rings.rx": how a change and the journal name a setting.
std::string link_subject(const std::string& netdev, const std::string& name);

/// Whether there is a setting of this name, in some driver.
bool is_link_setting(const std::string& name);

/// What a setting is. Absent: the driver has no such setting. ENODEV: no such netdev in our network
/// namespace.
Result<std::optional<std::string>> read_link(host::Host& host, const std::string& subject);

/// The most that the driver takes: of a ring's size, of priorities with PFC. Absent: it is not
/// said.
std::optional<std::uint32_t> most_of_link(host::Host& host, const std::string& subject);

/// What it costs to set it: of all but coalescing traffic notices.
Risk risk_of_link(std::string_view name);

/// Has the kernel that we run on set it.
Status write_link(const std::string& subject, const std::string& value);

/// Priorities as "3,4". Malformed: one that is none of 0 to 7.
Result<std::uint8_t> parse_priorities(std::string_view text);

std::string ets_text(const host::Ets& ets);
Result<host::Ets> parse_ets(std::string_view text);

/// Fails where the bandwidths of the classes with ETS do not add up to 100, and where a strict one
/// has a bandwidth (IEEE 802.1Q). A driver may say so of what nobody has set yet.
Status check_bandwidth(const host::Ets& ets);

}  // namespace railhead::setup
