// SPDX-License-Identifier: Apache-2.0
// What a socket of the kernel's news is not sent at all. Each pod brings a veth with a dozen
// events, and whoever waits for changes of the machine would take each for one until it is read.
//
// Where a filter is refused, everything arrives as without it. Source: socket(7), SO_ATTACH_FILTER;
// Linux net/core/filter.c, and __skb_get_nlattr() for attributes.
#pragma once

namespace railhead::host {

/// Of uevents: no netdev that has no device, nor what belongs to it, such as its queues.
void leave_out_virtual_netdevs(int uevents);

/// Of RTMGRP_LINK: no link that software made, such as a veth, but bonds and IPoIB.
void leave_out_made_links(int links);

}  // namespace railhead::host
