// SPDX-License-Identifier: Apache-2.0
#include "features/features.h"

#include <algorithm>

#include "affinity/capability.h"
#include "base/text.h"
#include "features/gpu_direct.h"
#include "host/clock.h"

namespace railhead::features {
namespace {

constexpr std::string_view kUnknown = "unknown";
constexpr std::string_view kMixed = "mixed";
constexpr std::string_view kDomain = "railhead.io/";
constexpr std::string_view kWriter = "# writer: ";
constexpr std::string_view kRails = "# rails: ";
constexpr std::string_view kNone = "none";
constexpr std::size_t kMaxValueBytes = 63;

bool is_below_rdma(const node::Problem& problem) {
  return problem.path.starts_with("/sys/class/infiniband");
}

std::string_view capable_of_rdma(const node::Node& node) {
  if (std::ranges::any_of(node.nics,
                          [](const node::Nic& nic) { return nic.registered || nic.elsewhere; })) {
    return "true";
  }
  const bool is_blind = std::ranges::any_of(node.problems, is_below_rdma);
  return is_blind ? kUnknown : "false";
}

/// What all of them have in common; "unknown" where one is not known, and where there is none.
std::string common(const std::vector<std::string>& values) {
  if (values.empty()) return std::string(kUnknown);
  for (const auto& one : values) {
    if (one == kUnknown) return one;
  }
  const bool is_one =
      std::ranges::all_of(values, [&](const auto& one) { return one == values[0]; });
  return is_one ? values[0] : std::string(kMixed);
}

std::string rate_of(const affinity::Capability& capability) {
  return capability.gbps == 0 ? std::string(kUnknown) : std::to_string(capability.gbps);
}

std::string layer_of(const affinity::Capability& capability) {
  return capability.link_layer == node::LinkLayer::unknown
             ? std::string(kUnknown)
             : std::string(to_string(capability.link_layer));
}

/// The subnet prefix of an InfiniBand port that is up: the upper half of its first GID. The one
/// that comes from the factory (0xfe80::/64) tells no subnet from another. Source: InfiniBand
/// Architecture Specification, volume 1, 4.1.1.
std::string fabric_of(const node::Port& port) {
  constexpr std::string_view kFactory = "fe80000000000000";
  constexpr std::size_t kPrefixDigits = kFactory.size();
  if (port.link_layer != node::LinkLayer::infiniband || port.state != node::PortState::active ||
      port.gids.empty() || port.gids[0].index != 0) {
    return std::string(kUnknown);
  }
  std::string digits;
  for (const char c : port.gids[0].value) {
    if (c != ':') digits += c;
  }
  digits = to_lower(digits.substr(0, kPrefixDigits));
  return digits.size() < kPrefixDigits || digits == kFactory ? std::string(kUnknown)
                                                             : "ib-" + digits;
}

/// Of those whose fabric is known; a port that is down says nothing.
std::string fabric_of(const node::Node& node, const std::vector<std::size_t>& nics) {
  std::vector<std::string> known;
  for (const auto n : nics) {
    for (const auto& port : node.nics[n].ports) {
      auto fabric = fabric_of(port);
      if (fabric != kUnknown) known.push_back(std::move(fabric));
    }
  }
  return common(known);
}

/// Of the RDMA devices. A function without one, because its driver is not bound, has none.
std::string names_of(const node::Node& node, const std::vector<std::size_t>& nics) {
  std::vector<std::string> names;
  for (const auto n : nics) {
    const auto& nic = node.nics[n];
    if (!nic.pci || nic.name != nic.pci->str()) names.push_back(nic.name);
  }
  return names.empty() ? std::string(kNone) : join(names, ".");
}

/// How many virtual functions the firmware allows.
std::string functions_of(const node::Node& node, const node::Nic& nic) {
  const auto* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  if (function == nullptr) return std::string(kUnknown);
  return std::to_string(function->sriov_totalvfs.value_or(0));
}

class List {
 public:
  void add(const std::string& key, std::string_view value) {
    features_.push_back({std::string(kDomain) + key, label_value(value)});
  }

