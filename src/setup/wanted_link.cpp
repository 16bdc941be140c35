// SPDX-License-Identifier: Apache-2.0
#include "setup/wanted_link.h"

#include <algorithm>

#include "base/text.h"
#include "host/dcb_netlink.h"
#include "host/ethtool_netlink.h"
#include "setup/link_control.h"

namespace railhead::setup {
namespace {

using data::Value;

Status check_map(const Value& value, std::string_view key) {
  if (value.kind == Value::Kind::map) return {};
  return data::malformed_at(value.mark, std::string(key) + " is no map");
}

Result<unsigned> number_below(const Value& value, unsigned end) {
  const auto number = TRY(value.as_unsigned());
  if (number < end) return static_cast<unsigned>(number);
  return data::malformed_at(value.mark, "is not 0 to " + std::to_string(end - 1));
}

Result<std::uint8_t> priorities_in(const Value& value) {
  if (value.kind != Value::Kind::list)
    return data::malformed_at(value.mark, "no list of priorities, such as [3]");
  unsigned bits = 0;
  for (const auto& item : value.items) {
    const auto priority = TRY(number_below(item, host::kPriorities));
    bits |= 1U << priority;
  }
  return static_cast<std::uint8_t>(bits);
}

/// `rings`, `coalesce` and `pause`: numbers and switches in the words of ethtool(8).
Status read_numbers(const std::string& part, const Value& value, LinkWish& wish) {
  TRY_STATUS(check_map(value, part));
  std::size_t taken = 0;
  for (const auto& field : host::ethtool_fields()) {
    const auto dot = field.name.find('.');
    if (field.name.substr(0, dot) != part) continue;
    const auto* found = value.find(field.name.substr(dot + 1));
    if (found == nullptr) continue;
    ++taken;
    if (field.is_switch) {
      const bool is_on = TRY(found->as_bool());
      wish.settings.emplace_back(field.name, is_on ? "on" : "off");
    } else {
      const auto number = TRY(number_below(*found, 1U << 24U));
      wish.settings.emplace_back(field.name, std::to_string(number));
    }
  }
  if (taken == value.entries.size()) return {};
  for (const auto& entry : value.entries) {
    if (host::find_ethtool_field(part + "." + entry.key) == nullptr)
      return data::malformed_at(entry.mark, part + " has no key " + in_quotes(entry.key));
  }
  return {};
}

Status read_pfc(const std::string& key, const Value& value, LinkWish& wish) {
  const auto bits = TRY(priorities_in(value));
  wish.settings.emplace_back(key, host::priorities_text(bits));
  return {};
}

/// The lists of dcb-ets(8), each of eight.
Status read_ets(const std::string& key, const Value& value, LinkWish& wish) {
  TRY_STATUS(check_map(value, key));
  std::string text;
  for (const std::string list : {"prio-tc", "tc-tsa", "tc-bw"}) {
    const auto* found = value.find(list);
    if (found == nullptr) return data::malformed_at(value.mark, "ets has no " + list);
    const auto words = TRY(found->as_strings());
    text += (text.empty() ? "" : " ") + list + " " + join(words, ",");
  }
  if (value.entries.size() != 3)
    return data::malformed_at(value.mark, "ets has other keys than prio-tc, tc-tsa and tc-bw");
  const auto ets = parse_ets(text);
  if (!ets) return data::malformed_at(value.mark, ets.error().message);
  const auto status = check_bandwidth(*ets);
  if (!status) return data::malformed_at(value.mark, status.error().message);
  wish.settings.emplace_back(key, ets_text(*ets));
  return {};
}

/// DSCPs and the priority of each, as `dcb app add dscp-prio 26:3` has them.
Status read_dscp(const std::string& key, const Value& value, LinkWish& wish) {
  TRY_STATUS(check_map(value, key));
  for (const auto& [name, mark, entry] : value.entries) {
    const auto dscp = parse_unsigned(name);
    if (!dscp || *dscp >= host::kDscps || name != std::to_string(*dscp))
      return data::malformed_at(mark, in_quotes(name) + " is no DSCP, 0 to 63");
    const auto priority = TRY(number_below(entry, host::kPriorities));
    wish.settings.emplace_back("dscp." + std::to_string(*dscp), std::to_string(priority));
  }
  return {};
}

Status read_ecn(const std::string& /*key*/, const Value& value, LinkWish& wish) {
  wish.ecn = TRY(priorities_in(value));
  return {};
}

Status read_tos(const std::string& /*key*/, const Value& value, LinkWish& wish) {
  wish.tos = TRY(number_below(value, 256));
  return {};
}

struct LinkKey {
  std::string_view name;
  Status (*read)(const std::string& key, const Value& value, LinkWish& wish);
};

/// In the order in which they are set. Queues first, then what goes into them.
constexpr LinkKey kLinkKeys[] = {
    {"rings", read_numbers}, {"coalesce", read_numbers}, {"pause", read_numbers}, {"ets", read_ets},
    {"pfc", read_pfc},       {"dscp", read_dscp},        {"ecn", read_ecn},       {"tos", read_tos},
};

}  // namespace

Result<LinkWish> read_link_wish(const Value& value) {
  TRY_STATUS(check_map(value, "a netdev"));
  for (const auto& entry : value.entries) {
    const bool is_known =
        std::ranges::any_of(kLinkKeys, [&](const auto& key) { return key.name == entry.key; });
    if (!is_known) return data::malformed_at(entry.mark, "there is no key " + in_quotes(entry.key));
  }
  LinkWish wish;
  for (const auto& key : kLinkKeys) {
    const auto* found = value.find(key.name);
    if (found == nullptr) continue;
    const auto status = key.read(std::string(key.name), *found, wish);
    if (!status) return status.error().context(std::string(key.name));
  }
  return wish;
}

}  // namespace railhead::setup
