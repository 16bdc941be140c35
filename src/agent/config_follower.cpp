// SPDX-License-Identifier: Apache-2.0
#include "agent/config_follower.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/text.h"
#include "host/input_file.h"
#include "loop/call_after.h"

namespace railhead::agent {

void log_differences(Log& log, const std::vector<pools::Difference>& differences) {
  for (const auto& one : differences) {
    log.write(config::LogLevel::info, "differs from the replaced plugin",
              {{"difference", std::string(one.id)},
               {"what", std::string(one.text)},
               {"setting", std::string(one.setting)}});
  }
}

ConfigFollower::ConfigFollower(Context context, ConfigReader reader, Take take)
    : context_(context),
      reader_(std::move(reader)),
      take_(std::move(take)),
      hangup_(context.loop, SIGHUP),
      settling_(context.loop),
      recheck_(context.loop) {}

void ConfigFollower::start() {
  await_signal();
  if (reader_.read) {
    watch();
    look(Asked::no);
    recheck_later();
  }
}

void ConfigFollower::recheck_later() {
  if (reader_.recheck.count() == 0) return;
  loop::call_after(recheck_, reader_.recheck, [this] {
    if (!folders_) watch();  // it may have been the user's limit of instances
    check();
    recheck_later();
  });
}

void ConfigFollower::watch() {
  std::vector<std::string> folders;
  for (const auto& path : reader_.paths) {
    const auto whole = host::absolute_path(path);
    folders.push_back(whole.substr(0, whole.rfind('/')));
  }
  auto watch = host::Watch::open("/", folders);
  if (!watch) {
    if (std::exchange(is_unwatched_, true)) return;
    context_.log.write(config::LogLevel::warn, "no events of configuration files",
                       {{"why", watch.error().message}});
    return;
  }
  folders_.emplace(std::move(watch).value(), context_.loop, [this] { look_soon(); });
}

void ConfigFollower::await_signal() {
  hangup_.async_wait([this](const auto& failure, int /*signal*/) {
    if (failure) return;
    if (reader_.read) {
      look(Asked::yes);
    } else {
      context_.log.write(config::LogLevel::warn, "configuration not read again",
                         {{"why", "it came from standard input"}});
    }
    await_signal();
  });
}

void ConfigFollower::look_soon() {
  if (std::exchange(is_settling_, true)) return;
  loop::call_after(settling_, reader_.settle, [this] {
    is_settling_ = false;
    look(Asked::no);
  });
}

Result<config::ConfigSources> ConfigFollower::read() {
  auto sources = TRY(reader_.read());
  for (const auto& before : in_force_.value_or(std::vector<config::ConfigFile>())) {
    const bool there = std::ranges::any_of(
        sources.files, [&](const auto& file) { return file.name == before.name; });
    if (!there) return Error{ErrorCode::unavailable, before.name + ": not there any more"};
  }
  return sources;
}

void ConfigFollower::look(Asked asked) {
  if (!reader_.read) return;
  if (is_taking_) {
    if (again_ != Asked::yes) again_ = asked;
    return;
  }
  const auto sources = read();
  if (!sources) return refuse(sources.error(), asked);
  const bool same = in_force_ && sources->files == tried_ && complaint_.empty();
  if (same && asked == Asked::no) return;
  tried_ = sources->files;
  auto config = config::make_config(*sources);
  if (!config) return refuse(config.error(), asked);
  is_taking_ = true;
  take_(std::move(config).value(),
        [this, sources = *sources, asked](const Result<ConfigNews>& news) {
          is_taking_ = false;
          finish(sources, news, asked);
          if (const auto again = std::exchange(again_, std::nullopt)) look(*again);
        });
}

void ConfigFollower::finish(const config::ConfigSources& sources, const Result<ConfigNews>& news,
                            Asked asked) {
  if (!news) return refuse(news.error(), asked);
  const bool first = !in_force_;
  in_force_ = sources.files;
  const bool silent = first && news->changed.empty() && news->restart.empty();
  context_.metrics.config_last_reload_successful.set(news->left_out.empty() ? 1 : 0);
  context_.metrics.config_last_success_timestamp_seconds.set(
      std::chrono::duration<double>(context_.clock.calendar().time_since_epoch()).count());
  if (!silent) accept(*news);
  complaint_.clear();
}

void ConfigFollower::accept(const ConfigNews& news) {
  context_.metrics.config_reloads.add("loaded");
  context_.metrics.config_settings_awaiting_restart.set(news.restart.size());
  for (const auto& warning : news.warnings) {
    context_.log.write(config::LogLevel::warn, "configuration", {{"what", warning}});
  }
  for (const auto& resource : news.left_out) {
    context_.log.write(config::LogLevel::warn, "resource left out", {{"why", resource}});
  }
  context_.log.write(config::LogLevel::info, "configuration loaded",
                     {{"changed", news.changed.empty() ? "nothing" : join(news.changed, ", ")}});
  log_differences(context_.log, news.differences);
  if (!news.restart.empty() && news.restart != restart_) {
    context_.log.write(config::LogLevel::warn, "configuration needs a restart",
                       {{"settings", join(news.restart, ", ")}});
  }
  restart_ = news.restart;
}

void ConfigFollower::refuse(const Error& error, Asked asked) {
  context_.metrics.config_last_reload_successful.set(0);
  if (error.message == complaint_ && asked == Asked::no) return;
  complaint_ = error.message;
  context_.metrics.config_reloads.add("refused");
  context_.log.write(config::LogLevel::error,
                     "configuration refused, the one before stays in force",
                     {{"error", error.message}});
}

}  // namespace railhead::agent
