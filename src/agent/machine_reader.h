// SPDX-License-Identifier: Apache-2.0
// Keeps the table that of the machine. Lives on the reader thread.
//
// Invariants
// * The deciding thread waits for the events, and wishes for a reading when one comes. A wish has a
//   number; wishes that came up to the beginning of a reading are all fulfilled by it.
// * Of a storm of events readings take a fifth of the time at most: after one that took t the next
//   for an event begins 4 t later, or a second. What a timer wants is not held back.
// * What may have changed is read again; a reading that fails keeps the last table.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "agent/machine.h"
#include "agent/table_feed.h"

namespace railhead {

/// Readings that nothing but time asks for. 0: never.
struct ReadTimes {
  std::chrono::seconds rescan{30};
  std::chrono::seconds port_check{1};
};

class MachineReader {
 public:
  /// Who wishes, on another thread. Called by way of that thread's mailbox.
  class Owner {
   public:
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    virtual ~Owner() = default;

    /// The first reading is done. `events` is readable while something may have changed; absent
    /// where nothing tells.
    virtual void started(const Status& first, std::optional<int> events) = 0;
    /// Events that came up to here are taken: later ones make the descriptor readable again.
    virtual void drained() = 0;
    /// Wishes up to this one are fulfilled.
    virtual void fulfilled(std::uint64_t wish) = 0;
  };

  /// `wishes`: the number of the last wish. `is_blind`: some changes bring no event.
  /// `owners_mailbox` is of the thread of `owner`.
  struct Links {
    TableFeed& tables;
    const std::atomic<std::uint64_t>& wishes;
    std::atomic<bool>& is_blind;
    Owner& owner;
    Mailbox& owners_mailbox;
  };

  MachineReader(Context context, Links links, MachineSource source, MachineSettings settings,
                ReadTimes times);
  MachineReader(const MachineReader&) = delete;
  MachineReader& operator=(const MachineReader&) = delete;
  ~MachineReader();

  /// Reads the machine for the first time, and tells the owner.
  void start();

  /// Fulfils all wishes that are open. For an event the machine is read only where it may be about
  /// it; `cause` is a literal.
  void fulfil(std::string_view cause);

  void reconfigure(MachineSettings settings, ReadTimes times,
                   std::function<void(Status)> done_at_owner);

 private:
  void read_for_wishes();
  void schedule_rescan();
  void schedule_port_check();
  /// Publishes what a reading made; a failure is logged.
  void conclude(const Status& done);
  void look_for_events();
  void publish();
  void give_back_later();
  void tell(std::function<void(Owner&)> what);

  Context context_;
  Links links_;
  Machine machine_;
  ReadTimes times_;
  std::uint64_t fulfilled_ = 0;
  std::string_view cause_ = Machine::kEvent;
  bool waits_ = false;  ///< for the pause after a reading
  std::chrono::steady_clock::time_point not_before_{};
  bool gives_back_ = false;  ///< free memory, when the timer has come
  boost::asio::steady_timer after_start_;
  boost::asio::steady_timer give_back_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer rescan_;
  boost::asio::steady_timer port_check_;
};

}  // namespace railhead
