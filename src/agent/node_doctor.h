// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "checks/check.h"
#include "checks/conditions.h"
#include "checks/history.h"
#include "checks/report.h"
#include "host/back_off_host.h"
#include "loop/shared.h"

namespace railhead::agent {

struct NodeDoctorOptions {
  std::chrono::seconds every{300};
  std::chrono::milliseconds first{30'000};  ///< until the first look: an agent starts first
  std::chrono::milliseconds limit{10'000};  ///< after it a look reads no more
  std::string history_file;                 ///< "": none
  std::string node_name;                    ///< shown to people; "": the name of the machine
};

/// Makes the doctor's checks of the node now and then, and keeps what a single look cannot see.
/// Lives on a thread of its own: a driver may hang.
class NodeDoctor {
 public:
  /// What the operator's configuration in force says, asked before each look.
  using AskWishes = std::function<Result<checks::Wishes>()>;

  struct Links {
    OpenMachine open;
    AskWishes wishes;
    loop::Shared<std::string>& page;                     ///< the last look as a DoctorReport
    loop::Shared<checks::LatestConditions>& conditions;  ///< for Kubernetes
  };

  NodeDoctor(Context context, NodeDoctorOptions options, Links links);

  /// Reads the history of an agent before, and looks whenever it is time.
  void start();

  /// One look. For start()'s timer, and for tests.
  void look();

 private:
  struct Dated {
    checks::State state;
    std::string since;
  };

  void look_in(std::chrono::milliseconds time);
  [[nodiscard]] Result<checks::Diagnosis> diagnose();
  void judge(Result<checks::Diagnosis> diagnosis);
  void load_history();
  void keep_history();
  void date(checks::Diagnosis& diagnosis);
  void publish(const checks::Diagnosis& diagnosis);
  void tell(std::vector<checks::Condition> conditions);
  void log_changes(const checks::Diagnosis& diagnosis,
                   const std::vector<const checks::Finding*>& changed);

  Context context_;
  NodeDoctorOptions options_;
  Links links_;
  boost::asio::steady_timer timer_;
  host::Refusals refusals_;
  checks::History history_;
  std::map<const checks::Check*, std::chrono::nanoseconds> times_;  ///< of the last look
  /// Of each subject of each check.
  std::map<std::tuple<std::string_view, std::string, std::size_t>, Dated> states_;
  std::string failure_;          ///< the last one that was logged
  std::string history_failure_;  ///< likewise
};

}  // namespace railhead::agent
