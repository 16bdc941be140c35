// SPDX-License-Identifier: Apache-2.0
#include "host/netlink_filter.h"

#include <linux/filter.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace railhead::host {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;  ///< as much of a message as there is
constexpr std::uint32_t kNothing = 0;

/// As a word is loaded: the first byte is the highest.
constexpr std::uint32_t word(const char (&text)[5]) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(text[i]);
  return value;
}

constexpr sock_filter do_this(int code, std::uint32_t value) {
  return {static_cast<std::uint16_t>(code), 0, 0, value};
}

/// Skips so many instructions where A is the value, and so many where it is not.
constexpr sock_filter skip(std::uint32_t value, std::uint8_t if_equal, std::uint8_t if_not) {
  return {BPF_JMP | BPF_JEQ | BPF_K, if_equal, if_not, value};
}

constexpr int kSetA = BPF_LD | BPF_IMM;
constexpr int kSetX = BPF_LDX | BPF_IMM;
constexpr int kCopyToX = BPF_MISC | BPF_TAX;
constexpr int kByte = BPF_LD | BPF_B | BPF_ABS;
constexpr int kByteAfterX = BPF_LD | BPF_B | BPF_IND;
constexpr int kWordAfterX = BPF_LD | BPF_W | BPF_IND;
constexpr int kExtension = BPF_LD | BPF_W | BPF_ABS;
constexpr int kEnd = BPF_RET | BPF_K;

/// "add@/devices/virtual/net/...": X is where the path begins. Source of the words before it:
/// lib/kobject_uevent.c, kobject_actions: add; bind, move; change, online, remove, unbind; offline.
/// What is below lo passes: siw has made its device a child of it (siw_device_create, Linux 5.10).
constexpr std::array kVirtualNetdevs{
    do_this(kSetX, 4),        do_this(kByte, 3),         skip('@', 7, 0),  //
    do_this(kSetX, 5),        do_this(kByte, 4),         skip('@', 4, 0),  //
    do_this(kSetX, 7),        do_this(kByte, 6),         skip('@', 1, 0),  //
    do_this(kSetX, 8),                                                     //
    do_this(kWordAfterX, 0),  skip(word("/dev"), 0, 13),                   //
    do_this(kWordAfterX, 4),  skip(word("ices"), 0, 11),                   //
    do_this(kWordAfterX, 8),  skip(word("/vir"), 0, 9),                    //
    do_this(kWordAfterX, 12), skip(word("tual"), 0, 7),                    //
    do_this(kWordAfterX, 16), skip(word("/net"), 0, 5),                    //
    do_this(kWordAfterX, 20), skip(word("/lo/"), 3, 0),                    //
    do_this(kByteAfterX, 20), skip('/', 0, 1),                             //
    do_this(kEnd, kNothing),  do_this(kEnd, kAll),
};

constexpr std::uint32_t kAttributesOfLink = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(ifinfomsg));

/// By IFLA_LINKINFO's IFLA_INFO_KIND. Devices have none, and members of a bond only another one. A
/// bridge tells of its ports in messages of its own family, without it; what they say of a device
/// the device's own message says too (net/bridge/br_netlink.c, br_info_notify).
constexpr std::array kMadeLinks{
    do_this(kByte, NLMSG_HDRLEN),  // ifi_family
    skip(AF_UNSPEC, 0, 11),
    do_this(kSetA, kAttributesOfLink),
    do_this(kSetX, IFLA_LINKINFO),
    do_this(kExtension, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_NLATTR)),
    skip(0, 8, 0),
    do_this(kSetX, IFLA_INFO_KIND),
    do_this(kExtension, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_NLATTR_NEST)),
    skip(0, 5, 0),
    do_this(kCopyToX, 0),
    do_this(kWordAfterX, NLA_HDRLEN),
    skip(word("bond"), 2, 0),
    skip(word("ipoi"), 1, 0),
    do_this(kEnd, kNothing),
    do_this(kEnd, kAll),
};

template <std::size_t count>
void attach(int socket, const std::array<sock_filter, count>& code) {
  auto copy = code;  // which the kernel does not change, and wants as though it would
  const sock_fprog program{static_cast<unsigned short>(count), copy.data()};
  (void)::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

}  // namespace

void leave_out_virtual_netdevs(int uevents) {
  attach(uevents, kVirtualNetdevs);
}

void leave_out_made_links(int links) {
  attach(links, kMadeLinks);
}

}  // namespace railhead::host
