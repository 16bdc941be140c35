// SPDX-License-Identifier: Apache-2.0
#include "usage/sockets.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace railhead::usage {
namespace {

constexpr std::size_t kMaxDescriptors = 65536;
constexpr std::size_t kMaxHolders = 1024;
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

/// What was found, and why there may be more.
struct Connections {
  std::vector<std::uint64_t> inodes;
  bool there = false;  ///< a table at least
  std::string doubt;
};

Connections connections_of(host::Host& host, const std::string& folder) {
  Connections all;
  for (const auto* name : {"/net/tcp", "/net/tcp6"}) {
    const auto text = host.read(folder + name);
    if (!text) all.doubt = text.error().message;
    all.there = all.there || !text || *text;
    if (!text || !*text) continue;
    const auto some = established_elsewhere(**text);
    all.inodes.insert(all.inodes.end(), some.begin(), some.end());
  }
  return all;
}

/// The sockets that processes hold, and why there may be more.
class HeldSockets {
 public:
  HeldSockets(host::Host& host, const std::string& proc_dir,
              const std::vector<std::uint32_t>& processes)
      : host_(host) {
    std::size_t looked_at = 0;
    for (const auto process : processes) {
      if (++looked_at > kMaxHolders) {
        doubt_ = "more than " + std::to_string(kMaxHolders) + " processes may hold them";
        return;
      }
      add(proc_dir + "/" + std::to_string(process) + "/fd");
    }
  }

  [[nodiscard]] std::size_t among(const std::vector<std::uint64_t>& connections) const {
    return static_cast<std::size_t>(
        std::count_if(connections.begin(), connections.end(),
                      [&](auto inode) { return inodes_.contains(inode); }));
  }

  [[nodiscard]] const std::string& doubt() const { return doubt_; }

 private:
  void add(const std::string& folder) {
    const auto names = host_.list(folder);
    if (!names) doubt_ = names.error().message;
    if (!names || !*names) return;  // not for us to see, or ended
    for (const auto& name : **names) {
      if (++descriptors_ > kMaxDescriptors) {
        doubt_ = "more than " + std::to_string(kMaxDescriptors) + " descriptors may be theirs";
        return;
      }
      const auto link = host_.readlink(folder + "/" + name);
      if (!link) doubt_ = link.error().message;
      if (!link || !*link) continue;
      if (const auto inode = socket_inode(**link)) inodes_.insert(*inode);
    }
  }

  host::Host& host_;
  std::set<std::uint64_t> inodes_;
  std::size_t descriptors_ = 0;
  std::string doubt_;
};

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

Result<NetworkUse> read_network_use(host::Host& host, const std::string& proc_dir,
                                    const std::vector<std::uint32_t>& processes) {
  const auto node = TRY(host.readlink(proc_dir + "/1/ns/net"));
  if (!node) return Error{ErrorCode::unavailable, proc_dir + "/1/ns/net: not there"};
  Error why{ErrorCode::unavailable, "its processes have ended"};
  for (const auto process : processes) {
    const auto folder = proc_dir + "/" + std::to_string(process);
    const auto mine = host.readlink(folder + "/ns/net");
    if (!mine) why = mine.error();
    if (!mine || !*mine) continue;
    const auto found = connections_of(host, folder);
    if (!found.there) continue;
    NetworkUse use;
    use.own = **mine != *node;
    use.connections = found.inodes.size();
    auto doubt = found.doubt;
    if (!use.own) {
      const HeldSockets held(host, proc_dir, processes);
      use.connections = held.among(found.inodes);
      if (!held.doubt().empty()) doubt = held.doubt();
    }
    if (use.connections == 0 && !doubt.empty()) return Error{ErrorCode::unavailable, doubt};
    using Text = Result<std::optional<std::string>>;
    const Text devices =
        use.own ? host.read(folder + "/net/dev") : Text(std::optional<std::string>());
    if (devices && *devices) use.bytes = netdev_bytes(**devices);
    return use;
  }
  return why;
}

}  // namespace railhead::usage
