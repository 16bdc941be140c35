// SPDX-License-Identifier: Apache-2.0
#include "snapshot/redact.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/contains.h"
#include "base/hash.h"
#include "base/text.h"
#include "node/nic_attributes.h"
#include "node/pci_config.h"
#include "snapshot/hex_text.h"
#include "snapshot/pseudonyms.h"

namespace railhead::snapshot {
namespace {

enum class Kind { uuid, guid, gid, mac, ip, serial, host, other_uuid };

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kKindNames = {
    {{"GPU UUID", "GPU UUIDs"},
     {"GUID", "GUIDs"},
     {"GID", "GIDs"},
     {"MAC address", "MAC addresses"},
     {"IP address", "IP addresses"},
     {"serial number", "serial numbers"},
     {"host name", "host names"},
     {"UUID", "UUIDs"}}};

constexpr std::array<std::string_view, 3> kAddressFiles = {"address", "broadcast", "perm_addr"};
constexpr std::array<std::string_view, 12> kSerialFiles = {
    "product_serial", "board_serial",  "chassis_serial", "product_uuid",
    "serial",         "serial_number", "unique_id",      "board_asset_tag",
    "phys_switch_id", "phys_port_id",  "serial_num",     "chassis_asset_tag"};

/// In /proc/net/tcp6: ::1 and ::, and what stands before an IPv4 address.
constexpr std::array<std::string_view, 2> kLoopback6 = {"00000000000000000000000001000000",
                                                        "00000000000000000000000000000000"};
constexpr std::string_view kMapped6 = "0000000000000000FFFF0000";

constexpr std::string_view kNetlink = "/.netlink/";  // as in rdma_path()
constexpr std::string_view kSockets = "/.netlink/tcp/";

/// Asset tags and serial numbers that name no single machine, so they are kept. All Azure machines
/// have the first one, and the reader knows Azure by it.
constexpr std::array<std::string_view, 11> kCommonTags = {"7783-7084-3265-9085-8269-3286-77",
                                                          "Amazon EC2",
                                                          "OracleCloud.com",
                                                          "ibmcloud",
                                                          "No Asset Tag",
                                                          "Not Specified",
                                                          "Not Available",
                                                          "To Be Filled By O.E.M.",
                                                          "To be filled by O.E.M.",
                                                          "Default string",
                                                          "None"};

/// Names that systemd and rdma-core make of an address: type, 'x', hexadecimal digits.
/// Source: systemd.net-naming-scheme(7), rdma-core kernel-boot/rdma_rename.c (NAME_GUID).
constexpr std::array<std::string_view, 7> kNamePrefixes = {"enx", "ibx",   "wlx", "wwx",
                                                           "iwx", "rocex", "opax"};

class Redactor {
 public:
  explicit Redactor(const AskedPaths& asked)
      : asked_(asked) {}

  /// Takes the original apart, so that both are never there in whole.
  Redacted redact(Snapshot original) {
    Redacted redacted;
    find_host_name(original);
    while (!original.entries.empty()) {
      const auto one = original.entries.extract(original.entries.begin());
      const auto& path = one.key();
      std::string new_path = path;
      change_known_forms(new_path);
      const auto asked = asked_.find(path);
      const auto& name = asked == asked_.end() ? path : asked->second;
      redacted.snapshot.entries.insert_or_assign(std::move(new_path), changed(name, one.mapped()));
    }
    for (std::size_t kind = 0; kind < kKindNames.size(); ++kind) {
      const std::size_t count = originals_[kind].size();
      if (count == 0) continue;
      const auto& [one, many] = kKindNames[kind];
      redacted.replaced.push_back(std::to_string(count) + " " +
                                  std::string(count == 1 ? one : many));
    }
    auto& comments = redacted.snapshot.comments;
    comments = std::move(original.comments);
    for (const std::string& what : redacted.replaced) comments.push_back("redacted: " + what);
    return redacted;
  }

