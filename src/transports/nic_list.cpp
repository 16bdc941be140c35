// SPDX-License-Identifier: Apache-2.0
#include "transports/nic_list.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/text.h"

namespace railhead::transports {
namespace {

constexpr std::size_t kNcclEntries = 32;
constexpr std::size_t kNcclNameBytes = 63;
constexpr std::size_t kUcxEntries = 128;
constexpr std::size_t kWrittenOut = 32;  ///< entries of a list that is shown to people
constexpr std::size_t kNvshmemEntries = 48;
constexpr std::size_t kNvshmemProcesses = 32;

bool take_front(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// The piece before the next separator, which goes with it.
std::string_view take_until(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  const auto piece = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return piece;
}

/// As atoi() of C: what begins with no digit is 0.
int leading_number(std::string_view text) {
  return static_cast<int>(std::strtol(std::string(text.substr(0, 16)).c_str(), nullptr, 10));
}

constexpr int kAnyPort = -1;

/// name[:port[:…]] of NCCL and NVSHMEM. An entry without a name is none. An empty port is
/// `empty_port`: any in NCCL's newest releases, 0 in older ones and in NVSHMEM, which no port has.
std::vector<NicListEntry> named_ports(std::string_view list, std::size_t most, int empty_port) {
  std::vector<NicListEntry> entries;
  while (!list.empty() && entries.size() < most) {
    NicListEntry entry;
    entry.text = take_until(list, ',');
    auto rest = entry.text;
    entry.name = take_until(rest, ':');
    if (entry.name.empty()) continue;
    if (entry.name.size() < entry.text.size()) {
      const auto text = take_until(rest, ':');
      const int port = text.empty() ? empty_port : leading_number(text);
      if (port != kAnyPort) entry.port = port;
    }
    entries.push_back(entry);
  }
  return entries;
}

/// "mlx5_[0-3]:1": a pair of brackets around two numbers.
void read_range(NicListEntry& entry) {
  const auto open = entry.text.find('[');
  const auto close = entry.text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
  auto numbers = entry.text.substr(open + 1, close - open - 1);
  const auto first = parse_unsigned(take_until(numbers, '-'));
  const auto last = parse_unsigned(numbers);
  if (!first || !last) return;
  entry.means = NicListEntry::Means::range;
  entry.name = entry.text.substr(0, open);
  entry.first = *first;
  entry.last = *last;
  entry.suffix = entry.text.substr(close + 1);
}

/// Whether a name or "name:port" is the entry's, letter for letter.
bool is_device(const NicListEntry& entry, std::string_view device) {
  if (entry.means != NicListEntry::Means::range) return entry.text == device;
  if (!device.starts_with(entry.name)) return false;
  device.remove_prefix(entry.name.size());
  if (!device.ends_with(entry.suffix)) return false;
  device.remove_suffix(entry.suffix.size());
  const auto number = parse_unsigned(device);
  return number && *number >= entry.first && *number <= entry.last &&
         (device.size() == 1 || device.front() != '0');
}

bool has_port_in_text(const NicListEntry& entry) {
  using enum NicListEntry::Means;
  return entry.means == device || entry.means == port_of || entry.means == range;
}

std::string with_port(std::string_view nic, unsigned port) {
  return std::string(nic) + ":" + std::to_string(port);
}

}  // namespace

bool NicListEntry::names(std::string_view nic) const {
  if (means == Means::beginning) return nic.starts_with(name);
  if (means == Means::name) return nic == name;
  if (means != Means::port_of && is_device(*this, nic)) return true;
  constexpr unsigned kPorts = 255;  // InfiniBand numbers them in one byte
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const auto number = parse_unsigned(text.substr(colon + 1));
  return number && *number <= kPorts &&
         is_device(*this, with_port(nic, static_cast<unsigned>(*number)));
}

bool NicListEntry::names(std::string_view nic, unsigned of_port) const {
  if (has_port_in_text(*this)) {
    return (means != Means::port_of && is_device(*this, nic)) ||
           is_device(*this, with_port(nic, of_port));
  }
  return names(nic) && (!port || *port == static_cast<int>(of_port));
}

bool NicList::takes(std::string_view nic, unsigned port) const {
  if (takes_all) return true;
  const bool found =
      std::ranges::any_of(entries, [&](const NicListEntry& one) { return one.names(nic, port); });
  return found != excludes;
}

NicList nccl_list(std::string_view value) {
  NicList list;
  list.excludes = take_front(value, '^');
  const bool exact = take_front(value, '=');
  list.entries = named_ports(value, kNcclEntries, kAnyPort);
  for (NicListEntry& entry : list.entries) {
    entry.name = entry.name.substr(0, kNcclNameBytes);
    if (!exact) entry.means = NicListEntry::Means::beginning;
  }
  if (list.entries.empty()) {
    list.takes_all = !list.excludes;
    list.excludes = false;
  }
  return list;
}

NicList ucx_list(std::string_view value, UcxRelease release) {
  using enum NicListEntry::Means;
  const bool is_old = release == UcxRelease::before_1_21;
  NicList list;
  list.excludes = !is_old && take_front(value, '^');
  while (!value.empty() && list.entries.size() < kUcxEntries) {
    NicListEntry entry{.means = is_old ? port_of : device, .text = take_until(value, ',')};
    if (entry.text.empty()) continue;
    if (entry.text == "all") return {{}, false, true};
    if (release == UcxRelease::since_1_22) read_range(entry);
    list.entries.push_back(entry);
  }
  list.takes_all = list.entries.empty();
  return list;
}

std::optional<UcxNewSyntax> ucx_new_syntax(std::string_view value,
                                           const std::function<bool(std::string_view)>& is_nic) {
  const auto newest = ucx_list(value, UcxRelease::since_1_22);
  if (newest.excludes) return UcxNewSyntax{.since = "1.21", .entry = value};
  std::optional<UcxNewSyntax> found;
  std::vector<std::string> written;
  for (const auto& entry : newest.entries) {
    const bool is_range = entry.means == NicListEntry::Means::range;
    const bool has_port = entry.text.find(':') != std::string_view::npos;
    const bool is_new = is_range || (!has_port && is_nic(entry.text));
    if (is_new && !found) {
      found = UcxNewSyntax{.since = is_range ? "1.22" : "1.21", .entry = entry.text};
    }
    const auto port = has_port ? "" : ":1";
    if (!is_range) written.push_back(std::string(entry.text) + (is_new ? port : ""));
    for (auto i = entry.first; is_range && i <= entry.last && written.size() <= kWrittenOut; ++i) {
      written.push_back(std::string(entry.name) + std::to_string(i) + std::string(entry.suffix) +
                        port);
    }
  }
  if (found && written.size() <= kWrittenOut) found->for_all = join(written, ",");
  return found;
}

NicList nvshmem_list(std::string_view value) {
  NicList list;
  list.excludes = take_front(value, '^');
  list.entries = named_ports(value, kNvshmemEntries, 0);
  list.takes_all = list.entries.empty();
  return list;
}

NicList nvshmem_mapping(std::string_view value) {
  NicList list;
  take_front(value, '^');
  list.entries = named_ports(value, kNvshmemProcesses, 0);
  list.takes_all = list.entries.empty();
  return list;
}

}  // namespace railhead::transports
