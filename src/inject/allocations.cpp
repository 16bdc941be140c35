// SPDX-License-Identifier: Apache-2.0
#include "inject/allocations.h"

#include <algorithm>

#include "base/sort_unique.h"
#include "base/text.h"
#include "inject/codes.h"
#include "inject/copied_annotations.h"

namespace railhead::inject {
namespace {

constexpr std::string_view kPrefix = "allocation.railhead.io/";
constexpr std::size_t kMaxIds = 4096;

void append(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// The RDMA devices of a member that goes by this id, none where the pool is not about RDMA;
/// absent: none does.
std::optional<std::vector<std::size_t>> nics_of_member(const pools::PoolTable& table,
                                                       const pools::Pool& pool,
                                                       std::string_view id) {
  const auto at = std::find_if(
      pool.members.begin(), pool.members.end(),
      [&](const pools::Member& member) { return table.functions[member.function].id == id; });
  if (at == pool.members.end()) return std::nullopt;
  if (!pool.spec.include[at->selector].rdma) return std::vector<std::size_t>();
  return table.functions[at->function].nics;
}

void add_shared(const pools::PoolTable& table, const pools::Pool& pool, std::string_view ids,
                container::Allocations& out) {
  std::vector<std::size_t> all;
  for (const pools::Member& member : pool.members)
    append(all, table.functions[member.function].nics);
  append(out.admitted, all);
  if (!pool.spec.slots_per_nic) return append(out.slots, all);
  for (const auto id : split(ids, ',')) {
    if (const auto nics = nics_of_member(table, pool, id)) append(out.slots, *nics);
  }
}

void add_exclusive(const pools::PoolTable& table, const pools::Pool& pool, std::string_view ids,
                   container::Allocations& out) {
  std::size_t left = kMaxIds;
  for (const auto id : split(ids, ',')) {
    if (left-- == 0) break;
    if (const auto nics = nics_of_member(table, pool, id)) {
      append(out.exclusive, *nics);
    } else {
      out.gone.emplace_back(id);
    }
  }
}

}  // namespace

std::string allocation_key(std::string_view resource) {
  return std::string(kPrefix) + std::string(resource);
}

container::Allocations allocations_of(const container::Request& request,
                                      const DecisionTable& table) {
  container::Allocations out;
  CopiedAnnotations copied(request, kPrefix);
  const auto& pools = table.pools().pools;
  for (const auto& [key, value] : request.annotations) {
    if (!key.starts_with(kPrefix)) continue;
    if (copied.stands_on_pod(key)) {
      add_copied_remark(key, out.remarks);
      continue;
    }
    const auto name = key.substr(kPrefix.size());
    const auto at = std::find_if(pools.begin(), pools.end(),
                                 [&](const pools::Pool& pool) { return pool.spec.name == name; });
    if (at == pools.end()) {
      out.remarks.add(warn::kAllocationUnknown,
                      in_quotes(name, 128) + " is no resource that this node offers: ignored");
      continue;
    }
    out.pools.push_back(static_cast<std::size_t>(at - pools.begin()));
    out.devices.insert(out.devices.end(), at->spec.devices.begin(), at->spec.devices.end());
    if (at->spec.mode == pools::PoolMode::exclusive) {
      add_exclusive(table.pools(), *at, value, out);
    } else {
      add_shared(table.pools(), *at, value, out);
    }
  }
  sort_unique(out.pools);
  sort_unique(out.exclusive);
  sort_unique(out.admitted);
  sort_unique(out.slots);
  sort_unique(out.devices);
  return out;
}

}  // namespace railhead::inject
