// SPDX-License-Identifier: Apache-2.0
//
// Tells a program of the operator (pods.hook) what happened to containers.
//
// Invariants
// * One run at a time, on a thread of its own; the loop never waits for it.
// * What waits is bounded. An event that finds no place, or whose program is taken out of the
//   configuration, is counted and logged, never lost in silence.
// * Events of one container arrive in their order: nothing is tried twice.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/log.h"
#include "host/clock.h"
#include "host/mailbox.h"
#include "host/run_program.h"
#include "metrics/registry.h"
#include "proof/pods.h"

namespace railhead {

class PodsHook {
 public:
  static constexpr std::size_t kMaxWaiting = 64;
  using Run = std::function<ProgramEnd(const ProgramCall&, const Stop&)>;

  /// Fails where the kernel has no descriptor left.
  static Result<std::unique_ptr<PodsHook>> open(Mailbox& mailbox, Clock& clock, Log& log,
                                                MetricRegistry& metrics, Run run = run_program);

  PodsHook(const PodsHook&) = delete;
  PodsHook& operator=(const PodsHook&) = delete;
  /// Ends a run that is under way.
  ~PodsHook();

  /// The program and its arguments from now on; empty: none.
  void use(std::vector<std::string> words);

  /// The program reads the event as one line: a PodEvent document with the members that `railhead
  /// pods -o json` has for the container.
  void tell(std::string_view event, const PodUse& pod, const std::string& node);

 private:
  struct Event {
    LogFields names;
    std::string text;
  };

  PodsHook(std::unique_ptr<Stop> stop, Mailbox& mailbox, Clock& clock, Log& log,
           MetricRegistry& metrics, Run run);

  void start_next();
  void finish(const LogFields& names, const ProgramEnd& end);
  void drop(const Event& event, std::string_view why);

  std::unique_ptr<Stop> stop_;
  Mailbox& mailbox_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  Run run_;
  std::vector<std::string> words_;
  std::deque<Event> waiting_;
  std::thread running_;
};

}  // namespace railhead
