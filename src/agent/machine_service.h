// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/machine_reader.h"
#include "agent/machine_tables.h"
#include "agent/service.h"
#include "loop/hosted.h"

namespace railhead::agent {

/// What becomes of the first reading.
struct FirstReading {
  /// Called once, with its outcome.
  std::function<void(const Status&)> done;
  /// Called before that where it takes longer than this, as with a driver that hangs: the table is
  /// that of a machine without anything until it is done.
  std::function<void()> late;
  std::chrono::milliseconds patience{5000};
};

/// The machine's service. Events are waited for here, in the epoll set of the deciding thread, so
/// that one which came before a request is known before the request, at no cost for the request.
class MachineService final : public Service, public MachineTables, private MachineReader::Owner {
 public:
  MachineService(Context context, TableFeed& tables, MachineOptions options, FirstReading first);
  ~MachineService() override;

  [[nodiscard]] std::string_view name() const override { return "machine"; }

  Status start() override;
  [[nodiscard]] Readiness readiness() const override;
  void publish() override;
  bool stop(std::chrono::milliseconds patience) override;

  /// Takes other settings on, as Machine::reconfigure().
  void reconfigure(MachineSettings settings, ReadTimes times, std::function<void(Status)> done);
  using Service::reconfigure;

  /// Null until the first reading is done or late.
  [[nodiscard]] std::shared_ptr<const inject::DecisionTable> table() const override;

  [[nodiscard]] bool is_behind() override;
  [[nodiscard]] bool is_stale() const override;

  [[nodiscard]] bool is_read() const override { return tables_.latest() != nullptr; }

  void look_again(std::string_view cause) override;
  void wait(std::chrono::milliseconds patience, std::function<void(bool fresh)> done) override;

 private:
  struct Waiter;

  void watching(int events) override;
  void started(const Status& first) override;
  void drained() override;
  void fulfilled(std::uint64_t wish, bool is_read) override;
  /// Since the reading began that is not over yet; zero where there is none.
  [[nodiscard]] std::chrono::nanoseconds reading_for() const;
  void await_event();
  void give_up(const std::shared_ptr<Waiter>& waiter);

  Context context_;
  TableFeed& tables_;
  MachineOptions options_;
  FirstReading first_;
  boost::asio::steady_timer first_patience_;
  std::shared_ptr<const inject::DecisionTable> unread_;  ///< of a machine without anything
  MachineReader::Shared shared_;
  std::uint64_t wishes_ = 0;
  std::uint64_t fulfilled_ = 0;
  bool is_read_ = true;      ///< the last reading did not fail
  bool is_late_ = false;     ///< a wait was in vain, and nothing has been read since
  bool is_waiting_ = false;  ///< for an event
  std::optional<boost::asio::posix::stream_descriptor> events_;  ///< the descriptor is the reader's
  std::list<std::shared_ptr<Waiter>> waiters_;
  std::unique_ptr<loop::Hosted<MachineReader>> reader_;
};

}  // namespace railhead::agent