 private:
  SnapshotEntry changed(const std::string& path, const SnapshotEntry& entry) {
    if (const auto* link = std::get_if<SnapshotLink>(&entry)) {
      std::string target = link->target;
      change_known_forms(target);
      return SnapshotLink{std::move(target)};
    }
    const auto* file = std::get_if<SnapshotFile>(&entry);
    if (file == nullptr) return entry;
    const std::string name = host::base_name(path);
    if (path.starts_with("/sys/") && name == "vpd") return SnapshotName{};
    if (path.starts_with("/sys/") && name == "config") return blanked_config(file->content);
    std::string content = file->content;
    if (path.starts_with(kSockets)) return entry;  // inodes and numbers of bytes
    if (path.starts_with(kNetlink)) return SnapshotFile{changed_hex(content)};
    change_content(path, name, content);
    change_known_forms(content);
    change_nccl_guids(content);
    return SnapshotFile{std::move(content)};
  }

  /// Without its serial number; what is no configuration space may hold anything.
  static SnapshotEntry blanked_config(const std::string& content) {
    auto blanked = node::blanked_pci_config(content);
    if (!blanked) return SnapshotName{};
    return SnapshotFile{std::move(*blanked)};
  }

  /// Device names may be made of addresses; all else that identifies was never recorded.
  std::string changed_hex(const std::string& content) {
    auto bytes = bytes_of_hex(trim(content));
    if (!bytes) return "\n";
    change_known_forms(*bytes);
    return hex_of_bytes(*bytes) + "\n";
  }

  void change_content(const std::string& path, const std::string& name, std::string& content) {
    if (name == "port_guid") return change_guid(line_of(content));
    if (contains(kAddressFiles, name) && path.find("/net/") != std::string::npos) {
      return change_address(line_of(content));
    }
    if (contains(kSerialFiles, name)) return change_serial(content, line_of(content));
    change_attributes(node::kNicAttributes, path, content);
    change_attributes(node::kPortAttributes, path, content);
    if (name == "boot_id") return change_boot_id(line_of(content));
    if (name == "kmsg") return change_known_host(content);
    if (name == "hostname") return change_host_name(content, line_of(content));
    if (name == "node_desc") return change_node_description(content);
    if (name == "properties") return change_labelled(content, "unique_id");
    if (name == "cpuinfo") return change_labelled(content, "Serial");
    if (name == "mountstats" || name == "mountinfo" || path == "/etc/fstab" ||
        path.find("/systemd/system/") != std::string::npos) {
      return change_mounts(content);
    }
    if (name == "route")
      return change_columns(content, {1, 2}, [this](auto word) { ipv4_le(word); });
    if (name == "ipv6_route") {
      return change_columns(content, {0, 2, 4}, [this](auto word) { change_gid(word, Kind::ip); });
    }
    if (name == "tcp" || name == "tcp6") {
      return change_columns(content, {1, 2}, [this](auto word) { change_socket(word); });
    }
    if (name == "if_inet6") {
      return change_columns(content, {0}, [this](auto word) { change_gid(word, Kind::ip); });
    }
  }

  void find_host_name(const Snapshot& original) {
    for (const auto& [path, entry] : original.entries) {
      const auto asked = asked_.find(path);
      const auto* file = std::get_if<SnapshotFile>(&entry);
      if (file == nullptr ||
          host::base_name(asked == asked_.end() ? path : asked->second) != "hostname")
        continue;
      host_name_ = trim(file->content);
    }
  }

  /// The name of this machine between other words: it may be made of words that the log has.
  void change_known_host(std::string& content) {
    if (host_name_.size() < 3 || host_name_ == "localhost" || host_name_ == "(none)") return;
    const auto is_inside = [&](std::size_t at) {
      return at < content.size() && (is_letter_or_digit(content[at]) || content[at] == '-');
    };
    for (auto at = content.find(host_name_); at != std::string::npos;
         at = content.find(host_name_, at)) {
      if ((at > 0 && is_inside(at - 1)) || is_inside(at + host_name_.size())) {
        at += host_name_.size();
        continue;
      }
      const auto stand_in = names_.host_name(host_name_);
      if (stand_in == host_name_) return;
      note(Kind::host, host_name_);
      content.replace(at, host_name_.size(), stand_in);
      at += stand_in.size();
    }
  }

