// SPDX-License-Identifier: Apache-2.0
// Keeps a running agent's configuration that of its files.
//
// Invariants
// * The folders of the files are watched, not the files: a mounted ConfigMap changes by a link that
//   is swapped beside them. What no event tells (a link into another folder) check() finds.
// * A configuration is taken on as a whole or not at all; until one can be, that before is in
// force.
// * A file that was there and has gone is an error, not an empty file.
// * One complaint is logged once, however often it is met.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/log.h"
#include "config/config.h"
#include "host/clock.h"
#include "loop/watch_loop.h"
#include "metrics/registry.h"

namespace railhead {

/// How the configuration of a running agent is read again.
struct ConfigReader {
  std::vector<std::string> paths;  ///< of the files
  /// Absent where it cannot be read twice (standard input).
  std::function<Result<ConfigSources>()> read;
  /// After an event, until what belongs together has been written.
  std::chrono::milliseconds settle{200};
};

/// What a configuration that was taken on has changed.
struct ConfigNews {
  std::vector<std::string> changed;   ///< what took effect
  std::vector<std::string> restart;   ///< what waits for a restart
  std::vector<std::string> warnings;  ///< of the files
};

class ConfigFollower {
 public:
  /// Takes a configuration on, or says why not and changes nothing.
  using Take = std::function<Result<ConfigNews>(Config)>;

  ConfigFollower(boost::asio::io_context& loop, ConfigReader reader, Take take, Clock& clock,
                 Log& log, MetricRegistry& metrics);
  ConfigFollower(const ConfigFollower&) = delete;
  ConfigFollower& operator=(const ConfigFollower&) = delete;
  ~ConfigFollower() = default;

  /// Follows from now on, files and SIGHUP. What changed since the agent read them is taken on.
  void start();
  void stop();

  /// Looks at the files, events or not.
  void check() { look(Asked::no); }

 private:
  enum class Asked : bool { no, yes };

  void watch();
  void await_signal();
  void look_soon();
  void look(Asked asked);
  /// What the files say now; fails where one cannot be read or has gone.
  Result<ConfigSources> read();
  Result<ConfigNews> take(const ConfigSources& sources);
  void accept(const ConfigNews& news);
  void refuse(const Error& error, Asked asked);

  boost::asio::io_context& loop_;
  ConfigReader reader_;
  Take take_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  boost::asio::signal_set hangup_;
  boost::asio::steady_timer settling_;
  bool is_settling_ = false;
  std::optional<WatchLoop> folders_;
  std::optional<std::vector<ConfigFile>> in_force_;  ///< absent before the first look
  std::vector<ConfigFile> tried_;
  std::string complaint_;             ///< the last that was logged; "" since a good one
  std::vector<std::string> restart_;  ///< as last warned of
};

}  // namespace railhead
