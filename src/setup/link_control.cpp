// SPDX-License-Identifier: Apache-2.0
#include "setup/link_control.h"

#include <array>

#include "base/find.h"
#include "base/text.h"
#include "host/ethtool_netlink.h"
#include "host/vf_netlink.h"

namespace railhead::setup {
namespace {

constexpr std::string_view kDscp = "dscp.";
constexpr std::uint8_t kStrict = 0;
constexpr std::uint8_t kEts = 2;

/// How a class is served, by its number in struct ieee_ets; others stay numbers.
std::string tsa_text(std::uint8_t tsa) {
  return tsa == kStrict ? "strict" : tsa == kEts ? "ets" : std::to_string(tsa);
}

struct Subject {
  std::string netdev;
  std::string name;
};

Subject subject_of(const std::string& text) {
  const auto slash = text.find('/');
  return {text.substr(0, slash), slash == std::string::npos ? "" : text.substr(slash + 1)};
}

Error no_value(const std::string& what, std::string_view value) {
  return {ErrorCode::malformed, in_quotes(std::string(value)) + " is no value of " + what};
}

Result<unsigned> small_number(std::string_view text, unsigned most) {
  const auto number = parse_unsigned(text);
  if (number && *number <= most) return static_cast<unsigned>(*number);
  return Error{ErrorCode::malformed,
               in_quotes(std::string(text)) + " is not 0 to " + std::to_string(most)};
}

Result<unsigned> dscp_of(const std::string& name) {
  if (!name.starts_with(kDscp))
    return Error{ErrorCode::malformed, "there is no setting " + in_quotes(name)};
  return small_number(std::string_view(name).substr(kDscp.size()), host::kDscps - 1);
}

std::string list_text(const std::array<std::uint8_t, host::kPriorities>& numbers,
                      std::string (*text)(std::uint8_t)) {
  std::vector<std::string> words;
  for (const auto number : numbers) words.push_back(text(number));
  return join(words, ",");
}

std::string number_text(std::uint8_t number) {
  return std::to_string(number);
}

Result<std::uint8_t> tsa_of(std::string_view word) {
  if (word == "strict") return kStrict;
  if (word == "ets") return kEts;
  return static_cast<std::uint8_t>(TRY(small_number(word, 255)));
}

Status read_list(std::string_view text, Result<std::uint8_t> (*parse)(std::string_view),
                 std::array<std::uint8_t, host::kPriorities>& into) {
  const auto words = split(text, ',');
  if (words.size() != into.size())
    return Error{ErrorCode::malformed, in_quotes(std::string(text)) + " is not eight of them"};
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = TRY(parse(words[i]));
  return {};
}

Result<std::uint8_t> class_of(std::string_view word) {
  return static_cast<std::uint8_t>(TRY(small_number(word, host::kPriorities - 1)));
}

Result<std::uint8_t> percent_of(std::string_view word) {
  return static_cast<std::uint8_t>(TRY(small_number(word, 100)));
}

std::optional<std::string> text_in(const host::DcbSettings& dcb, const std::string& name) {
  if (name == "pfc") return dcb.pfc ? std::optional(host::priorities_text(*dcb.pfc)) : std::nullopt;
  if (name == "ets") return dcb.ets ? std::optional(ets_text(*dcb.ets)) : std::nullopt;
  const auto dscp = dscp_of(name);
  if (!dcb.dscp || !dscp) return std::nullopt;
  const auto found = dcb.dscp->find(*dscp);
  return host::priorities_text(found == dcb.dscp->end() ? 0 : found->second);
}

std::optional<std::string> text_in(const host::EthtoolNumbers& numbers,
                                   const host::EthtoolField& field) {
  const auto found = numbers.find(field.attribute);
  if (found == numbers.end()) return std::nullopt;
  if (field.is_switch) return found->second != 0 ? "on" : "off";
  return std::to_string(found->second);
}

Result<std::uint32_t> number_of(const host::EthtoolField& field, const std::string& value) {
  if (field.is_switch && (value == "on" || value == "off")) return value == "on" ? 1U : 0U;
  const auto number = parse_unsigned(value);
  if (field.is_switch || !number || *number > 0xffffffffU)
    return no_value(std::string(field.name), value);
  return static_cast<std::uint32_t>(*number);
}

/// The numbers of one part; none where the driver has nothing of it.
Result<host::EthtoolNumbers> numbers_of(host::Host& host, const std::string& netdev,
                                        const host::EthtoolField& field) {
  const auto answer = TRY(host.link_settings(netdev, field.part));
  if (!answer) return host::EthtoolNumbers();
  return host::parse_ethtool(*answer);
}

Result<host::DcbSettings> dcb_of(host::Host& host, const std::string& netdev) {
  const auto answer = TRY(host.link_settings(netdev, host::LinkPart::dcb));
  if (!answer) return host::DcbSettings();
  return host::parse_dcb(*answer);
}

/// "vf.3.trust" is 3. Absent: it is not of a virtual function.
std::optional<std::uint32_t> function_of(const std::string& name) {
  constexpr std::string_view kBefore = "vf.";
  constexpr std::string_view kAfter = ".trust";
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) return std::nullopt;
  const auto number = parse_unsigned(
      std::string_view(name).substr(kBefore.size(), name.size() - kBefore.size() - kAfter.size()));
  if (!number || *number > 0xffff) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

Result<std::optional<std::string>> read_trust(host::Host& host, const std::string& netdev,
                                              std::uint32_t function) {
  const auto answer = TRY(host.link_settings(netdev, host::LinkPart::vfs));
  if (!answer) return std::optional<std::string>();
  const auto vfs = TRY(host::parse_vf_settings(*answer));
  const auto* found = find_where(vfs, [&](const auto& vf) { return vf.number == function; });
  if (found == nullptr || !found->trusted) return std::optional<std::string>();
  return std::optional<std::string>(*found->trusted ? "on" : "off");
}

}  // namespace

std::string link_subject(const std::string& netdev, const std::string& name) {
  return netdev + "/" + name;
}

bool is_link_setting(const std::string& name) {
  return host::find_ethtool_field(name) != nullptr || function_of(name) || name == "pfc" ||
         name == "ets" || dscp_of(name);
}

Result<std::optional<std::string>> read_link(host::Host& host, const std::string& subject) {
  const auto [netdev, name] = subject_of(subject);
  if (const auto* field = host::find_ethtool_field(name)) {
    const auto numbers = TRY(numbers_of(host, netdev, *field));
    return text_in(numbers, *field);
  }
  if (const auto function = function_of(name)) return read_trust(host, netdev, *function);
  const auto dcb = TRY(dcb_of(host, netdev));
  return text_in(dcb, name);
}

std::optional<std::uint32_t> most_of_link(host::Host& host, const std::string& subject) {
  const auto [netdev, name] = subject_of(subject);
  if (name == "pfc") {
    const auto dcb = dcb_of(host, netdev);
    return dcb && dcb->pfc_most.value_or(0) != 0 ? dcb->pfc_most : std::nullopt;
  }
  const auto* field = host::find_ethtool_field(name);
  if (field == nullptr || field->limit == 0) return std::nullopt;
  const auto numbers = numbers_of(host, netdev, *field);
  if (!numbers) return std::nullopt;
  const auto found = numbers->find(field->limit);
  return found == numbers->end() ? std::nullopt : std::optional(found->second);
}

Status write_link(const std::string& subject, const std::string& value) {
  const auto [netdev, name] = subject_of(subject);
  if (const auto* field = host::find_ethtool_field(name)) {
    const auto number = TRY(number_of(*field, value));
    return host::set_ethtool(netdev, *field, number);
  }
  if (const auto function = function_of(name)) {
    if (value != "on" && value != "off") return no_value(subject, value);
    return host::set_vf_trust(netdev, *function, value == "on");
  }
  if (name == "ets") {
    const auto ets = TRY(parse_ets(value));
    return host::set_ets(netdev, ets);
  }
  const auto priorities = TRY(parse_priorities(value));
  if (name == "pfc") return host::set_pfc(netdev, priorities);
  const auto dscp = TRY(dscp_of(name));
  return host::set_dscp(netdev, dscp, priorities);
}

Risk risk_of_link(std::string_view name) {
  return name.starts_with("coalesce.") || name.starts_with("vf.") ? Risk::live : Risk::restart;
}

Result<std::uint8_t> parse_priorities(std::string_view text) {
  unsigned bits = 0;
  if (text == "none") return static_cast<std::uint8_t>(bits);
  for (const auto word : split(text, ',')) {
    const auto priority = TRY(class_of(word));
    bits |= 1U << priority;
  }
  return static_cast<std::uint8_t>(bits);
}

std::string ets_text(const host::Ets& ets) {
  return "prio-tc " + list_text(ets.priority_to_class, number_text) + " tc-tsa " +
         list_text(ets.tsa, tsa_text) + " tc-bw " + list_text(ets.bandwidth, number_text);
}

Status check_bandwidth(const host::Ets& ets) {
  unsigned sum = 0;
  bool has_ets = false;
  for (std::size_t i = 0; i < ets.tsa.size(); ++i) {
    has_ets = has_ets || ets.tsa[i] == kEts;
    sum += ets.bandwidth[i];
    if (ets.tsa[i] == kStrict && ets.bandwidth[i] != 0)
      return Error{ErrorCode::malformed, "a strict class has no bandwidth of its own"};
  }
  if (!has_ets || sum == 100) return {};
  return Error{ErrorCode::malformed,
               "the bandwidths add up to " + std::to_string(sum) + ", not 100"};
}

Result<host::Ets> parse_ets(std::string_view text) {
  const auto words = split_words(text);
  if (words.size() != 6 || words[0] != "prio-tc" || words[2] != "tc-tsa" || words[4] != "tc-bw")
    return no_value("ets", text);
  host::Ets ets;
  TRY_STATUS(read_list(words[1], class_of, ets.priority_to_class));
  TRY_STATUS(read_list(words[3], tsa_of, ets.tsa));
  TRY_STATUS(read_list(words[5], percent_of, ets.bandwidth));
  return ets;
}

}  // namespace railhead::setup
