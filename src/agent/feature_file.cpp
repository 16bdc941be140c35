// SPDX-License-Identifier: Apache-2.0
#include "agent/feature_file.h"

#include <utility>

#include "features/gpu_direct.h"
#include "host/boot_id.h"
#include "host/input_file.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

/// nfd-worker passes over larger files. Source: node-feature-discovery source/local/local.go,
/// MaxFeatureFileSize.
constexpr std::size_t kMaxFeatureFileBytes = std::size_t{64} << 10;

}  // namespace

FeatureFile::FeatureFile(Context context, FeatureFileOptions options, TableFeed& tables,
                         OpenMachine open)
    : context_(context),
      options_(std::move(options)),
      tables_(tables),
      open_(std::move(open)),
      timer_(context.loop) {}

FeatureFile::~FeatureFile() {
  if (!options_.remove_at_end) return;
  const auto there = host::read_file_at_once(options_.path, kMaxFeatureFileBytes);
  if (!there || !features::is_written_by(*there, options_.writer)) return;
  report(host::remove_file(options_.path));
}

void FeatureFile::start() {
  tables_.follow(context_.mailbox, [this] { look(); });
  look_and_wait();
}

void FeatureFile::look_and_wait() {
  look();
  loop::call_after(timer_, options_.look_every, [this] { look_and_wait(); });
}

void FeatureFile::look() {
  const auto table = tables_.latest();
  if (!table) return;
  auto host = open_();
  if (!host) return report(host.error());
  const auto system = system::read_system(**host, table->node(), features::kGpuDirectParts);
  rails_ = rails(*table, **host);
  const auto now =
      features::features_of(table->node(), table->topology(), table->deal(), system, rails_);
  if (is_due(now)) report(write(now));
}

/// Those of the agent before, too, where the machine was not started anew since.
features::Rails FeatureFile::rails(const inject::DecisionTable& table, host::Host& host) {
  if (!has_looked_) {
    boot_id_ = host::boot_id(host);
    const auto there = host::read_file_at_once(options_.path, kMaxFeatureFileBytes);
    if (there) rails_ = features::rails_in(*there, boot_id_);
    has_looked_ = true;
  }
  return features::rails_since(rails_, table.node(), table.deal());
}

bool FeatureFile::is_due(const std::vector<features::Feature>& now) const {
  if (written_ != now) return true;
  if (options_.expiry.count() != 0 && context_.clock.now() - written_at_ >= options_.expiry / 2) {
    return true;
  }
  return !host::input_file_exists(options_.path);
}

Status FeatureFile::write(const std::vector<features::Feature>& now) {
  std::optional<std::chrono::system_clock::time_point> expiry;
  if (options_.expiry.count() != 0) expiry = context_.clock.calendar() + options_.expiry;
  written_.clear();
  const features::FileHead head{options_.writer, boot_id_, rails_, expiry};
  TRY_STATUS(host::write_file_atomic(options_.path, features::to_feature_file(now, head)));
  written_ = now;
  written_at_ = context_.clock.now();
  return {};
}

void FeatureFile::report(const Status& done) {
  if (!done && said_ != done.error().message) {
    context_.log.write(config::LogLevel::warn, "feature file",
                       {{"file", options_.path}, {"error", done.error().message}});
  }
  said_ = done ? "" : done.error().message;
}

}  // namespace railhead::agent
