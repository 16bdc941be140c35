// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/contains.h"
#include "base/find.h"
#include "pools/judge.h"
#include "pools/member_readiness.h"
#include "pools/pools.h"

namespace railhead::pools {
namespace {

std::string label(const PoolSpec& spec) {
  return spec.name + (spec.origin.where.empty() ? "" : " (" + spec.origin.where + ")");
}

/// DPDK's drivers for user space, whose nodes are /dev/uio<n>. Source: DPDK doc/guides/linux_gsg/
/// linux_drivers.rst; Linux drivers/uio/uio_pci_generic.c.
bool is_uio(const std::string& driver) {
  return driver == "igb_uio" || driver == "uio_pci_generic";
}

/// The first of some functions by name: "0000:11:00.2 and 3 more".
std::string some_of(const std::vector<std::string>& ids) {
  return ids.front() + (ids.size() == 1 ? "" : " and " + std::to_string(ids.size() - 1) + " more");
}

std::vector<std::string> remarks_on(const Pool& pool, const std::vector<NetFunction>& functions,
                                    const node::Node& node) {
  std::vector<std::string> uio;
  bool rdma = false;
  for (const auto& member : pool.members) {
    const auto& function = functions[member.function];
    const auto* device = function.pci ? node.find_pci(*function.pci) : nullptr;
    // A machine of which no node is known, such as an NCCL topology file, lacks none.
    rdma = rdma || (pool.spec.include[member.selector].rdma &&
                    std::ranges::any_of(function.nics, [&](std::size_t nic) {
                      return !node.nics[nic].uverbs.empty();
                    }));
    if (device != nullptr && device->driver && is_uio(*device->driver)) uio.push_back(function.id);
  }
  std::vector<std::string> remarks;
  if (!uio.empty()) {
    remarks.push_back(some_of(uio) +
                      ": a uio driver holds it, and no /dev/uio<n> is handed out; bind vfio-pci");
  }
  if (rdma && !node.rdma_cm) {
    remarks.emplace_back(
        "this node has no /dev/infiniband/rdma_cm, so what connects by addresses (rdma_cm) fails; "
        "load the module rdma_ucm");
  }
  return remarks;
}

class PoolMaker {
 public:
  PoolMaker(const std::vector<PoolSpec>& specs, const node::Node& node,
            const std::vector<NicStatus>& statuses, PoolTable& table)
      : table_(table),
        node_(node),
        judge_(node, table.functions, statuses),
        readiness_(node, table.functions, statuses) {
    table_.exclusive.resize(table_.functions.size());
    for (const auto& spec : specs) table_.pools.push_back({spec, {}, {}});
  }

  void make() {
    for (std::size_t p = 0; p < table_.pools.size(); ++p) {
      if (table_.pools[p].spec.mode == PoolMode::exclusive) fill(p);
    }
    for (std::size_t p = 0; p < table_.pools.size(); ++p) {
      if (table_.pools[p].spec.mode == PoolMode::shared) fill(p);
    }
    for (auto& pool : table_.pools) pool.remarks = remarks_on(pool, table_.functions, node_);
  }

 private:
  void fill(std::size_t p) {
    Pool& pool = table_.pools[p];
    for (std::size_t f = 0; f < table_.functions.size(); ++f) {
      const auto selector = judge_.selector_for(pool.spec, table_.functions[f]);
      if (!selector) continue;
      if (table_.exclusive[f]) {
        note_conflict(table_.pools[*table_.exclusive[f]].spec, pool.spec, f);
        continue;
      }
      pool.members.push_back(member(pool.spec, f, *selector));
      if (pool.spec.mode == PoolMode::exclusive) table_.exclusive[f] = p;
    }
  }

  void note_conflict(const PoolSpec& holder, const PoolSpec& wants, std::size_t f) {
    const bool theirs = holder.origin.flavour == PoolFlavour::sriov_plugin &&
                        wants.origin.flavour == PoolFlavour::sriov_plugin;
    if (wants.mode == PoolMode::shared || theirs) return;
    table_.conflicts.push_back(table_.functions[f].id + " is wanted by the exclusive pools " +
                               label(holder) + " and " + label(wants));
  }

