// SPDX-License-Identifier: Apache-2.0
#include "usage/nfs_mounts.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "host/mounts.h"

namespace railhead::usage {
namespace {

constexpr std::size_t kMaxMounts = 4096;
constexpr unsigned kMaxTransports = 256;  // nconnect= ends at 16, trunking makes few more

std::string not_as_written(std::size_t number, std::string_view line) {
  return "mountstats: line " + std::to_string(number) + ": " + in_quotes(trim(line));
}

void take_source(NfsMount& mount, std::string_view escaped) {
  std::tie(mount.server, mount.path) = split_nfs_source(host::unescaped_mount(escaped));
}

/// "device SERVER:PATH mounted on PLACE with fstype nfs4 statvers=1.1"
std::optional<NfsMount> mount_of(const std::vector<std::string_view>& words) {
  if (words.size() < 8 || words[2] != "mounted" || words[3] != "on" || words[5] != "with" ||
      words[6] != "fstype") {
    return std::nullopt;
  }
  NfsMount mount;
  take_source(mount, words[1]);
  mount.mount_point = host::unescaped_mount(words[4]);
  return mount;
}

/// False where a number is none.
bool take_options(NfsMount& mount, std::string_view options) {
  mount.version = mount_option(options, "vers").value_or("");
  mount.protocol = mount_option(options, "proto").value_or("");
  if (const auto asked = mount_option(options, "nconnect")) {
    const auto value = parse_unsigned(*asked);
    if (!value || *value > kMaxTransports) return false;
    mount.nconnect = static_cast<unsigned>(*value);
  }
  const auto port = mount_option(options, "port");
  if (!port) return true;
  const auto value = parse_unsigned(*port);
  if (!value || *value > std::numeric_limits<std::uint16_t>::max()) return false;
  if (*value != 0) mount.port = static_cast<std::uint16_t>(*value);
  return true;
}

/// "xprt: rdma 0 0 2 0 5 14 14 …": port, binds, connects, connect time, idle time, sends, receives.
/// For protocols other than rdma and tcp only the name is read: udp has no connects.
std::optional<NfsTransport> transport_of(const std::vector<std::string_view>& words) {
  if (words.size() < 2) return std::nullopt;
  NfsTransport transport;
  transport.protocol = to_lower(words[1]);
  if (transport.protocol != "rdma" && transport.protocol != "tcp") return transport;
  if (words.size() < 9) return std::nullopt;
  const auto at = [&](std::size_t index) { return parse_unsigned(words[index]); };
  const auto connects = at(4);
  const auto sends = at(7);
  const auto receives = at(8);
  if (!connects || !sends || !receives) return std::nullopt;
  transport.connects = *connects;
  transport.sends = *sends;
  transport.receives = *receives;
  return transport;
}

/// Takes a line that belongs to this mount. False where it is not as the kernel writes it.
bool take_line(NfsMount& mount, const std::vector<std::string_view>& words) {
  if (words[0] == "opts:" && words.size() > 1) return take_options(mount, words[1]);
  if (words[0] != "xprt:") return true;
  auto transport = transport_of(words);
  if (!transport || mount.transports.size() == kMaxTransports) return false;
  mount.transports.push_back(*std::move(transport));
  return true;
}

/// The last mount of those at one place is the one that is seen.
NfsMount* at_place(std::vector<NfsMount>& mounts, const std::string& place) {
  const auto found = std::find_if(mounts.rbegin(), mounts.rend(), [&](const NfsMount& mount) {
    return mount.mount_point == place;
  });
  return found == mounts.rend() ? nullptr : &*found;
}

/// A file of process 1, or of this process where that one cannot be read. `of_machine` says which.
Result<std::optional<std::string>> read_of_machine(host::Host& host, const std::string& name,
                                                   bool& of_machine) {
  auto text = host.read("/proc/1/" + name);
  of_machine = text && *text;
  // A file that is too large is not replaced by that of this process, which may see fewer mounts.
  if (of_machine || (!text && text.error().code == ErrorCode::too_large)) return text;
  return host.read("/proc/self/" + name);
}

/// Every process has mounts, so what has no line of one is not this file. Source: Linux
/// fs/proc_namespace.c, show_vfsstat().
bool says_mounts(std::string_view mountstats) {
  const auto lines = split(mountstats, '\n');
  return std::ranges::any_of(lines, [](std::string_view line) {
    return line.starts_with("device ") || line.starts_with("no device ");
  });
}

}  // namespace

std::optional<std::string_view> mount_option(std::string_view options, std::string_view key) {
  for (const auto word : split(options, ',')) {
    const auto equal = word.find('=');
    if (trim(word.substr(0, equal)) != key) continue;
    return equal == std::string_view::npos ? std::string_view() : word.substr(equal + 1);
  }
  return std::nullopt;
}

bool is_rdma_protocol(std::string_view protocol) {
  return protocol == "rdma" || protocol == "rdma6";
}

bool asks_for_rdma(std::string_view options) {
  return mount_option(options, "rdma") ||
         is_rdma_protocol(mount_option(options, "proto").value_or(""));
}

bool is_nfs_type(std::string_view type) {
  return type == "nfs" || type == "nfs4";
}

std::pair<std::string, std::string> split_nfs_source(std::string_view source) {
  const auto colon = source.find(":/", source.starts_with('[') ? source.find(']') : 0);
  if (colon == std::string::npos) return {std::string(source), ""};
  return {std::string(source.substr(0, colon)), std::string(source.substr(colon + 1))};
}

std::vector<NfsMount> parse_mountstats(std::string_view text) {
  std::vector<NfsMount> mounts;
  bool inside = false;
  std::size_t number = 0;
  const auto spoil = [&](const std::string& why) {
    if (mounts.back().problem.empty()) mounts.back().problem = why;
    mounts.back().transports.clear();
    inside = false;
  };
  for (const auto line : split(text, '\n')) {
    ++number;
    const auto words = split_words(line);
    if (words.empty()) continue;
    if (words[0] == "device") {
      const auto mount = mount_of(words);
      inside = mount && is_nfs_type(words[7]);
      if (!inside) continue;
      const bool is_full = mounts.size() == kMaxMounts;
      mounts.push_back(is_full ? NfsMount() : *mount);
      if (!is_full) continue;
      spoil("mountstats: more NFS mounts than " + std::to_string(kMaxMounts));
      return mounts;
    }
    if (inside && !take_line(mounts.back(), words)) spoil(not_as_written(number, line));
  }
  if (inside && !text.ends_with('\n'))
    spoil("mountstats: cut off in line " + std::to_string(number));
  return mounts;
}

void add_mountinfo(std::vector<NfsMount>& mounts, std::string_view mountinfo,
                   const std::string& problem) {
  for (const auto line : split(mountinfo, '\n')) {
    const auto at = host::parse_mount_line(line);
    if (!at || !is_nfs_type(at->type)) continue;
    auto* mount = at_place(mounts, at->point);
    if (mount == nullptr && !problem.empty() && mounts.size() < kMaxMounts) {
      NfsMount only;
      take_source(only, at->source);
      only.mount_point = at->point;
      only.problem =
          take_options(only, at->options) ? problem : "mountinfo: " + in_quotes(at->options);
      mount = &mounts.emplace_back(std::move(only));
    }
    const auto address = mount_option(at->options, "addr");
    if (mount != nullptr && address) mount->address = std::string(*address);
  }
}

std::string plain_place(std::string_view path) {
  std::string place;
  for (const char c : path) {
    if (c != '/' || !place.ends_with('/')) place += c;
  }
  if (place.size() > 1 && place.ends_with('/')) place.pop_back();
  return place;
}

Result<std::optional<NfsMounts>> read_nfs_mounts(host::Host& host) {
  NfsMounts found;
  auto statistics = read_of_machine(host, "mountstats", found.of_machine);
  // Without any mount the file is empty.
  if (statistics && *statistics && !trim(**statistics).empty() && !says_mounts(**statistics))
    statistics = Error{ErrorCode::malformed, "mountstats: no line of a mount"};
  bool of_machine = false;
  const auto mountinfo = read_of_machine(host, "mountinfo", of_machine);
  const bool has_list = mountinfo && *mountinfo;
  if (statistics && *statistics) {
    found.mounts = parse_mountstats(**statistics);
  } else if (!statistics && !has_list) {
    return statistics.error();
  } else if (!has_list) {
    return std::optional<NfsMounts>();
  } else {
    found.of_machine = of_machine;
  }
  // A mount that came between two looks is in one list only, and no reason to say anything.
  const auto problem = statistics && *statistics ? ""
                       : statistics              ? "the kernel keeps no statistics of mounts"
                                                 : statistics.error().message;
  if (has_list) add_mountinfo(found.mounts, **mountinfo, problem);
  return std::optional(std::move(found));
}

}  // namespace railhead::usage
