// SPDX-License-Identifier: Apache-2.0
#include "proof/wrapped_line.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "proof/line_text.h"
#include "proof/nccl_line.h"
#include "proof/nccl_message.h"
#include "proof/nccl_networks.h"
#include "proof/transport_line.h"

namespace railhead::proof {
namespace {

/// What a collector puts in front of each line is not longer, and has not more words.
constexpr std::size_t kMaxFrontOfNext = 200;
constexpr std::size_t kMaxFrontWords = 24;
/// Any words may stand in the brackets of UCX's: a part of them is short.
constexpr std::size_t kMaxPartWords = 8;
/// A choice that breaks off earlier may be another message: "Using non-device net plugin".
constexpr std::size_t kLeastChoice = 8;

constexpr std::array<std::string_view, 4> kChoiceTexts = {
    "Using network ", "Using internal Network ", "Assigned NET plugin ", "Initialized NET plugin "};
constexpr std::array<std::string_view, 3> kConnections = {"Channel ", "Ring ", "CollNet "};

bool take_start(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

bool take_connection(std::string_view& message) {
  return std::any_of(kConnections.begin(), kConnections.end(),
                     [&](std::string_view start) { return take_start(message, start); });
}

/// A proper beginning of the text, or all of it but the blank at its end.
bool is_beginning_of(std::string_view text, std::string_view part, std::size_t least) {
  return part.size() >= least && part.size() < text.size() && text.starts_with(part);
}

bool is_begun_choice(std::string_view message) {
  return std::any_of(kChoiceTexts.begin(), kChoiceTexts.end(), [&](std::string_view text) {
    return is_beginning_of(text, message, kLeastChoice);
  });
}

/// Nothing but channels, ranks and the direction: what stands in a connection before its route.
bool are_ends(std::string_view text) {
  for (const auto word : split_words(text)) {
    const bool is_direction = std::string_view("[send]").starts_with(word) ||
                              std::string_view("[receive]").starts_with(word) ||
                              std::string_view("via").starts_with(word);
    const bool is_rank = word.find_first_not_of("0123456789abcdef[]<->:/.") == word.npos;
    if (!is_direction && !is_rank) return false;
  }
  return true;
}

bool leads_to_another_node(std::string_view ends) {
  return ends.find(" [s") != std::string_view::npos || ends.find(" [r") != std::string_view::npos;
}

/// The route of a connection, "" where the message breaks off before it. Absent where the message
/// is none, or where it breaks off before it leads anywhere.
std::optional<std::string_view> begun_route(std::string_view message) {
  if (!take_connection(message)) return std::nullopt;
  const auto via = message.find(" via");
  if (via == std::string_view::npos) {
    return are_ends(message) && leads_to_another_node(message) ? std::optional(std::string_view())
                                                               : std::nullopt;
  }
  if (!are_ends(message.substr(0, via))) return std::nullopt;
  return trim(message.substr(via + 4));
}

/// Within a route that leads somewhere: "NET/", "NET/I", "NET/IB/0/GD", "P2P".
bool is_begun_route(std::string_view route) {
  for (const std::string_view start :
       {"NET/", "COLLNET/", "P2P/", "SHM/", "direct shared memory"}) {
    if (is_beginning_of(start, route, 0) || route == start) return true;
  }
  return take_start(route, "NET/") && is_other_than_tcp(route);
}

bool is_settled(std::string_view message) {
  if (const auto network = nccl_chosen_network(message)) {
    const bool is_tcp = !network_over_tcp(*network).empty() && network->find(' ') == network->npos;
    return is_tcp || carrier_of_network(*network, "efa") == Carrier::rdma;
  }
  const auto channel = nccl_channel(message);
  if (!channel) return nccl_local_channel(message).has_value();
  return carrier_of_network(channel->network, "efa") != Carrier::unknown;
}

/// The endpoint of UCX's that a line begins to describe: "inter-node cfg#1 am(rc_mlx5/mlx5_0:1".
bool is_begun_endpoint(std::string_view line) {
  auto at = line.find("inter-node cfg#");
  if (at == std::string_view::npos) at = line.find("ep_cfg[");
  if (at == std::string_view::npos || line.find("UCX ") > at) return false;
  const auto text = line.substr(at);
  if (text.find('|') != std::string_view::npos) return false;  // the head of a table
  const auto open = text.rfind('(');
  return open == std::string_view::npos || text.find(')', open) == std::string_view::npos;
}

bool is_whole(std::string_view line) {
  const auto records = nccl_records(line);
  if (!records.empty()) return is_settled(records.back().message);
  if (ucx_endpoint(line)) return !is_begun_endpoint(line);
  return chosen_transport(line).has_value() && !transport_breaks_off(line);
}

/// All of the line is of a message that breaks off again.
bool goes_on(std::string_view line) {
  const auto records = nccl_records(line);
  if (records.empty()) return transport_breaks_off(line);
  const auto& message = records.back().message;
  return trim(line).ends_with(message) && nccl_breaks_off(message);
}

std::optional<std::string> whole_of(std::string_view line, std::string_view next) {
  const std::string begin(trim(line));
  const std::string end(trim(next));
  for (auto& text : {std::string(line) + std::string(next), begin + end, begin + " " + end}) {
    if (is_whole(text)) return text;
  }
  return std::nullopt;
}

/// A narrow terminal has more than two pieces of a line.
std::optional<std::string> longer_part_of(std::string_view line, std::string_view next) {
  auto text = std::string(line) + std::string(next);
  const bool is_part = split_words(next).size() < kMaxPartWords && goes_on(text);
  return is_part ? std::optional(std::move(text)) : std::nullopt;
}

bool is_plain(std::string_view word) {
  return word.size() > 1 && std::all_of(word.begin(), word.end(), is_letter);
}

/// Before a route stand ranks and a direction, in a sentence a word: "it goes via NET/Socket/0".
bool is_in_sentence(std::string_view before) {
  auto words = split_words(before);
  if (!words.empty() && std::string_view("via").ends_with(words.back())) words.pop_back();
  return !words.empty() && is_plain(words.back());
}

/// "NET/Socket/0 = TCP, slow" explains: behind a route of a log stands RCCL's communicator, Ray's
/// bracket, the end of a text.
bool is_explained(std::string_view behind) {
  const auto end = behind.find_first_not_of("0123456789()/");
  if (end == std::string_view::npos || (behind[end] != ' ' && behind[end] != '\t')) return false;
  const auto text = trim(behind.substr(end));
  return !text.empty() && !text.starts_with("comm ") &&
         std::string_view("[\"'\\}").find(text.front()) == std::string_view::npos;
}

/// Before a choice stands what collectors put there, and what is left of the message's beginning;
/// three other words are a sentence.
bool is_quoted_choice(std::string_view before) {
  static constexpr std::array<std::string_view, 9> kOwn = {
      "NCCL", "INFO", "Using", "Assigned", "Initialized", "NET", "plugin", "stdout", "stderr"};
  const auto words = split_words(before);
  return std::count_if(words.begin(), words.end(), [](std::string_view word) {
           return is_plain(word) &&
                  std::none_of(kOwn.begin(), kOwn.end(),
                               [&](std::string_view own) { return own.ends_with(word); });
         }) >= 3;
}

constexpr std::array<std::string_view, 4> kOverTcp = {"NET/FastSocket", "NET/Socket", "NET/FasTrak",
                                                      "NET/GPUDirectTCPX"};

/// "ket/0", "ctTCPX_v7/3": the end of a route over TCP, as a line begins whose start is elsewhere.
bool is_end_of_route(std::string_view word) {
  const auto slash = word.rfind('/', word.find_first_of(kDecimalDigits, word.find('/')));
  if (slash == std::string_view::npos || slash < 2 || slash + 1 == word.size()) return false;
  auto name = word.substr(0, slash);
  if (const auto version = name.find("_v"); version != name.npos) name = name.substr(0, version);
  return is_digit(word[slash + 1]) && name.size() > 1 &&
         std::any_of(kOverTcp.begin(), kOverTcp.end(),
                     [&](std::string_view known) { return known.ends_with(name); });
}

bool has_end_of_route(std::string_view line) {
  if (line.find('/') == std::string_view::npos) return false;
  for (const auto word : split_words(line.substr(0, kMaxFrontOfNext))) {
    const auto at = static_cast<std::size_t>(word.data() - line.data());
    if (is_end_of_route(word.substr(word.find_last_of("\":>") + 1)) &&
        (at == 0 || may_stand_before_message(line.substr(0, at)))) {
      return true;
    }
  }
  return false;
}

/// "twork" before the name of a network, "to comm" or nothing behind it: all that is left of a
/// choice.
bool is_end_of_choice(std::string_view before, std::string_view behind) {
  if (!trim(behind).empty() && !behind.starts_with(" to comm")) return false;
  const auto words = split_words(before);
  if (!words.empty() && (std::string_view("network").ends_with(words.back()) ||
                         std::string_view("plugin").ends_with(words.back()))) {
    before = before.substr(0, static_cast<std::size_t>(words.back().data() - before.data()));
  }
  return trim(before).empty() || may_stand_before_message(before);
}

/// "[send] via NET/Fa", "[send] via N" at the end of a line.
bool has_begun_route(std::string_view line) {
  constexpr std::string_view kVia = "via NET/";
  // Nothing of the name may be there, nor all that stands before it.
  const auto words = split_words(line);
  const bool is_direction =
      words.size() > 2 && words[words.size() - 2] == "via" &&
      std::string_view("NET/").starts_with(words.back()) &&
      (words[words.size() - 3].ends_with("send]") || words[words.size() - 3].ends_with("receive]"));
  const auto at = line.rfind(kVia);
  return is_direction || (at != std::string_view::npos &&
                          !network_over_tcp(line.substr(at + kVia.size())).empty() &&
                          !is_in_sentence(line.substr(0, at)));
}

/// "/Socket/0", "via NET/FasTrak": a route over TCP that lacks its beginning.
bool has_route(std::string_view line) {
  return std::any_of(kOverTcp.begin(), kOverTcp.end(), [&](std::string_view known) {
    const auto at = line.find(known.substr(4));
    if (at == std::string_view::npos) return false;
    const auto before = line.substr(0, at);
    const auto name = network_over_tcp(line.substr(at));
    const auto behind = line.substr(std::min(at + name.size(), line.size()));
    const bool has_device = behind.size() > 1 && behind[0] == '/' && is_digit(behind[1]);
    const bool is_via = before.ends_with("via NET/");
    if (is_end_of_choice(before, behind)) return true;
    if (!has_device && !is_via) return false;
    const auto blank = before.find_last_of(" \t");
    const auto words = blank == std::string_view::npos ? "" : before.substr(0, blank);
    return !is_in_sentence(words) && (is_via || !is_explained(behind));
  });
}

/// "etwork Socket", "plugin FasTrak to comm": a choice of TCP that lacks its beginning.
bool has_choice(std::string_view line) {
  static constexpr std::array<std::string_view, 2> kBeginnings = {"etwork ", "lugin "};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
    const auto at = line.find(beginning);
    if (at == std::string_view::npos || is_quoted_choice(line.substr(0, at))) return false;
    const auto rest = line.substr(at + beginning.size());
    const auto name = network_over_tcp(rest);
    if (name.empty()) return false;
    const auto behind = rest.substr(std::min(name.size(), rest.size()));
    const bool is_assigned = trim(behind).empty() || behind.starts_with(" to");
    return is_assigned || (beginning == kBeginnings[0] && !is_explained(behind));
  });
}

}  // namespace

