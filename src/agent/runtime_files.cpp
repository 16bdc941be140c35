// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_files.h"

#include <utility>

namespace railhead {

RuntimeFiles::RuntimeFiles(Context context, std::string proc_dir, const TableFeed& tables,
                           Provided provided)
    : context_(context),
      keeper_(std::move(proc_dir)),
      tables_(tables),
      provided_(std::move(provided)) {}

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
    context_.log.write(LogLevel::error, "containers get no NCCL topology file", {{"error", error}});
  }
  error_ = error;
  watch(table->topology_file()->path);
  provided_(done ? std::move(table) : nullptr);
}

void RuntimeFiles::watch(const std::string& path) {
  auto folder = path.substr(0, path.rfind('/'));
  if (watch_ && folder == folder_) return;
  auto opened = Watch::open("/", {folder});
  if (!opened) return;  // it is written anew with the next table
  folder_ = std::move(folder);
  watch_.emplace(std::move(opened).value(), context_.loop, [this] { look(); });
}

}  // namespace railhead
