// SPDX-License-Identifier: Apache-2.0
#include "bench/lane.h"

#include "base/text.h"
#include "bench/fields.h"
#include "bench/plan.h"

namespace railhead::bench {
std::string gid_text(const GidBytes& gid) {
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < gid.size(); i += 2) {
    groups.push_back(to_hex(gid[i], 2) + to_hex(gid[i + 1], 2));
  }
  return join(groups, ":");
}

Result<GidBytes> parse_gid(std::string_view text) {
  GidBytes gid{};
  const auto groups = split(text, ':');
  if (groups.size() != gid.size() / 2) {
    return Error{ErrorCode::malformed, "GID " + in_quotes(text) + " has not eight groups"};
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto number = TRY(parse_hex(groups[i]));
    if (number > 0xffff) return Error{ErrorCode::malformed, "GID " + in_quotes(text)};
    gid[2 * i] = static_cast<std::uint8_t>(number >> 8);
    gid[2 * i + 1] = static_cast<std::uint8_t>(number);
  }
  return gid;
}

Result<bool> needs_global_header(const LaneAddress& ours, const LaneAddress& theirs) {
  if (!ours.needs_gid && !theirs.needs_gid) return false;
  if (ours.gid && theirs.gid) return true;
  return Error{ErrorCode::usage, "one side is reached by a GID only, and " +
                                     std::string(ours.gid ? "the other" : "this one") +
                                     " has none"};
}

data::Json to_json(const LaneAddress& address) {
  data::Json json = {{"lid", address.lid},
                     {"mtu", address.mtu_bytes},
                     {"key", address.key},
                     {"address", address.address},
                     {"length", address.length}};
  if (address.gid) json[address.needs_gid ? "gid" : "spareGid"] = gid_text(*address.gid);
  json["pairs"] = data::json_list(address.pairs, [](const LaneAddress::Pair& pair) {
    return data::Json{{"number", pair.number}, {"psn", pair.sequence_number}};
  });
  return json;
}

Result<LaneAddress> parse_lane_address(const data::Value& value) {
  constexpr std::uint64_t kMax24 = 0xffffff;
  LaneAddress address;
  address.lid = TRY(number_field<std::uint16_t>(value, "lid", 0xffff));
  address.mtu_bytes = TRY(number_field<unsigned>(value, "mtu", 4096));
  address.key = TRY(number_field<std::uint32_t>(value, "key", 0xffffffff));
  address.address = TRY(number_field(value, "address", ~std::uint64_t{0}));
  address.length = TRY(number_field(value, "length", kMaxLaneBytes));
  const auto gid = TRY(optional_text_field(value, "gid"));
  const auto spare = TRY(optional_text_field(value, "spareGid"));
  address.needs_gid = gid.has_value();
  if (gid || spare) address.gid = TRY(parse_gid(gid ? *gid : *spare));
  const auto* pairs = TRY(list_field(value, "pairs", kMaxQueuePairs));
  for (const auto& item : pairs->items) {
    LaneAddress::Pair pair;
    pair.number = TRY(number_field<std::uint32_t>(item, "number", kMax24));
    pair.sequence_number = TRY(number_field<std::uint32_t>(item, "psn", kMax24));
    address.pairs.push_back(pair);
  }
  return address;
}

}  // namespace railhead::bench