bool nccl_is_route(std::string_view text) {
  return text.starts_with("NET/") && text.find(':') == std::string_view::npos &&
         (text.find('/', 4) != std::string_view::npos || !network_over_tcp(text.substr(4)).empty());
}

bool nccl_breaks_off(std::string_view message) {
  if (is_begun_choice(message)) return true;
  auto rest = message;
  if (!take_connection(rest) || rest.empty()) return false;
  const auto via = rest.find(" via ");
  if (via == std::string_view::npos) {
    // "Channel 00/08 : 0 1 2 3" is an order of ranks.
    const bool is_order =
        rest.find('[') == rest.npos && rest.find("->") == rest.npos && split_words(rest).size() > 3;
    return !is_order && are_ends(rest);
  }
  return are_ends(rest.substr(0, via)) && !is_settled(message) &&
         is_begun_route(trim(rest.substr(via + 5)));
}

bool nccl_may_hide_tcp(std::string_view message) {
  if (is_begun_choice(message)) return true;
  auto route = begun_route(message);
  if (!route || nccl_channel(message)) return false;
  if (is_beginning_of("NET/", *route, 0) || *route == "NET/") return true;
  return take_start(*route, "NET/") && !is_other_than_tcp(*route);
}

bool transport_breaks_off(std::string_view line) {
  return is_begun_endpoint(line) || !begun_choice(line).empty();
}

