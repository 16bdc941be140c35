// SPDX-License-Identifier: Apache-2.0
#include "host/netlink.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>

namespace railhead::host {
namespace {

template <typename Header>
std::optional<Header> header_of(std::string_view bytes) {
  if (bytes.size() < sizeof(Header)) return std::nullopt;
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// What is behind a header, and `bytes` moved on to what follows.
std::string_view take_payload(std::string_view& bytes, std::size_t header, std::size_t length) {
  const auto payload = bytes.substr(header, length - header);
  bytes.remove_prefix(std::min((length + 3) / 4 * 4, bytes.size()));
  return payload;
}

}  // namespace

std::optional<NetlinkMessage> take_netlink_message(std::string_view& bytes) {
  const auto header = header_of<nlmsghdr>(bytes);
  if (!header || header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > bytes.size()) {
    return std::nullopt;
  }
  const auto payload = take_payload(bytes, sizeof(nlmsghdr), header->nlmsg_len);
  return NetlinkMessage{header->nlmsg_type, header->nlmsg_flags, header->nlmsg_seq, payload};
}

std::optional<NetlinkAttribute> take_netlink_attribute(std::string_view& bytes) {
  const auto header = header_of<nlattr>(bytes);
  if (!header || header->nla_len < sizeof(nlattr) || header->nla_len > bytes.size()) {
    return std::nullopt;
  }
  const auto payload = take_payload(bytes, sizeof(nlattr), header->nla_len);
  const auto type = static_cast<std::uint16_t>(header->nla_type & NLA_TYPE_MASK);
  return NetlinkAttribute{type, payload};
}

std::optional<int> cut_short(std::string_view messages) {
  while (const auto message = take_netlink_message(messages)) {
    if (message->type != kNetlinkDone) continue;
    const auto status = netlink_number<std::uint32_t>(message->payload.substr(0, 4));
    return status ? static_cast<int>(~*status + 1) : EPROTO;
  }
  return std::nullopt;
}

std::string netlink_attribute(std::uint16_t type, std::string_view payload) {
  const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + payload.size()), type};
  auto bytes = netlink_bytes(header).append(payload);
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

std::string netlink_message(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
                            std::string_view payload) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + payload.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = sequence;
  return netlink_bytes(header).append(payload);
}

void blank_netlink(std::string& whole, std::string_view part) {
  std::fill_n(whole.begin() + (part.data() - whole.data()), part.size(), '\0');
}

}  // namespace railhead::host
