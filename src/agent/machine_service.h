// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/machine_reader.h"
#include "agent/machine_tables.h"
#include "agent/service.h"
#include "loop/hosted.h"

namespace railhead {

/// The machine's service. Events are waited for here, in the epoll set of the deciding thread, so
/// that one which came before a request is known before the request, at no cost for the request.
class MachineService final : public Service, public MachineTables, private MachineReader::Owner {
 public:
  /// `started` is called once, with the outcome of the first reading.
  MachineService(Context context, TableFeed& tables, MachineSource source, MachineSettings settings,
                 ReadTimes times, std::function<void(const Status&)> started);
  ~MachineService() override;

  Status start() override;
  [[nodiscard]] Readiness readiness() const override;
  bool stop(std::chrono::milliseconds patience) override;

  /// Takes other settings on, as Machine::reconfigure().
  void reconfigure(MachineSettings settings, ReadTimes times, std::function<void(Status)> done);
  using Service::reconfigure;

  [[nodiscard]] std::shared_ptr<const DecisionTable> table() const override {
    return tables_.latest();
  }

  [[nodiscard]] bool is_behind() override;

  [[nodiscard]] bool is_late() const override { return is_late_; }

  void look_again(std::string_view cause) override;
  void wait(std::chrono::milliseconds patience, std::function<void(bool fresh)> done) override;

 private:
  struct Waiter;

  void started(const Status& first, std::optional<int> events) override;
  void drained() override;
  void fulfilled(std::uint64_t wish) override;
  void await_event();
  void give_up(Waiter& waiter);

  Context context_;
  TableFeed& tables_;
  MachineSource source_;
  MachineSettings settings_;
  ReadTimes times_;
  std::function<void(const Status&)> started_;
  std::atomic<std::uint64_t> wishes_{0};
  std::atomic<bool> is_blind_{false};
  std::uint64_t fulfilled_ = 0;
  bool is_late_ = false;  ///< a wait was in vain, and nothing has been read since
  std::optional<boost::asio::posix::stream_descriptor> events_;  ///< the descriptor is the reader's
  std::list<Waiter> waiters_;
  std::unique_ptr<Hosted<MachineReader>> reader_;
};

}  // namespace railhead
