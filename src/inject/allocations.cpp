// SPDX-License-Identifier: Apache-2.0
#include "inject/allocations.h"

#include <algorithm>

#include "base/sort_unique.h"
#include "base/text.h"
#include "inject/codes.h"

namespace railhead::inject {
namespace {

constexpr std::string_view kPrefix = "allocation.railhead.io/";
constexpr std::size_t kMaxIds = 4096;

void append(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Adds the RDMA devices of the members that go by these ids to `nics`: none of a member that is
/// not handed out for RDMA. The members, as indices.
std::vector<std::size_t> add_members(const pools::PoolTable& table, const pools::Pool& pool,
                                     std::string_view ids, std::vector<std::size_t>& nics,
                                     container::Allocations& out) {
  std::vector<std::size_t> members;
  std::size_t left = kMaxIds;
  for (const auto id : split(ids, ',')) {
    if (left-- == 0) break;
    const auto at = std::find_if(
        pool.members.begin(), pool.members.end(),
        [&](const pools::Member& member) { return table.functions[member.function].id == id; });
    if (at == pool.members.end()) {
      out.gone.emplace_back(id);
      continue;
    }
    members.push_back(static_cast<std::size_t>(at - pool.members.begin()));
    if (!pool.spec.include[at->selector].rdma) continue;
    out.rdma = true;
    append(nics, table.functions[at->function].nics);
  }
  return members;
}

void add_shared(const pools::PoolTable& table, const pools::Pool& pool, std::string_view ids,
                container::Allocations& out) {
  out.rdma = true;
  container::SharedAllocation held;
  for (const pools::Member& member : pool.members)
    append(held.pool, table.functions[member.function].nics);
  sort_unique(held.pool);
  held.narrow = pool.spec.narrow;
  if (pool.spec.slots_per_nic) {
    add_members(table, pool, ids, held.slots, out);
    sort_unique(held.slots);
  } else {
    held.slots = held.pool;
  }
  out.shared.push_back(std::move(held));
}

/// A key that a pod's author can write has one slash: its name is looked up in no pool.
std::vector<pools::Pool>::const_iterator pool_of(std::string_view name,
                                                 const std::vector<pools::Pool>& pools) {
  if (name.find('/') == std::string_view::npos) return pools.end();
  return std::find_if(pools.begin(), pools.end(),
                      [&](const pools::Pool& pool) { return pool.spec.name == name; });
}

/// Asked of keys that are a pool's, so of few.
bool stands_on_pod(const container::Request& request, std::string_view key) {
  return std::any_of(request.pod_annotations.begin(), request.pod_annotations.end(),
                     [&](const auto& entry) { return entry.first == key; });
}

}  // namespace

std::string allocation_key(std::string_view resource) {
  return std::string(kPrefix) + std::string(resource);
}

container::Allocations allocations_of(const container::Request& request,
                                      const DecisionTable& table) {
  container::Allocations out;
  const auto& pools = table.pools().pools;
  for (const auto& [key, value] : request.annotations) {
    if (!key.starts_with(kPrefix)) continue;
    const auto name = key.substr(kPrefix.size());
    const auto at = pool_of(name, pools);
    if (at == pools.end()) {
      out.remarks.add(warn::kAllocationUnknown,
                      in_quotes(name, 128) + " is no resource that this node offers: ignored");
      continue;
    }
    if (stands_on_pod(request, key)) {
      out.copied = key;
      continue;
    }
    out.pools.push_back(static_cast<std::size_t>(at - pools.begin()));
    out.devices.insert(out.devices.end(), at->spec.devices.begin(), at->spec.devices.end());
    if (at->spec.mode == pools::PoolMode::exclusive) {
      out.functions.push_back(
          {out.pools.back(), add_members(table.pools(), *at, value, out.exclusive, out)});
    } else {
      add_shared(table.pools(), *at, value, out);
    }
  }
  sort_unique(out.pools);
  sort_unique(out.exclusive);
  sort_unique(out.devices);
  return out;
}

}  // namespace railhead::inject
