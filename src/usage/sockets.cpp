// SPDX-License-Identifier: Apache-2.0
#include "usage/sockets.h"

#include <algorithm>

#include "base/text.h"

namespace railhead {
namespace {

constexpr std::size_t kMaxConnections = 65536;
constexpr std::size_t kMaxDescriptors = 65536;
constexpr std::size_t kMaxProcesses = 256;
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

/// "socket:[4711]"
std::optional<std::uint64_t> socket_inode(std::string_view link) {
  constexpr std::string_view kPrefix = "socket:[";
  if (!link.starts_with(kPrefix) || !link.ends_with(']')) return std::nullopt;
  const auto inode = parse_unsigned(link.substr(kPrefix.size(), link.size() - kPrefix.size() - 1));
  if (!inode) return std::nullopt;
  return *inode;
}

/// Adds the sockets of a process; false where its descriptors may not be looked at.
bool add_sockets(Host& host, const std::string& folder, std::set<std::uint64_t>& inodes) {
  const auto names = host.list(folder + "/fd");
  if (!names) return false;
  if (!*names) return true;  // ended
  for (const auto& name : **names) {
    if (inodes.size() >= kMaxDescriptors) return true;
    const auto link = host.readlink(folder + "/fd/" + name);
    if (!link || !*link) continue;
    if (const auto inode = socket_inode(**link)) inodes.insert(*inode);
  }
  return true;
}

/// Absent where neither table can be read.
std::optional<std::vector<std::uint64_t>> connections_of(Host& host, const std::string& folder) {
  std::optional<std::vector<std::uint64_t>> all;
  for (const auto* name : {"/net/tcp", "/net/tcp6"}) {
    const auto text = host.read(folder + name);
    if (!text || !*text) continue;
    const auto some = established_elsewhere(**text);
    if (!all) all.emplace();
    all->insert(all->end(), some.begin(), some.end());
  }
  return all;
}

std::size_t count_held(Host& host, const std::string& proc_dir,
                       const std::vector<std::uint32_t>& processes,
                       const std::vector<std::uint64_t>& connections, bool& may_look) {
  std::set<std::uint64_t> held;
  std::size_t looked_at = 0;
  for (const auto process : processes) {
    if (++looked_at > kMaxProcesses) break;
    may_look = add_sockets(host, proc_dir + "/" + std::to_string(process), held) && may_look;
  }
  return static_cast<std::size_t>(std::count_if(connections.begin(), connections.end(),
                                                [&](auto inode) { return held.contains(inode); }));
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
    if (is_loopback(remote) || local == remote || !inode) continue;
    if (inodes.size() == kMaxConnections) break;
    inodes.push_back(*inode);
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

std::optional<NetworkUse> read_network_use(Host& host, const std::string& proc_dir,
                                           const std::vector<std::uint32_t>& processes) {
  const auto node = host.readlink(proc_dir + "/1/ns/net");
  for (const auto process : processes) {
    const auto folder = proc_dir + "/" + std::to_string(process);
    const auto mine = host.readlink(folder + "/ns/net");
    if (!mine || !*mine || !node || !*node) continue;
    NetworkUse use;
    use.own = **mine != **node;
    const auto connections = connections_of(host, folder);
    if (!connections) continue;
    bool may_look = true;
    use.connections = use.own ? connections->size()
                              : count_held(host, proc_dir, processes, *connections, may_look);
    if (!may_look) return std::nullopt;
    using Text = Result<std::optional<std::string>>;
    const Text devices =
        use.own ? host.read(folder + "/net/dev") : Text(std::optional<std::string>());
    if (devices && *devices) use.bytes = netdev_bytes(**devices);
    return use;
  }
  return std::nullopt;
}

}  // namespace railhead
