// SPDX-License-Identifier: Apache-2.0
// Keeps the table that of the machine. Lives on the reader thread.
//
// Invariants
// * The deciding thread waits for the events, and wishes for a reading when one comes. A wish has a
//   number; wishes that came up to the beginning of a reading are all fulfilled by it.
// * Of a storm: after a reading that took t, the next one that is wished for begins 2 t later, but
//   a second later at most. What timers read is not held back.
// * Whoever may use a device node may touch it: touches are looked at here, ten times a second at
//   most, and only another mode, owner or number reaches the deciding thread.
// * What may have changed is read again. A reading that fails keeps the last table and is repeated.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "agent/machine.h"
#include "agent/table_feed.h"

namespace railhead::agent {

/// Readings that nothing but time asks for.
struct ReadTimes {
  std::chrono::seconds rescan{30};
  std::chrono::seconds port_check{1};  ///< 0: never
  /// After a reading that failed.
  std::chrono::milliseconds repeat{1000};
};

struct MachineOptions {
  MachineSource source;
  MachineSettings settings = {};
  ReadTimes times = {};
};

class MachineReader {
 public:
  /// Who wishes, on another thread. Called by way of that thread's mailbox.
  class Owner {
   public:
    virtual ~Owner() = default;

    /// `events` is readable while something may have changed. Called once, when there are events.
    virtual void watching(int events) = 0;
    /// The first reading is done.
    virtual void started(const Status& first) = 0;
    /// Events that came up to here are taken: later ones make the descriptor readable again.
    virtual void drained() = 0;
    /// Something changed, which that descriptor did not tell.
    virtual void look_again(std::string_view cause) = 0;
    /// Wishes up to this one need not be waited for. `is_read`: they are fulfilled; else the
    /// machine cannot be read, and the table is the one before.
    virtual void fulfilled(std::uint64_t wish, bool is_read) = 0;
  };

  /// What both threads look at.
  struct Shared {
    std::atomic<bool> is_blind{false};  ///< some changes bring no event
    /// The beginning of what the machine is asked now, by the clock; zero: of nothing.
    std::atomic<std::chrono::steady_clock::time_point> asked_since{};
  };

  /// `owners_mailbox` is of the thread of `owner`.
  struct Links {
    TableFeed& tables;
    Shared& shared;
    Owner& owner;
    loop::Mailbox& owners_mailbox;
  };

  MachineReader(Context context, Links links, MachineOptions options);
  ~MachineReader();

  /// Reads the machine for the first time, which is what this wish is for, and tells the owner.
  void start(std::uint64_t wish);

  /// Fulfils the wish with this number, and those before it. For an event the machine is read only
  /// where it may be about it; `cause` is a literal.
  void fulfil(std::uint64_t wish, std::string_view cause);

  void reconfigure(MachineSettings settings, ReadTimes times,
                   std::function<void(Status)> done_at_owner);

 private:
  /// Takes what is pending. True where something is to be read.
  bool drain();
  void read_for_wishes();
  void read_wanted(bool changed);
  void schedule_rescan();
  void schedule_port_check();
  /// Publishes what a reading made, and tells for which wishes it was.
  void conclude(std::uint64_t wish);
  void rescan();
  void tell_of_events();
  void await_touch();
  void look_at_touched();
  /// With the machine, while the other thread can see how long that takes.
  template <typename Ask>
  void ask(Ask ask);
  void publish();
  void give_back_later();
  void tell(std::function<void(Owner&)> what);

  Context context_;
  Links links_;
  Machine machine_;
  ReadTimes times_;
  std::uint64_t wish_ = 0;  ///< the last
  std::uint64_t fulfilled_ = 0;
  std::set<std::string_view> wanted_;  ///< causes of readings that are due
  bool is_failing_ = false;            ///< as it was reported
  bool has_reported_events_ = false;
  /// The descriptor is the machine's.
  std::optional<boost::asio::posix::stream_descriptor> touches_;
  bool waits_ = false;  ///< for the pause after a reading
  std::chrono::steady_clock::time_point not_before_{};
  bool gives_back_ = false;  ///< free memory, when the timer has come
  boost::asio::steady_timer after_start_;
  boost::asio::steady_timer give_back_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer touch_pause_;
  boost::asio::steady_timer rescan_;
  boost::asio::steady_timer port_check_;
};

}  // namespace railhead::agent