  [[nodiscard]] Member member(const PoolSpec& spec, std::size_t f, std::size_t selector) const {
    Member member{f, selector, MemberState::ready, ""};
    member.reason = readiness_.trouble_of(spec, spec.include[selector], table_.functions[f]);
    if (!member.reason.empty()) member.state = MemberState::not_ready;
    return member;
  }

  PoolTable& table_;
  const node::Node& node_;
  Judge judge_;
  MemberReadiness readiness_;
};

std::string reason_against(const PoolTable& table, const Judge& judge, std::size_t pool,
                           std::size_t function) {
  const auto& owner = table.exclusive[function];
  auto reason = judge.why_not(table.pools[pool].spec, table.functions[function]);
  if (!reason.empty() || !owner || *owner == pool) return reason;
  return "is in the exclusive pool " + table.pools[*owner].spec.name;
}

}  // namespace

std::optional<std::size_t> PoolTable::find(std::string_view name) const {
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (pools[p].spec.name == name) return p;
  }
  return std::nullopt;
}

std::optional<std::size_t> PoolTable::function_of(std::size_t nic) const {
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const auto& nics = functions[f].nics;
    if (contains(nics, nic)) return f;
  }
  return std::nullopt;
}

std::optional<std::size_t> PoolTable::find_function(std::string_view id) const {
  const auto at = first_with(id);
  if (at == by_id.end() || functions[*at].id != id) return std::nullopt;
  return *at;
}

std::optional<std::size_t> PoolTable::find_member(const Pool& pool, std::string_view id) const {
  for (auto at = first_with(id); at != by_id.end() && functions[*at].id == id; ++at) {
    const auto* member = find_sorted(pool.members, &Member::function, *at);
    if (member != nullptr) return static_cast<std::size_t>(member - pool.members.data());
  }
  return std::nullopt;
}

std::vector<std::size_t>::const_iterator PoolTable::first_with(std::string_view id) const {
  return std::ranges::lower_bound(by_id, id, {}, [&](std::size_t function) {
    return std::string_view(functions[function].id);
  });
}

PoolTable make_pools(const std::vector<PoolSpec>& specs, const node::Node& node,
                     const std::vector<NicStatus>& statuses) {
  PoolTable table;
  table.functions = functions_of(node);
  table.by_id.resize(table.functions.size());
  std::iota(table.by_id.begin(), table.by_id.end(), 0U);
  std::ranges::stable_sort(table.by_id, [&](std::size_t a, std::size_t b) {
    return table.functions[a].id < table.functions[b].id;
  });
  PoolMaker(specs, node, statuses, table).make();
  return table;
}

std::vector<std::string> why_not(const PoolTable& table, const node::Node& node,
                                 const std::vector<NicStatus>& statuses, std::size_t pool) {
  const Judge judge(node, table.functions, statuses);
  std::vector<std::string> reasons;
  for (std::size_t f = 0; f < table.functions.size(); ++f) {
    reasons.push_back(reason_against(table, judge, pool, f));
  }
  return reasons;
}

bool may_matter(const PoolTable& table, const NetFunction& function) {
  return !function.nics.empty() || std::ranges::any_of(table.pools, [](const Pool& pool) {
    return std::ranges::any_of(pool.spec.include, [](const auto& one) { return !one.rdma; });
  });
}

bool is_useless(const PoolTable& table, const node::Node& node,
                const std::vector<NicStatus>& statuses, std::size_t pool) {
  const auto& members = table.pools[pool].members;
  if (!members.empty()) {
    return std::ranges::all_of(
        members, [](const Member& member) { return member.state == MemberState::not_ready; });
  }
  const Judge judge(node, table.functions, statuses);
  for (std::size_t f = 0; f < table.functions.size(); ++f) {
    if (!table.exclusive[f] && judge.lacks_driver(table.pools[pool].spec, table.functions[f]))
      return true;
  }
  return false;
}

std::string why_not(const PoolTable& table, const node::Node& node,
                    const std::vector<NicStatus>& statuses, std::size_t pool,
                    std::size_t function) {
  return reason_against(table, Judge(node, table.functions, statuses), pool, function);
}

}  // namespace railhead::pools
