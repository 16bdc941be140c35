// SPDX-License-Identifier: Apache-2.0
//
// What the kernel tells of links, as bytes.
#pragma once

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <string>

#include "unit/netlink_builder.h"

namespace railhead::test {

/// Of an interface that is called "x" and its index.
inline std::string link(int index, unsigned flags, const std::string& attributes = "",
                        unsigned type = RTM_NEWLINK, unsigned char family = AF_UNSPEC) {
  ifinfomsg header{};
  header.ifi_family = family;
  header.ifi_index = index;
  header.ifi_flags = flags;
  const auto name = text_attribute(IFLA_IFNAME, ("x" + std::to_string(index)).c_str());
  return message(type, raw(header) + name + attributes);
}

/// The attribute of a link that software made; `more` stands behind its kind.
inline std::string of_kind(const char* kind, const std::string& more = "") {
  return attribute(IFLA_LINKINFO, text_attribute(IFLA_INFO_KIND, kind) + more);
}

}  // namespace railhead::test
