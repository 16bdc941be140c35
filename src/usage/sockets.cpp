// SPDX-License-Identifier: Apache-2.0
#include "usage/sockets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "host/keep.h"

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

/// Established ones, with the addresses, which decide whether one leads elsewhere, and the inode.
std::string kept_connections(std::string_view content) {
  return host::keep_lines(content, [](std::string_view line) -> std::string {
    constexpr std::string_view kAddress = "0123456789ABCDEF:";
    const auto words = split_words(line);
    const bool is_read = words.size() >= 10 && words[3] == kEstablished &&
                         words[1].find_first_not_of(kAddress) == std::string_view::npos &&
                         words[2].find_first_not_of(kAddress) == std::string_view::npos &&
                         parse_unsigned(words[9]);
    if (!is_read) return "";
    return "0: " + std::string(words[1]) + " " + std::string(words[2]) + " 01 0 0 0 0 0 " +
           std::string(words[9]);
  });
}

/// Bytes alone: a container names its netdevs as it likes.
std::string kept_netdevs(std::string_view content) {
  return host::keep_lines(content, [](std::string_view line) -> std::string {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || trim(line.substr(0, colon)) == "lo") return "";
    const auto words = split_words(line.substr(colon + 1));
    const bool is_read = words.size() >= 16 && parse_unsigned(words[0]) && parse_unsigned(words[8]);
    if (!is_read) return "";
    return "net: " + std::string(words[0]) + " 0 0 0 0 0 0 0 " + std::string(words[8]) +
           " 0 0 0 0 0 0 0";
  });
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
    const auto text = host_.read_keeping(folder + name, kept_connections);
    if (!text) all.doubt = text.error().message;
    all.there = all.there || !text || *text;
    if (!text || !*text) continue;
    for (const auto inode : established_elsewhere(**text)) all.sockets.push_back({inode, {}, {}});
  }
  return all;
}

Networks::Connections Networks::read(const std::string& folder) {
  auto asked = host_.tcp_sockets(folder + "/ns/net");
  if (!asked || !*asked) {
    auto found = read_tables(folder);
    // Of a namespace that may not be entered the tables say less; without them nothing does.
    if (!found.there && !asked) found = {{}, 0, true, false, asked.error().message};
    return found;
  }
  Connections found{**std::move(asked), 0, true, true, ""};
  std::ranges::sort(found.sockets, [](const auto& a, const auto& b) { return a.inode < b.inode; });
  return found;
}

const Networks::Connections& Networks::connections_of(std::uint32_t process,
                                                      const std::string& name, bool own) {
  static const Connections ended;
  const auto known = by_namespace_.find(name);
  if (known != by_namespace_.end()) return known->second;
  auto found = read(proc_dir_ + "/" + std::to_string(process));
  // Another process of it may be there.
  if (!found.there || !is_still(host_, proc_dir_, table_, process)) return ended;
  found.count = found.sockets.size();
  if (own && found.count > left_by_name_) {
    found.sockets = {};
  } else if (own) {
    left_by_name_ -= found.count;
  }
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
    NetworkUse use;
    use.own = **mine != *node;
    const auto& found = connections_of(process, **mine, use.own);
    using Text = Result<std::optional<std::string>>;
    const Text devices = use.own ? host_.read_keeping(folder + "/net/dev", kept_netdevs)
                                 : Text(std::optional<std::string>());
    if (!found.there || !is_still(host_, proc_dir_, table_, process)) continue;
    if (devices && *devices) use.bytes = netdev_bytes(**devices);
    std::vector<host::TcpSocket> theirs;
    std::ranges::copy_if(found.sockets, std::back_inserter(theirs), [&](const auto& one) {
      return use.own || held.sockets.contains(one.inode);
    });
    use.by_statistics = found.counted;
    use.connections = use.own ? found.count : theirs.size();
    const auto doubt = use.own || held.doubt.empty() ? found.doubt : held.doubt;
    if (use.connections == 0 && !doubt.empty()) return Error{ErrorCode::unavailable, doubt};
    if (found.counted && theirs.size() == use.connections && use.connections <= left_) {
      left_ -= use.connections;
      use.sockets = std::move(theirs);
    }
    return use;
  }
  return why;
}

}  // namespace railhead::usage
