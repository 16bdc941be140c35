// SPDX-License-Identifier: Apache-2.0
#include "agent/pool_resource.h"

#include <utility>

#include "allocation/grant.h"
#include "base/text.h"
#include "pools/prefer.h"

namespace railhead::agent {

PoolResource::PoolResource(Context context, std::string name, config::HandOut hand_out, Links links)
    : context_(context),
      name_(std::move(name)),
      hand_out_(hand_out),
      links_(links) {
  context_.metrics.allocations.begin(label::Pool(name_));
}

Result<std::size_t> PoolResource::pool_in(const inject::DecisionTable& table) const {
  const auto pool = table.pools().find(name_);
  if (pool) return *pool;
  return Error{ErrorCode::unavailable, "this node's configuration has no pool " + name_};
}

std::vector<kubelet::Device> PoolResource::devices() {
  const auto table = links_.tables.latest();
  const auto& pools = table->pools();
  const auto pool = pools.find(name_);
  const auto* spec = pool ? &pools.pools[*pool].spec : nullptr;
  // A slot that is no longer configured will not come back by itself.
  if (spec == nullptr || !spec_ || !railhead::pools::is_same_pool(*spec_, *spec)) ledger_.forget();
  spec_ = spec != nullptr ? std::optional(*spec) : std::nullopt;
  std::vector<kubelet::Device> list;
  if (pool) list = ledger_.update(pools.pools[*pool], pools.functions, context_.clock.now());
  publish(pool ? ledger_.counts() : DeviceCounts());
  return list;
}

std::vector<std::string> PoolResource::prefer(const kubelet::Preference& preference) {
  const auto table = links_.tables.latest();
  const auto& pools = table->pools();
  const auto pool = pools.find(name_);
  if (!pool) return {};
  const auto how = pools.pools[*pool].spec.prefer;
  return railhead::pools::prefer(
      pools.pools[*pool], pools.functions,
      {preference.available, preference.must_include, preference.size, how});
}

Result<kubelet::Grant> PoolResource::grant(const std::vector<std::string>& ids) {
  const auto table = links_.tables.latest();
  const auto pool = TRY(pool_in(*table));
  auto grant = TRY(allocation::grant_of(*table, pool, ids, hand_out_));
  const auto members = TRY(allocation::members_held(*table, pool, ids));
  TRY_STATUS(links_.files.provide(*table, pool, members));
  return grant;
}

Result<kubelet::Grant> PoolResource::allocate(const std::vector<std::string>& ids) {
  auto given = grant(ids);
  if (given) {
    count("granted");
    context_.log.write(config::LogLevel::info, "allocated",
                       {{"pool", name_}, {"devices", join(ids, ",")}});
  } else {
    count("refused");
    context_.log.write(
        config::LogLevel::warn, "allocation refused",
        {{"pool", name_}, {"devices", join(ids, ",")}, {"why", given.error().message}});
  }
  return given;
}

Status PoolResource::may_start(const std::vector<std::string>& ids) {
  if (hand_out_ == config::HandOut::nri) TRY_STATUS(links_.runtime.may_start(context_.clock.now()));
  const auto table = links_.tables.latest();
  const auto pool = TRY(pool_in(*table));
  TRY(allocation::grant_of(*table, pool, ids, hand_out_));  // as it would be allocated now
  return {};
}

Status PoolResource::pre_start(const std::vector<std::string>& ids) {
  auto may = may_start(ids);
  if (may) return may;
  count("start-refused");
  context_.log.write(config::LogLevel::warn, "start refused",
                     {{"pool", name_}, {"devices", join(ids, ",")}, {"why", may.error().message}});
  return may;
}

void PoolResource::count(label::Granted outcome) {
  context_.metrics.allocations.add(label::Pool(name_), outcome);
}

void PoolResource::publish(const DeviceCounts& counts) {
  auto& metric = context_.metrics.pool_devices;
  const label::Pool pool(name_);
  metric.set(counts.healthy, pool, "healthy", {});
  metric.set(counts.not_ready, pool, "unhealthy", "not-ready");
  metric.set(counts.recovering, pool, "unhealthy", "recovering");
  metric.set(counts.gone, pool, "unhealthy", "gone");
}

}  // namespace railhead::agent