  /// Two snapshots of one start have to have the same and those of two others, so it is made of a
  /// hash (FNV-1a) of the 122 random bits, which 48 bits do not give back.
  void change_boot_id(std::span<char> text) {
    constexpr std::string_view kMade = "00000000-0000-4000-8000-";
    constexpr std::size_t kDigits = 12;
    const std::string before = text_of(text);
    if (before.size() != kMade.size() + kDigits) return blank(Kind::other_uuid, text);
    if (before.starts_with(kMade)) return;
    const auto made = std::string(kMade) + to_hex(fnv_1a(before) >> 16U, kDigits);
    std::ranges::copy(made, text.begin());
    note(Kind::other_uuid, before);
  }

  /// Mounts: the server before ":/", addresses among the options, the UUID of a pod in a path.
  void change_mounts(std::string& content) {
    std::string changed;
    std::string word;
    for (const char c : content + "\n") {
      if (std::string_view(" \t\n,=").find(c) == std::string_view::npos) {
        word += c;
        continue;
      }
      changed += changed_mount_word(std::exchange(word, "")) + c;
    }
    changed.pop_back();
    content = std::move(changed);
    constexpr std::size_t kUuidLength = 36;
    for (std::size_t at = 0; at + kUuidLength <= content.size(); ++at) {
      const std::span<char> text(content.data() + at, kUuidLength);
      if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') continue;
      change<16>(Kind::other_uuid, text, [this](auto bytes) { names_.uuid(bytes); });
    }
  }

  std::string changed_mount_word(const std::string& word) {
    const auto end = word.find(":/", word.starts_with('[') ? word.find(']') : 0);
    if (end == std::string::npos) return changed_ip(word).value_or(word);
    const auto server = word.substr(0, end);
    const bool has_brackets = server.starts_with('[') && server.ends_with(']');
    const auto bare = has_brackets ? server.substr(1, server.size() - 2) : server;
    if (const auto address = changed_ip(bare)) {
      return (has_brackets ? "[" + *address + "]" : *address) + word.substr(end);
    }
    const auto name = names_.host_name(server);
    if (name != server) note(Kind::host, server);
    return name + word.substr(end);
  }

  /// Absent for what is no address; "fe80::1%eth0" keeps its interface.
  std::optional<std::string> changed_ip(const std::string& text) {
    if (const auto scope = text.find('%'); scope != std::string::npos && scope > 0) {
      const auto bare = changed_ip(text.substr(0, scope));
      return bare ? std::optional(*bare + text.substr(scope)) : std::nullopt;
    }
    std::array<std::uint8_t, 16> bytes{};
    const int family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
    if (::inet_pton(family, text.c_str(), bytes.data()) != 1) return std::nullopt;
    if (family == AF_INET) {
      names_.ipv4(std::span(bytes).first<4>());
    } else {
      names_.gid_or_ipv6(bytes);
    }
    std::array<char, INET6_ADDRSTRLEN> printed{};
    ::inet_ntop(family, bytes.data(), printed.data(), printed.size());
    if (text != printed.data()) note(Kind::ip, text);
    return printed.data();
  }

  /// A row names a file, or a folder of files.
  template <typename Table>
  void change_attributes(const Table& table, const std::string& path, std::string& content) {
    node::for_each_attribute(table, [&](const auto& row) {
      if (row.identifier == node::Identifier::none) return;
      const auto name = "/" + std::string(row.file) + "/";
      if ((path + "/").find(name) == std::string::npos) return;
      switch (row.identifier) {
        case node::Identifier::none: return;
        case node::Identifier::guid: return change_guid(line_of(content));
        case node::Identifier::gid: return change_gid(line_of(content), Kind::gid);
        case node::Identifier::serial: return change_serial(content, line_of(content));
      }
    });
  }

  /// The first line without white space around it.
  static std::span<char> line_of(std::string& content) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view trimmed = trim(std::string_view(content).substr(0, end));
    if (trimmed.empty()) return {};
    return {content.data() + (trimmed.data() - content.data()), trimmed.size()};
  }