bool transport_may_hide_tcp(std::string_view line) {
  const auto network = begun_choice(line);
  if (network == "TCP" || !is_begun_endpoint(line)) return network == "TCP";
  const auto endpoint = ucx_endpoint(line);
  const bool is_known =
      endpoint && (endpoint->is_local ||
                   std::any_of(endpoint->lanes.begin(), endpoint->lanes.end(),
                               [](const UcxLane& lane) { return lane.transport == "tcp"; }));
  return !is_known;
}

std::optional<std::string> join_wrapped(std::string_view line, std::string_view next) {
  if (trim(next).empty()) return std::nullopt;
  for (const auto join : {whole_of, longer_part_of}) {
    std::size_t at = 0;
    for (std::size_t words = 0; words < kMaxFrontWords && at < kMaxFrontOfNext; ++words) {
      if (at == 0 || may_stand_before_message(next.substr(0, at))) {
        if (auto text = join(line, next.substr(at))) return text;
      }
      at = next.find_first_of(" \t\"|:]", at);
      if (at == std::string_view::npos) break;
      ++at;
    }
  }
  return std::nullopt;
}

bool has_piece_of_tcp(std::string_view line) {
  return has_route(line) || has_begun_route(line) || has_choice(line) || has_end_of_route(line);
}

}  // namespace railhead::proof
