// SPDX-License-Identifier: Apache-2.0
#include "usage/nfs_mounts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "host/keep.h"
#include "host/mounts.h"

namespace railhead::usage {
namespace {

constexpr std::size_t kMaxMounts = 4096;
constexpr unsigned kMaxTransports = 256;  // nconnect= ends at 16, trunking makes few more

/// Sources: nfs(5), mount(8) "FILESYSTEM-INDEPENDENT MOUNT OPTIONS", systemd.mount(5); what the
/// kernel shows, Linux fs/nfs/super.c, nfs_show_mount_options().
constexpr auto kOptions = std::to_array<std::string_view>({"ro",
                                                           "rw",
                                                           "soft",
                                                           "hard",
                                                           "softerr",
                                                           "softreval",
                                                           "nosoftreval",
                                                           "timeo",
                                                           "retrans",
                                                           "rsize",
                                                           "wsize",
                                                           "ac",
                                                           "noac",
                                                           "acregmin",
                                                           "acregmax",
                                                           "acdirmin",
                                                           "acdirmax",
                                                           "actimeo",
                                                           "bg",
                                                           "fg",
                                                           "nconnect",
                                                           "max_connect",
                                                           "trunkdiscovery",
                                                           "notrunkdiscovery",
                                                           "rdirplus",
                                                           "nordirplus",
                                                           "retry",
                                                           "sec",
                                                           "sharecache",
                                                           "nosharecache",
                                                           "resvport",
                                                           "noresvport",
                                                           "lookupcache",
                                                           "fsc",
                                                           "nofsc",
                                                           "proto",
                                                           "udp",
                                                           "tcp",
                                                           "rdma",
                                                           "port",
                                                           "mountport",
                                                           "mountproto",
                                                           "mounthost",
                                                           "mountvers",
                                                           "mountaddr",
                                                           "namlen",
                                                           "nfsvers",
                                                           "vers",
                                                           "v3",
                                                           "v4",
                                                           "v4.0",
                                                           "v4.1",
                                                           "v4.2",
                                                           "lock",
                                                           "nolock",
                                                           "cto",
                                                           "nocto",
                                                           "acl",
                                                           "noacl",
                                                           "local_lock",
                                                           "minorversion",
                                                           "clientaddr",
                                                           "migration",
                                                           "nomigration",
                                                           "xprtsec",
                                                           "write",
                                                           "addr",
                                                           "bsize",
                                                           "remoteports",
                                                           "spread",
                                                           "localports",
                                                           "spread_reads",
                                                           "spread_writes",
                                                           "intr",
                                                           "nointr",
                                                           "posix",
                                                           "noposix",
                                                           "async",
                                                           "sync",
                                                           "atime",
                                                           "noatime",
                                                           "auto",
                                                           "noauto",
                                                           "defaults",
                                                           "dev",
                                                           "nodev",
                                                           "diratime",
                                                           "nodiratime",
                                                           "exec",
                                                           "noexec",
                                                           "group",
                                                           "users",
                                                           "nouser",
                                                           "owner",
                                                           "iversion",
                                                           "noiversion",
                                                           "mand",
                                                           "nomand",
                                                           "_netdev",
                                                           "nofail",
                                                           "relatime",
                                                           "norelatime",
                                                           "strictatime",
                                                           "nostrictatime",
                                                           "lazytime",
                                                           "nolazytime",
                                                           "suid",
                                                           "nosuid",
                                                           "silent",
                                                           "loud",
                                                           "remount",
                                                           "bind",
                                                           "rbind",
                                                           "x-systemd.automount",
                                                           "x-systemd.mount-timeout",
                                                           "x-systemd.idle-timeout",
                                                           "x-systemd.device-timeout",
                                                           "x-initrd.mount"});

constexpr auto kTimes = std::to_array<std::string_view>({"s", "min", "ms", "h", "m"});

/// Values that are words, beside numbers. What else stands there is a name or an address, and no
/// reader asks for it. Sources: as above; Linux fs/nfs/fs_context.c for the enumerations.
constexpr auto kValues = std::to_array<std::string_view>(
    {"tcp",  "udp",   "rdma",  "tcp6",  "udp6",  "rdma6",    "vsock", "sys",
     "none", "null",  "krb5",  "krb5i", "krb5p", "lkey",     "lkeyi", "lkeyp",
     "spkm", "spkmi", "spkmp", "all",   "pos",   "positive", "flock", "posix",
     "tls",  "mtls",  "lazy",  "eager", "wait",  "infinity"});

/// "4.2", "600", "krb5:krb5p", "30s"
bool is_plain_value(std::string_view value) {
  return std::ranges::all_of(split(value, ':'), [](std::string_view part) {
    if (contains(kValues, part)) return true;
    const auto end = part.find_first_not_of("0123456789.");
    const bool has_number = !part.empty() && end != 0 && std::ranges::count(part, '.') < 2;
    return has_number && (end == part.npos || contains(kTimes, part.substr(end)));
  });
}

/// "10.0.0.1", "2001:db8::1", "fe80::1%eth0"
bool is_address(std::string_view text) {
  const auto bare = text.substr(0, text.find('%'));
  const auto scope = text.substr(std::min(bare.size() + 1, text.size()));
  const bool is_4 = std::ranges::count(bare, '.') == 3 &&
                    bare.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool is_6 = std::ranges::count(bare, ':') > 1 &&
                    bare.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  return (is_4 && bare.size() == text.size()) ||
         (is_6 && (scope.empty() || host::is_made_of(scope, "_-.")));
}

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
                                                   host::Keep keep, bool& of_machine) {
  auto text = host.read_keeping("/proc/1/" + name, keep);
  of_machine = text && *text;
  // A file that is too large is not replaced by that of this process, which may see fewer mounts.
  if (of_machine || (!text && text.error().code == ErrorCode::too_large)) return text;
  return host.read_keeping("/proc/self/" + name, keep);
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

bool is_nfs_source(std::string_view source) {
  const auto [server, path] = split_nfs_source(source);
  const bool is_bracketed = server.starts_with('[') && server.ends_with(']');
  const auto name = is_bracketed ? std::string_view(server).substr(1, server.size() - 2) : server;
  return path.starts_with('/') && !path.starts_with("//") &&
         host::is_made_of(name, is_bracketed ? ":.%" : ".-_%\\");
}

std::string kept_source(std::string_view source) {
  const auto [server, path] = split_nfs_source(source);
  if (is_nfs_source(source) || (!path.empty() && is_address(server))) return std::string(source);
  return path.empty() ? "?" : "?:" + path;
}

std::string kept_options(std::string_view options) {
  std::vector<std::string> kept;
  for (const auto word : split(options, ',')) {
    const auto option = trim(word);
    const auto equal = std::min(option.find('='), option.size());
    const bool is_known = contains(kOptions, option.substr(0, equal));
    const auto value = option.substr(std::min(equal + 1, option.size()));
    const bool is_plain = value.empty() || is_plain_value(value) || is_address(value);
    if (is_known && is_plain) kept.emplace_back(option);
    if (is_known && !is_plain) kept.push_back(std::string(option.substr(0, equal)) + "=?");
    // A specifier of systemd: the unit cannot be read without it.
    if (!is_known && option.find('%') != std::string_view::npos) kept.emplace_back("%i");
  }
  return kept.empty() && !options.empty() ? "defaults" : join(kept, ",");
}

std::string kept_mountstats(std::string_view content) {
  if (!trim(content).empty() && !says_mounts(content)) return "?\n";  // it stays no such file
  bool is_inside = false;
  auto kept = host::keep_lines(content, [&](std::string_view line) -> std::string {
    const auto words = split_words(line);
    if (words.empty()) return "";
    if (words[0] == "device") {
      is_inside = mount_of(words).has_value() && is_nfs_type(words[7]);
      if (!is_inside) return "";
      return join({"device", kept_source(words[1]), "mounted on", std::string(words[4]),
                   "with fstype", std::string(words[7])},
                  " ");
    }
    if (!is_inside) return "";
    if (words[0] == "opts:" && words.size() > 1) return "\topts:\t" + kept_options(words[1]);
    if (words[0] != "xprt:") return "";
    std::string numbers = "\txprt:\t";
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool is_kept = parse_unsigned(words[i]) || (i == 1 && host::is_made_of(words[1], ""));
      numbers += (i == 1 ? "" : " ") + (is_kept ? std::string(words[i]) : "?");
    }
    return numbers;
  });
  // A text that is cut off stays so.
  if (is_inside && !content.ends_with('\n')) kept.pop_back();
  return kept;
}

std::string kept_mountinfo(std::string_view content) {
  return host::keep_lines(content, [](std::string_view line) -> std::string {
    const auto at = host::parse_mount_line(line);
    if (!at || !is_nfs_type(at->type)) return "";
    const auto words = split_words(line);
    const std::vector<std::string> kept = {std::string(at->id),
                                           std::string(at->parent),
                                           std::string(at->device),
                                           std::string(words[3]),
                                           std::string(words[4]),
                                           kept_options(words[5]),
                                           "-",
                                           std::string(at->type),
                                           kept_source(at->source),
                                           kept_options(at->options)};
    return join(kept, " ");
  });
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
  auto statistics = read_of_machine(host, "mountstats", kept_mountstats, found.of_machine);
  // Without any mount the file is empty.
  if (statistics && *statistics && !trim(**statistics).empty() && !says_mounts(**statistics))
    statistics = Error{ErrorCode::malformed, "mountstats: no line of a mount"};
  bool of_machine = false;
  const auto mountinfo = read_of_machine(host, "mountinfo", kept_mountinfo, of_machine);
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
