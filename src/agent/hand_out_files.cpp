// SPDX-License-Identifier: Apache-2.0
#include "agent/hand_out_files.h"

#include <utility>

#include "allocation/cdi_spec.h"
#include "allocation/device_info.h"
#include "host/directory_host.h"
#include "host/input_file.h"

namespace railhead::agent {
namespace {

constexpr const char* kNoSpec = "the CDI spec cannot be written (devicePlugin.cdiDir)";
constexpr const char* kNoDeviceInfo =
    "the device-info file cannot be written (devicePlugin.deviceInfoDir)";

/// Nothing where the folder is not there.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  if (!host::input_file_exists(folder)) return std::vector<std::string>();
  const auto host = TRY(host::DirectoryHost::open(folder));
  return TRY(host->list("/")).value_or(std::vector<std::string>());
}

Status write_in(const std::string& folder, const std::string& name, const std::string& text) {
  TRY_STATUS(host::make_folders(folder));
  return host::write_file_atomic(folder + "/" + name, text);
}

}  // namespace

HandOutFiles::HandOutFiles(HandOutFolders folders, config::HandOut hand_out, Log& log)
    : folders_(std::move(folders)),
      hand_out_(hand_out),
      log_(log) {}

Status HandOutFiles::provide(const inject::DecisionTable& table, std::size_t pool,
                             const std::vector<std::size_t>& members) {
  TRY_STATUS(provide_spec(table, pool));
  const auto done = write_device_info(table, table.pools().pools[pool], members);
  if (!done) return done.error().context(kNoDeviceInfo);
  return {};
}

Status HandOutFiles::provide_spec(const inject::DecisionTable& table, std::size_t pool) {
  if (hand_out_ != config::HandOut::cdi) return {};
  const auto done = write_spec(table, table.pools().pools[pool]);
  if (!done) return done.error().context(kNoSpec);
  return {};
}

Status HandOutFiles::write_spec(const inject::DecisionTable& table, const pools::Pool& pool) {
  const auto name = allocation::cdi_file_name(pool.spec.name);
  const auto path = folders_.cdi + "/" + name;
  const auto spec = allocation::cdi_spec(table, pool);
  const auto written = specs_.find(pool.spec.name);
  if (!spec) {
    specs_.erase(pool.spec.name);
    return host::remove_file(path);
  }
  if (written != specs_.end() && written->second == *spec && host::input_file_exists(path))
    return {};
  specs_.erase(pool.spec.name);
  TRY_STATUS(write_in(folders_.cdi, name, *spec));
  specs_.emplace(pool.spec.name, *spec);
  return {};
}

Status HandOutFiles::write_device_info(const inject::DecisionTable& table, const pools::Pool& pool,
                                       const std::vector<std::size_t>& members) {
  if (folders_.device_info.empty()) return {};
  for (const auto m : members) {
    const auto text = allocation::device_info(table, pool, m);
    if (!text) continue;
    const auto& id = table.pools().functions[pool.members[m].function].id;
    TRY_STATUS(write_in(folders_.device_info, allocation::device_info_file_name(pool.spec.name, id),
                        *text));
  }
  return {};
}

Status HandOutFiles::remove_old_specs(const inject::DecisionTable& table) {
  if (folders_.cdi.empty()) return {};
  std::set<std::string> needed;
  for (const auto& pool : table.pools().pools) {
    if (hand_out_ == config::HandOut::cdi) needed.insert(allocation::cdi_file_name(pool.spec.name));
  }
  for (const auto& name : TRY(names_in(folders_.cdi))) {
    if (!name.starts_with(allocation::kCdiFilePrefix) || needed.contains(name)) continue;
    TRY_STATUS(host::remove_file(folders_.cdi + "/" + name));
  }
  return {};
}

Status HandOutFiles::remove_device_info(const Ids& keep) {
  if (folders_.device_info.empty() || offered_.empty()) return {};
  for (const auto& name : TRY(names_in(folders_.device_info))) {
    for (const auto& resource : offered_) {
      const auto id = allocation::id_in_device_info_file(resource, name);
      if (!id) continue;
      const auto now = keep.find(resource);
      const bool is_needed = now != keep.end() && now->second.contains(*id);
      if (!is_needed) TRY_STATUS(host::remove_file(folders_.device_info + "/" + name));
    }
  }
  return {};
}

bool HandOutFiles::refresh(const inject::DecisionTable& table) {
  Ids ids;
  Status done;
  const auto& pools = table.pools().pools;
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    if (done) done = provide_spec(table, pool);
    if (pools[pool].spec.mode != pools::PoolMode::exclusive) continue;
    auto& pool_ids = ids[pools[pool].spec.name];
    for (const auto& member : pools[pool].members) {
      pool_ids.insert(table.pools().functions[member.function].id);
    }
    offered_.insert(pools[pool].spec.name);
  }
  if (done) done = remove_old_specs(table);
  if (done) done = remove_device_info(ids);
  report(done);
  return done.has_value();
}

void HandOutFiles::end() {
  report(remove_device_info({}));
  offered_.clear();
}

void HandOutFiles::report(const Status& done) {
  const std::string error = done ? "" : done.error().message;
  if (!error.empty() && error != error_) {
    log_.write(config::LogLevel::error, "files of allocations", {{"error", error}});
  }
  error_ = error;
}

}  // namespace railhead::agent
