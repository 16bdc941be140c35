// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "agent/table_feed.h"
#include "features/features.h"
#include "host/host.h"

namespace railhead::agent {

struct FeatureFileOptions {
  std::string path;
  std::string writer;              ///< tells this agent from another of the node
  std::chrono::seconds expiry{0};  ///< the file holds so long after it was written; 0: for ever
  bool remove_at_end = false;
  std::chrono::milliseconds look_every{30000};
};

/// Keeps a file of features for node-feature-discovery as the machine is. It is written at the
/// start, when a feature changes, when it has gone, and in time before it expires. Of two agents of
/// a node, as in an update, the last that wrote it removes it. The file keeps the rails' places, so
/// that the next agent of this start of the machine gives them the same numbers. A folder that
/// cannot be written is said once and costs nothing else. Lives on a thread of its own: it reads
/// and writes files.
class FeatureFile {
 public:
  FeatureFile(Context context, FeatureFileOptions options, TableFeed& tables, OpenMachine open);
  FeatureFile(const FeatureFile&) = delete;
  FeatureFile& operator=(const FeatureFile&) = delete;
  ~FeatureFile();

  /// Looks now, after each reading of the machine, and whenever it is time.
  void start();

  /// The file is there, and as the machine is.
  void look();

 private:
  void look_and_wait();
  features::Rails rails(const inject::DecisionTable& table, host::Host& host);
  [[nodiscard]] bool is_due(const std::vector<features::Feature>& now) const;
  Status write(const std::vector<features::Feature>& now);
  void report(const Status& done);

  Context context_;
  FeatureFileOptions options_;
  TableFeed& tables_;
  OpenMachine open_;
  boost::asio::steady_timer timer_;
  bool has_looked_ = false;
  std::string boot_id_;
  features::Rails rails_;
  std::vector<features::Feature> written_;  ///< empty: nothing was
  std::chrono::steady_clock::time_point written_at_{};
  std::string said_;  ///< the last failure that was logged
};

}  // namespace railhead::agent
