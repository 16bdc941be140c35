// SPDX-License-Identifier: Apache-2.0
#include "agent/pool_resource.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "pools/prefer.h"

namespace railhead {

PoolResource::PoolResource(std::size_t pool, HandOut hand_out, Gate gate, Machine& machine,
                           Clock& clock, Log& log, MetricRegistry& metrics)
    : pool_(pool),
      hand_out_(hand_out),
      gate_(std::move(gate)),
      machine_(machine),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      name_(machine.table()->pools().pools[pool].spec.name) {}

std::vector<kubelet::Device> PoolResource::devices() {
  const auto table = machine_.table();
  const auto& pools = table->pools();
  auto list = ledger_.update(pools.pools[pool_], pools.functions, clock_.now());
  const auto healthy =
      std::count_if(list.begin(), list.end(), [](const auto& d) { return d.healthy; });
  const auto unhealthy = static_cast<std::ptrdiff_t>(list.size()) - healthy;
  metrics_.set("railhead_pool_devices", static_cast<double>(healthy),
               {{"pool", name_}, {"state", "healthy"}});
  metrics_.set("railhead_pool_devices", static_cast<double>(unhealthy),
               {{"pool", name_}, {"state", "unhealthy"}});
  return list;
}

std::vector<std::string> PoolResource::prefer(const kubelet::Preference& preference) {
  const auto table = machine_.table();
  const auto& pools = table->pools();
  return railhead::prefer(devices_of(pools.pools[pool_], pools.functions),
                          {preference.available, preference.must_include, preference.size});
}

Result<kubelet::Grant> PoolResource::allocate(const std::vector<std::string>& ids) {
  const auto table = machine_.table();
  auto grant = grant_of(*table, pool_, ids, hand_out_);
  count(grant ? "granted" : "refused");
  if (grant) {
    log_.write(LogLevel::info, "allocated", {{"pool", name_}, {"devices", join(ids, ",")}});
  } else {
    log_.write(LogLevel::warn, "allocation refused",
               {{"pool", name_}, {"devices", join(ids, ",")}, {"why", grant.error().message}});
  }
  return grant;
}

Status PoolResource::may_start(const std::vector<std::string>& ids) {
  if (hand_out_ == HandOut::nri) TRY_STATUS(gate_());
  TRY(members_held(*machine_.table(), pool_, ids));
  return {};
}

Status PoolResource::pre_start(const std::vector<std::string>& ids) {
  auto may = may_start(ids);
  if (may) return may;
  count("start-refused");
  log_.write(LogLevel::warn, "start refused",
             {{"pool", name_}, {"devices", join(ids, ",")}, {"why", may.error().message}});
  return may;
}

void PoolResource::count(const char* outcome) {
  metrics_.add("railhead_allocations_total", {{"pool", name_}, {"outcome", outcome}});
}

}  // namespace railhead