  static std::string text_of(std::span<const char> text) { return {text.data(), text.size()}; }

  /// Applies a change and notes the original if that made a difference.
  template <std::size_t kBytes, typename Change>
  bool change(Kind kind, std::span<char> text, Change apply) {
    const std::string before = text_of(text);
    if (!change_hex<kBytes>(text, apply)) return false;
    if (text_of(text) != before) note(kind, before);
    return true;
  }

  void note(Kind kind, const std::string& original) {
    originals_[static_cast<std::size_t>(kind)].insert(original);
  }

  /// What should be an identifier and is none may still hold one: its digits become zeros, so what
  /// is wrong with it can still be seen.
  void blank(Kind kind, std::span<char> text) {
    const std::string before = text_of(text);
    std::ranges::replace_if(text, is_hex, '0');
    if (text_of(text) != before) note(kind, before);
  }

  void change_guid(std::span<char> text) {
    if (change<8>(Kind::guid, text, [this](auto bytes) { names_.guid(bytes); })) return;
    blank(Kind::guid, text);
  }

  void change_gid(std::span<char> text, Kind kind) {
    if (change<16>(kind, text, [this](auto bytes) { names_.gid_or_ipv6(bytes); })) return;
    blank(kind, text);
  }

  /// A MAC address, or the 20 bytes of IP over InfiniBand: queue pair and GID (RFC 4391 9.1.1).
  void change_address(std::span<char> text) {
    if (change<6>(Kind::mac, text, [this](auto bytes) { names_.mac(bytes); })) return;
    const auto gid = [this](auto bytes) { names_.gid_or_ipv6(bytes.template last<16>()); };
    if (!change<20>(Kind::mac, text, gid)) blank(Kind::mac, text);
  }

  /// "0100007F:1F90" or the same with 32 digits, in words of the machine.
  void change_socket(std::span<char> text) {
    const auto colon = std::ranges::find(text, ':');
    const auto address = text.first(static_cast<std::size_t>(colon - text.begin()));
    if (address.size() == 8) return ipv4_le(address);
    if (address.size() != 32 || contains(kLoopback6, text_of(address))) return;
    if (text_of(address.first(24)) == kMapped6) return ipv4_le(address.last(8));
    change_gid(address, Kind::ip);
  }

  /// As the kernel prints it on little-endian machines: the last byte first.
  void ipv4_le(std::span<char> text) {
    change<4>(Kind::ip, text, [this](auto bytes) {
      std::ranges::reverse(bytes);
      names_.ipv4(bytes);
      std::ranges::reverse(bytes);
    });
  }

  void replace(Kind kind, std::string& content, std::span<char> text, const std::string& with) {
    const std::string before = text_of(text);
    if (before == with) return;
    note(kind, before);
    content.replace(static_cast<std::size_t>(text.data() - content.data()), text.size(), with);
  }

  void change_serial(std::string& content, std::span<char> text) {
    const std::string before = text_of(text);
    if (contains(kCommonTags, before)) return;
    replace(Kind::serial, content, text, names_.serial(before));
  }

  void change_host_name(std::string& content, std::span<char> text) {
    const std::string before = text_of(text);
    if (before.empty() || before == "localhost" || before == "(none)") return;
    replace(Kind::host, content, text, names_.host_name(before));
  }

  /// rdma-ndd writes "<host name> <device>" or "<host name> HCA-<n>" here; anything else is the
  /// firmware's own text.
  void change_node_description(std::string& content) {
    const auto words = split_words(content);
    const bool has_host = words.size() == 2 && (words[1].starts_with("HCA-") ||
                                                words[1].find('_') != std::string_view::npos);
    if (!has_host) return;
    const auto begin = static_cast<std::size_t>(words[0].data() - content.data());
    change_host_name(content, {content.data() + begin, words[0].size()});
  }

