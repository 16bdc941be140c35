// SPDX-License-Identifier: Apache-2.0
// Keeps a running agent's configuration that of its files.
//
// Invariants
// * The folders of the files are watched, not the files: a mounted ConfigMap changes by a link that
//   is swapped beside them. What no event tells (a link into another folder) check() finds.
// * A configuration is taken on as a whole or not at all. Until one can be, the one before is in
//   force. Only a resource of another plugin's file is left out by itself.
// * A file that was there and has gone is an error, not an empty file.
// * Where no events can be had (inotify is full), they are asked for again with each recheck.
// * One complaint is logged once, however often it is met.
// * It lives on a thread of its own: a volume that hangs keeps nobody waiting.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "config/config.h"
#include "loop/watch_loop.h"
#include "pools/differences.h"

namespace railhead::agent {

/// How the configuration of a running agent is read again.
struct ConfigReader {
  std::vector<std::string> paths;  ///< of the files
  /// Absent where it cannot be read twice (standard input).
  std::function<Result<config::ConfigSources>()> read;
  /// After an event, until what belongs together has been written.
  std::chrono::milliseconds settle{200};
  /// How often the files are looked at where no event tells of them; 0: never.
  std::chrono::seconds recheck{0};
};

/// What a configuration that was taken on has changed.
struct ConfigNews {
  std::vector<std::string> changed;   ///< what took effect
  std::vector<std::string> restart;   ///< what waits for a restart
  std::vector<std::string> warnings;  ///< of the files
  std::vector<std::string> left_out;  ///< resources that could not be taken on (pools::PoolSpecs)
  std::vector<pools::Difference> differences;  ///< that are new
};

void log_differences(Log& log, const std::vector<pools::Difference>& differences);

class ConfigFollower {
 public:
  using Done = std::function<void(Result<ConfigNews>)>;
  /// Takes a configuration on, or says why not and changes nothing; calls back once, now or later.
  using Take = std::function<void(config::Config, Done)>;

  ConfigFollower(Context context, ConfigReader reader, Take take);

  /// Follows from now on, files and SIGHUP. What changed since the agent read them is taken on.
  void start();

  /// Looks at the files, events or not.
  void check() { look(Asked::no); }

 private:
  enum class Asked : bool { no, yes };

  void watch();
  void await_signal();
  void look_soon();
  void recheck_later();
  void look(Asked asked);
  /// What the files say now; fails where one cannot be read or has gone.
  Result<config::ConfigSources> read();
  void finish(const config::ConfigSources& sources, const Result<ConfigNews>& news, Asked asked);
  void accept(const ConfigNews& news);
  void refuse(const Error& error, Asked asked);

  Context context_;
  ConfigReader reader_;
  Take take_;
  boost::asio::signal_set hangup_;
  boost::asio::steady_timer settling_;
  boost::asio::steady_timer recheck_;
  bool is_settling_ = false;
  bool is_unwatched_ = false;  ///< and that was logged
  bool is_taking_ = false;
  std::optional<Asked> again_;  ///< what came while one was taken on
  std::optional<loop::WatchLoop> folders_;
  std::optional<std::vector<config::ConfigFile>> in_force_;  ///< absent before the first look
  std::vector<config::ConfigFile> tried_;
  std::string complaint_;             ///< the last that was logged; "" since a good one
  std::vector<std::string> restart_;  ///< as last warned of
};

}  // namespace railhead::agent