  std::vector<Feature> take() { return std::move(features_); }

 private:
  std::vector<Feature> features_;
};

void add_rails(const node::Node& node, const affinity::Deal& deal, const Rails& rails, List& list) {
  const auto& cards = deal.cards;
  std::vector<std::string> rates;
  std::vector<std::string> layers;
  std::vector<std::string> functions;
  std::vector<std::size_t> all;
  for (const auto& card : cards) {
    const auto capability = affinity::capability_of(node, node.nics[card.front()]);
    rates.push_back(rate_of(capability));
    layers.push_back(layer_of(capability));
    functions.push_back(functions_of(node, node.nics[card.front()]));
    all.insert(all.end(), card.begin(), card.end());
  }
  list.add("rdma.rate-gbps", common(rates));
  list.add("rdma.link-layer", common(layers));
  list.add("rdma.total-vfs", common(functions));
  list.add("fabric", fabric_of(node, all));
  list.add("rails", std::to_string(cards.size()));
  if (cards.size() > kMostRails) return;
  for (std::size_t card = 0; card < cards.size(); ++card) {
    const auto key = "rail-" + std::to_string(rail_number(rails, node, deal, card));
    list.add(key + ".nic", names_of(node, cards[card]));
    list.add(key + ".fabric", fabric_of(node, cards[card]));
  }
}

/// What stands behind these words in the first line that begins with them.
std::optional<std::string_view> line_after(std::string_view file, std::string_view words) {
  for (const auto line : split(file, '\n')) {
    if (line.starts_with(words)) return line.substr(words.size());
  }
  return std::nullopt;
}

}  // namespace

std::vector<Feature> features_of(const node::Node& node, const topology::Topology& topology,
                                 const affinity::Deal& deal, const system::System& system,
                                 const Rails& rails) {
  List list;
  list.add("rdma.capable", capable_of_rdma(node));
  list.add("gpudirect.route", to_string(gpu_direct_route(node, system)));
  list.add("machine", topology.machine.empty() ? kUnknown : std::string_view(topology.machine));
  if (!deal.cards.empty()) add_rails(node, deal, rails, list);
  return list.take();
}

std::string label_value(std::string_view text) {
  std::string value;
  for (const char c : text) {
    const bool is_allowed = is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
    if (is_allowed) {
      value += c;
    } else if (!value.empty() && value.back() != '-') {
      value += '-';
    }
    if (value.size() == kMaxValueBytes) break;
  }
  while (!value.empty() && !is_letter_or_digit(value.back())) value.pop_back();
  value.erase(value.begin(), std::ranges::find_if(value, is_letter_or_digit));
  return value.empty() ? std::string(kUnknown) : value;
}

std::string to_feature_file(const std::vector<Feature>& features, const FileHead& head) {
  std::string text = "# RDMA features of this node, by railhead, for node-feature-discovery.\n";
  if (!head.writer.empty()) text.append(kWriter).append(head.writer).append("\n");
  if (!head.boot_id.empty() && !head.rails.empty()) {
    text.append(kRails).append(head.boot_id).append(" ").append(to_text(head.rails)).append("\n");
  }
  if (head.expiry) {
    text.append("# +expiry-time=").append(host::utc_text(*head.expiry)).append("\n");
  }
  for (const auto& [key, value] : features) text.append(key).append("=").append(value).append("\n");
  return text;
}

bool is_written_by(std::string_view file, std::string_view writer) {
  return line_after(file, kWriter) == writer;
}

Rails rails_in(std::string_view file, std::string_view boot_id) {
  const auto line = line_after(file, kRails).value_or("");
  const auto blank = std::min(line.find(' '), line.size());
  if (boot_id.empty() || line.substr(0, blank) != boot_id) return {};
  return parse_rails(line.substr(blank));
}

}  // namespace railhead::features
