// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_files.h"

#include <chrono>
#include <utility>

#include "loop/call_after.h"

namespace railhead::agent {
namespace {

/// Between two looks for events: whoever may write into the folder makes as many as he likes, and
/// each look reads mounts.
constexpr std::chrono::milliseconds kRest{100};
/// A write that fails makes events of its own.
constexpr std::chrono::milliseconds kRestAfterFailure{5000};

}  // namespace

RuntimeFiles::RuntimeFiles(Context context, std::string proc_dir, const TableFeed& tables,
                           Provided provided)
    : context_(context),
      keeper_(std::move(proc_dir)),
      tables_(tables),
      provided_(std::move(provided)),
      rest_(context.loop),
      again_(context.loop) {}

void RuntimeFiles::runtime_connected(std::optional<int> pid) {
  is_connected_ = true;
  pid_ = pid;
  look();
}

void RuntimeFiles::look() {
  auto table = tables_.latest();
  if (!is_connected_ || !table || !table->topology_file()) return provided_(nullptr);
  const auto done = keeper_.provide(*table->topology_file(), pid_);
  const std::string error = done ? "" : done.error().message;
  if (!error.empty() && error != error_) {
    context_.log.write(config::LogLevel::error, "containers get no NCCL topology file",
                       {{"error", error}});
  }
  error_ = error;
  watch(table->topology_file()->path);
  provided_(done ? std::move(table) : nullptr);
  again_.cancel();
  if (!done || !watch_) loop::call_after(again_, kRestAfterFailure, [this] { look(); });
}

void RuntimeFiles::watch(const std::string& path) {
  auto folder = path.substr(0, path.rfind('/'));
  if (watch_ && folder == folder_) return;
  auto opened = host::Watch::open("/", {folder});
  if (!opened) return;  // tried again
  folder_ = std::move(folder);
  watch_.emplace(std::move(opened).value(), context_.loop, [this] { folder_changed(); });
}

/// A file that was just removed would keep containers from starting, so the first change after a
/// rest is looked at immediately.
void RuntimeFiles::folder_changed() {
  if (is_resting_) {
    changed_again_ = true;
    return;
  }
  look();
  is_resting_ = true;
  loop::call_after(rest_, error_.empty() ? kRest : kRestAfterFailure, [this] {
    is_resting_ = false;
    if (std::exchange(changed_again_, false)) folder_changed();
  });
}

}  // namespace railhead::agent
