// SPDX-License-Identifier: Apache-2.0
#include "usage/sockets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace railhead::usage {
namespace {

constexpr std::string_view kEstablished = "01";  // TCP_ESTABLISHED, include/net/tcp_states.h

/// 127.0.0.0/8, ::1, and the first inside IPv6; words are printed as the machine keeps them, so the
/// first byte of an IPv4 address stands last.
bool is_loopback(std::string_view address) {
  if (address.size() == 8) return address.substr(6) == "7F";
  if (address == "00000000000000000000000001000000") return true;
  return address.size() == 32 && address.starts_with("0000000000000000FFFF0000") &&
         address.substr(30) == "7F";
}

std::string_view address_of(std::string_view end) {
  return end.substr(0, end.find(':'));
}

}  // namespace

std::vector<std::uint64_t> established_elsewhere(std::string_view text) {
  std::vector<std::uint64_t> inodes;
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() < 10 || words[3] != kEstablished) continue;
    const auto local = address_of(words[1]);
    const auto remote = address_of(words[2]);
    const auto inode = parse_unsigned(words[9]);
    if (inode && !is_loopback(remote) && local != remote) inodes.push_back(*inode);
  }
  return inodes;
}

std::uint64_t netdev_bytes(std::string_view text) {
  std::uint64_t bytes = 0;
  for (const auto line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || trim(line.substr(0, colon)) == "lo") continue;
    const auto words = split_words(line.substr(colon + 1));
    if (words.size() < 16) continue;
    bytes += parse_unsigned(words[0]).value_or(0) + parse_unsigned(words[8]).value_or(0);
  }
  return bytes;
}

Networks::Connections Networks::read_tables(const std::string& folder) {
  Connections all;
  for (const auto* name : {"/net/tcp", "/net/tcp6"}) {
    const auto text = host_.read(folder + name);
    if (!text) all.doubt = text.error().message;
    all.there = all.there || !text || *text;
    if (!text || !*text) continue;
    for (const auto inode : established_elsewhere(**text)) all.sockets.push_back({inode, {}, {}});
  }
  return all;
}

const Networks::Connections& Networks::connections_of(const std::string& folder,
                                                      const std::string& name) {
  const auto known = by_namespace_.find(name);
  if (known != by_namespace_.end()) return known->second;
  Connections found;
  auto asked = host_.tcp_sockets(folder + "/ns/net");
  if (asked && *asked) {
    found = {**std::move(asked), true, true, ""};
    std::sort(found.sockets.begin(), found.sockets.end(),
              [](const auto& a, const auto& b) { return a.inode < b.inode; });
  } else {
    found = read_tables(folder);
  }
  static const Connections ended;
  if (!found.there) return ended;  // another process of it may be there
  return by_namespace_.emplace(name, std::move(found)).first->second;
}

Result<NetworkUse> Networks::use_of(const std::vector<std::uint32_t>& processes,
                                    const HeldFiles& held) {
  const auto node = TRY(host_.readlink(proc_dir_ + "/1/ns/net"));
  if (!node) return Error{ErrorCode::unavailable, proc_dir_ + "/1/ns/net: not there"};
  Error why{ErrorCode::unavailable, "its processes have ended"};
  for (const auto process : processes) {
    const auto folder = proc_dir_ + "/" + std::to_string(process);
    const auto mine = host_.readlink(folder + "/ns/net");
    if (!mine) why = mine.error();
    if (!mine || !*mine) continue;
    const auto& found = connections_of(folder, **mine);
    if (!found.there) continue;
    NetworkUse use;
    use.own = **mine != *node;
    std::vector<host::TcpSocket> theirs;
    std::copy_if(found.sockets.begin(), found.sockets.end(), std::back_inserter(theirs),
                 [&](const auto& one) { return use.own || held.sockets.contains(one.inode); });
    use.connections = theirs.size();
    const auto doubt = use.own || held.doubt.empty() ? found.doubt : held.doubt;
    if (use.connections == 0 && !doubt.empty()) return Error{ErrorCode::unavailable, doubt};
    if (found.counted) use.sockets = std::move(theirs);
    using Text = Result<std::optional<std::string>>;
    const Text devices =
        use.own ? host_.read(folder + "/net/dev") : Text(std::optional<std::string>());
    if (devices && *devices) use.bytes = netdev_bytes(**devices);
    return use;
  }
  return why;
}

}  // namespace railhead::usage
