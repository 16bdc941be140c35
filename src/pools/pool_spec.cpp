// SPDX-License-Identifier: Apache-2.0
#include "pools/pool_spec.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace railhead::pools {
namespace {

/// Go's strconv.Atoi, with which the SR-IOV plugin reads a number, takes one.
std::string_view without_plus(std::string_view number) {
  return number.substr(number.starts_with('+') ? 1 : 0);
}

}  // namespace

std::string_view to_string(PoolMode mode) {
  return mode == PoolMode::shared ? "shared" : "exclusive";
}

std::string_view to_string(PoolHealth health) {
  return health == PoolHealth::link ? "link" : "device";
}

std::string_view to_string(PoolPreference preference) {
  return preference == PoolPreference::spread ? "spread" : "pack";
}

std::string_view to_string(PoolFlavour flavour) {
  switch (flavour) {
    case PoolFlavour::railhead: return "railhead";
    case PoolFlavour::shared_plugin: return "k8s-rdma-shared-dev-plugin";
    case PoolFlavour::sriov_plugin: return "sriov-network-device-plugin";
    case PoolFlavour::k8s_rdma_device_plugin: return "k8s-rdma-device-plugin";
  }
  return "unknown";
}

std::string_view to_string(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::physical: return "pf";
    case FunctionKind::virtual_: return "vf";
    case FunctionKind::scalable: return "sf";
    case FunctionKind::soft: return "soft";
  }
  return "unknown";
}

Result<FunctionRange> FunctionRange::parse(std::string_view text) {
  std::optional<Error> wrong;
  auto range = parse_what_can_be_read(text, [&](const Error& error, std::string_view) {
    if (!wrong) wrong = error;
  });
  if (wrong) return *std::move(wrong);
  return range;
}

Result<FunctionRange> FunctionRange::parse_what_can_be_read(std::string_view text,
                                                            const Warn& warn) {
  const auto malformed = [&](const std::string& why) {
    return Error{ErrorCode::malformed, in_quotes(text) + ": " + why};
  };
  const auto hash = text.find('#');
  FunctionRange range{std::string(text.substr(0, hash)), {}};
  if (range.parent.empty()) return malformed("names no physical function");
  if (hash == std::string_view::npos) return range;
  std::vector<std::pair<Error, std::string_view>> wrong;
  for (const auto part : split(text.substr(hash + 1), ',')) {
    const auto dash = part.find('-');
    const auto first = parse_unsigned(without_plus(part.substr(0, dash)));
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_unsigned(without_plus(part.substr(dash + 1)));
    if (!first || !last || *first > 0xffffffffU || *last > 0xffffffffU) {
      wrong.emplace_back(
          malformed(in_quotes(part) + " is neither a number nor a range such as 2-7"),
          "only what stands before it counts");
      break;
    }
    if (*last < *first) {
      wrong.emplace_back(malformed(in_quotes(part) + " ends before it begins"),
                         "it is passed over");
      continue;
    }
    if (part.find('+') != std::string_view::npos) {
      wrong.emplace_back(malformed(in_quotes(part) + " has a sign"), "it counts without");
    }
    range.ranges.emplace_back(static_cast<unsigned>(*first), static_cast<unsigned>(*last));
  }
  if (range.ranges.empty()) return wrong.front().first;
  for (const auto& [error, consequence] : wrong) warn(error, consequence);
  return range;
}

bool FunctionRange::covers(unsigned index) const {
  return ranges.empty() || std::ranges::any_of(ranges, [&](const auto& range) {
           return range.first <= index && index <= range.second;
         });
}

bool is_same_pool(PoolSpec a, const PoolSpec& b) {
  a.origin.where = b.origin.where;
  return a == b;
}

PoolSpec default_pool() {
  PoolSpec spec;
  spec.name = "rdma.io/hca";
  spec.slots = 100;
  spec.kinds = {FunctionKind::physical, FunctionKind::virtual_, FunctionKind::scalable,
                FunctionKind::soft};
  spec.include = {{{{Fact::role, "roles", {"compute"}, Match::exact, {}}}, true, false}};
  return spec;
}

}  // namespace railhead::pools