  /// guid="0x…" of an NCCL topology file: the number that the eight bytes of the GUID in sysfs
  /// make, least significant byte first, without leading zeros (NCCL src/transport/net_ib/init.cc).
  void change_nccl_guids(std::string& content) {
    constexpr std::string_view kAttribute = " guid=\"0x";
    constexpr std::size_t kDigits = 16;
    for (auto at = content.find(kAttribute); at != std::string::npos;
         at = content.find(kAttribute, at)) {
      at += kAttribute.size();
      std::size_t end = at;
      while (end < content.size() && is_hex(content[end])) ++end;
      if (end == at || end - at > kDigits) continue;
      std::string digits(kDigits - (end - at), '0');
      digits.append(content, at, end - at);
      change<8>(Kind::guid, digits, [this](auto bytes) {
        std::ranges::reverse(bytes);
        names_.guid(bytes);
        std::ranges::reverse(bytes);
      });
      digits.erase(0, std::min(digits.find_first_not_of('0'), kDigits - 1));
      content.replace(at, end - at, digits);
    }
  }

  /// A line "<label> <serial>" or "<label> : <serial>".
  void change_labelled(std::string& content, std::string_view label) {
    for (std::size_t at = 0; at < content.size();) {
      const std::size_t end = std::min(content.find('\n', at), content.size());
      const auto words = split_words(std::string_view(content).substr(at, end - at));
      at = end + 1;
      if (words.size() < 2 || words.front() != label || words.back() == ":") continue;
      const std::size_t begin = static_cast<std::size_t>(words.back().data() - content.data());
      const std::size_t before = content.size();
      change_serial(content, {content.data() + begin, words.back().size()});
      at = at + content.size() - before;
    }
  }

  /// The words of these columns, in every line.
  template <typename Change>
  static void change_columns(std::string& content, std::initializer_list<std::size_t> columns,
                             Change apply) {
    for (const auto line : split(content, '\n')) {
      const auto words = split_words(line);
      for (const std::size_t column : columns) {
        if (column >= words.size()) continue;
        const auto begin = static_cast<std::size_t>(words[column].data() - content.data());
        apply(std::span<char>(content.data() + begin, words[column].size()));
      }
    }
  }

  /// What is known by its form alone, wherever it stands: GPU-<uuid>, MIG-<uuid>, enx<mac>.
  void change_known_forms(std::string& text) {
    constexpr std::size_t kUuidLength = 36;
    for (std::size_t dash = text.find('-'); dash != std::string::npos;
         dash = text.find('-', dash + 1)) {
      const std::string_view before = std::string_view(text).substr(0, dash);
      if (!before.ends_with("GPU") && !before.ends_with("MIG")) continue;
      if (text.size() - dash - 1 < kUuidLength) continue;
      const std::span<char> uuid(text.data() + dash + 1, kUuidLength);
      change<16>(Kind::uuid, uuid, [this](auto bytes) { names_.uuid(bytes); });
    }
    for (std::size_t x = text.find('x'); x != std::string::npos; x = text.find('x', x + 1)) {
      change_name(text, x);
    }
  }

  void change_name(std::string& text, std::size_t x) {
    std::size_t begin = x;
    while (begin > 0 && is_letter_or_digit(text[begin - 1])) --begin;
    std::size_t end = x + 1;
    while (end < text.size() && is_hex(text[end])) ++end;
    if (end < text.size() && is_letter_or_digit(text[end])) return;
    if (!contains(kNamePrefixes, std::string_view(text).substr(begin, x + 1 - begin))) return;
    const std::span<char> digits(text.data() + x + 1, end - x - 1);
    if (change<6>(Kind::mac, digits, [this](auto bytes) { names_.mac(bytes); })) return;
    change<8>(Kind::guid, digits, [this](auto bytes) { names_.guid(bytes); });
  }

  const AskedPaths& asked_;
  std::string host_name_;  ///< of this machine; "": not known
  Pseudonyms names_;
  std::array<std::set<std::string>, kKindNames.size()> originals_;
};

}  // namespace

Redacted redact(Snapshot snapshot, const AskedPaths& asked) {
  return Redactor(asked).redact(std::move(snapshot));
}

}  // namespace railhead::snapshot
