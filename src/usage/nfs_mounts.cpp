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
constexpr std::size_t kMaxTransports = 256;  // nconnect= ends at 16, trunking makes few more

Error malformed(std::size_t number, std::string_view line) {
  return {ErrorCode::malformed,
          "mountstats: line " + std::to_string(number) + ": " + in_quotes(trim(line))};
}

bool is_nfs(std::string_view type) {
  return type == "nfs" || type == "nfs4";
}

/// "SERVER:PATH"; an IPv6 address stands in brackets and has colons of its own.
std::pair<std::string, std::string> source_of(std::string_view escaped) {
  const auto source = host::unescaped_mount(escaped);
  const auto colon = source.find(":/", source.starts_with('[') ? source.find(']') : 0);
  if (colon == std::string::npos) return {source, ""};
  return {source.substr(0, colon), source.substr(colon + 1)};
}

/// "device SERVER:PATH mounted on PLACE with fstype nfs4 statvers=1.1"
std::optional<NfsMount> mount_of(const std::vector<std::string_view>& words) {
  if (words.size() < 8 || words[2] != "mounted" || words[3] != "on" || words[5] != "with" ||
      words[6] != "fstype") {
    return std::nullopt;
  }
  NfsMount mount;
  std::tie(mount.server, mount.path) = source_of(words[1]);
  mount.mount_point = host::unescaped_mount(words[4]);
  return mount;
}

Status take_options(NfsMount& mount, std::string_view options, std::size_t number) {
  mount.version = mount_option(options, "vers").value_or("");
  mount.protocol = mount_option(options, "proto").value_or("");
  const auto port = mount_option(options, "port");
  if (!port) return {};
  const auto value = parse_unsigned(*port);
  if (!value || *value > std::numeric_limits<std::uint16_t>::max()) {
    return malformed(number, "port=" + std::string(*port));
  }
  if (*value != 0) mount.port = static_cast<std::uint16_t>(*value);
  return {};
}

/// "xprt: rdma 0 0 2 0 5 14 14 …": port, binds, connects, connect time, idle time, sends, receives.
/// For protocols other than rdma and tcp only the name is read: udp has no connects.
Result<NfsTransport> transport_of(const std::vector<std::string_view>& words, std::size_t number,
                                  std::string_view line) {
  if (words.size() < 2) return malformed(number, line);
  NfsTransport transport;
  transport.protocol = to_lower(words[1]);
  if (transport.protocol != "rdma" && transport.protocol != "tcp") return transport;
  if (words.size() < 9) return malformed(number, line);
  const auto at = [&](std::size_t index) { return parse_unsigned(words[index]); };
  const auto connects = at(4);
  const auto sends = at(7);
  const auto receives = at(8);
  if (!connects || !sends || !receives) return malformed(number, line);
  transport.connects = *connects;
  transport.sends = *sends;
  transport.receives = *receives;
  return transport;
}

/// The last mount of those at one place is the one that is seen.
NfsMount* at_place(std::vector<NfsMount>& mounts, const std::string& place) {
  const auto found = std::find_if(mounts.rbegin(), mounts.rend(), [&](const NfsMount& mount) {
    return mount.mount_point == place;
  });
  return found == mounts.rend() ? nullptr : &*found;
}

Result<std::optional<std::string>> read_of_machine(host::Host& host, const std::string& name) {
  auto text = host.read("/proc/1/" + name);
  if (text && *text) return text;
  return host.read("/proc/self/" + name);
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

Result<std::vector<NfsMount>> parse_mountstats(std::string_view text) {
  std::vector<NfsMount> mounts;
  bool inside = false;
  std::size_t number = 0;
  for (const auto line : split(text, '\n')) {
    ++number;
    const auto words = split_words(line);
    if (words.empty()) continue;
    if (words[0] == "device") {
      const auto mount = mount_of(words);
      inside = mount && is_nfs(words[7]);
      if (!inside) continue;
      if (mounts.size() == kMaxMounts)
        return Error{ErrorCode::too_large, "more NFS mounts than 4096"};
      mounts.push_back(*mount);
    } else if (inside && words[0] == "opts:" && words.size() > 1) {
      TRY_STATUS(take_options(mounts.back(), words[1], number));
    } else if (inside && words[0] == "xprt:") {
      auto transport = TRY(transport_of(words, number, line));
      auto& all = mounts.back().transports;
      if (all.size() == kMaxTransports) return malformed(number, line);
      all.push_back(std::move(transport));
    }
  }
  return mounts;
}

void add_addresses(std::vector<NfsMount>& mounts, std::string_view mountinfo) {
  for (const auto line : split(mountinfo, '\n')) {
    const auto words = split_words(line);
    // 36 23 0:30 / /mnt/data rw,relatime … - nfs4 10.1.0.1:/ rw,vers=4.1,…
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 10 || words.end() - dash < 4 || !is_nfs(dash[1])) continue;
    const auto address = mount_option(dash[3], "addr");
    auto* mount = at_place(mounts, host::unescaped_mount(words[4]));
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

std::vector<NfsDeclaration> parse_fstab(std::string_view fstab) {
  std::vector<NfsDeclaration> declarations;
  for (const auto line : split(fstab, '\n')) {
    const auto words = split_words(line);
    if (words.size() < 4 || words[0].starts_with('#') || !is_nfs(words[2])) continue;
    NfsDeclaration declaration;
    std::tie(declaration.server, declaration.path) = source_of(words[0]);
    declaration.mount_point = plain_place(host::unescaped_mount(words[1]));
    declaration.options = words[3];
    declarations.push_back(std::move(declaration));
  }
  return declarations;
}

void add_declarations(std::vector<NfsMount>& mounts, std::string_view fstab) {
  for (const auto& declaration : parse_fstab(fstab)) {
    auto* mount = at_place(mounts, declaration.mount_point);
    if (mount != nullptr) mount->declared = declaration.options;
  }
}

Result<std::optional<std::vector<NfsDeclaration>>> read_nfs_declarations(host::Host& host) {
  const auto fstab = TRY(host.read("/etc/fstab"));
  if (!fstab) return std::optional<std::vector<NfsDeclaration>>();
  return std::optional(parse_fstab(*fstab));
}

bool sees_mounts_of_machine(host::Host& host) {
  const auto text = host.read("/proc/1/mountstats");
  return text && *text;
}

Result<std::optional<std::vector<NfsMount>>> read_nfs_mounts(host::Host& host) {
  const auto statistics = TRY(read_of_machine(host, "mountstats"));
  if (!statistics) return std::optional<std::vector<NfsMount>>();
  auto mounts = TRY(parse_mountstats(*statistics));
  // Both only add to what is known: without them there is no address and no declaration.
  const auto mountinfo = read_of_machine(host, "mountinfo");
  if (mountinfo && *mountinfo) add_addresses(mounts, **mountinfo);
  const auto fstab = host.read("/etc/fstab");
  if (fstab && *fstab) add_declarations(mounts, **fstab);
  return std::optional(std::move(mounts));
}

}  // namespace railhead::usage
