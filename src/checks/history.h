// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/node.h"
#include "system/system.h"

namespace railhead::checks {

/// A counter of a port that is followed, below its folder, and from what growth on it is a fault.
/// Values: NVIDIA/NVSentinel docs/nic-health-monitor.md.
struct FollowedCounter {
  std::string_view file;
  double per_second;  ///< more than this; 0: any
};

inline constexpr std::string_view kLinkDowned = "counters/link_downed";
inline constexpr std::array kFollowedCounters = {
    FollowedCounter{kLinkDowned, 0},
    FollowedCounter{"counters/excessive_buffer_overrun_errors", 0},
    FollowedCounter{"counters/local_link_integrity_errors", 0},
    FollowedCounter{"counters/symbol_error", 10},
    FollowedCounter{"counters/link_error_recovery", 5.0 / 60},
    FollowedCounter{"counters/port_rcv_errors", 10},
    FollowedCounter{"counters/port_xmit_discards", 100},
    FollowedCounter{"hw_counters/local_ack_timeout_err", 1},
    FollowedCounter{"hw_counters/rnr_nak_retry_err", 0},
    FollowedCounter{"hw_counters/roce_slow_restart", 10},
};
/// Of a netdev: how often its link went down. Source: Linux
/// Documentation/ABI/testing/sysfs-class-net.
inline constexpr std::string_view kCarrierDowns = "carrier_down_count";

/// Whether a counter of a port does not count any more: it stays at this value.
bool is_full(std::string_view path, std::uint64_t value);

/// What a counter grew by in some time.
struct CounterGrowth {
  std::uint64_t by = 0;
  /// The steepest growth between two looks: by how much, and how much later the second one was.
  std::uint64_t steepest_from = 0;
  std::uint64_t steepest_to = 0;
  std::uint64_t steepest_seconds = 0;
  /// Of that one; what looks a few seconds apart saw counts as if a minute were between.
  double per_second = 0;
  bool full = false;  ///< it was when the time began: growth cannot be seen
};

/// What looks at the ports of a machine saw since it was started. Only changes are kept, and their
/// number is bounded, so that an agent can look for months. Times are seconds since the start.
class History {
 public:
  static constexpr std::uint64_t kWindowSeconds = 12UL * 3600;  ///< what is older is forgotten
  static constexpr std::size_t kMaxCounters = 768;
  static constexpr std::size_t kMaxSteps = 12;  ///< of a counter; the oldest goes first

  /// A value, which came after the look at `after` and was seen by the one at `seen`. Of the first
  /// look both are the same.
  struct Step {
    std::uint64_t after = 0;
    std::uint64_t seen = 0;
    std::uint64_t value = 0;

    friend bool operator==(const Step&, const Step&) = default;
  };

  struct Counter {
    std::uint64_t last = 0;   ///< the last look that saw it
    std::vector<Step> steps;  ///< oldest first, never empty

    friend bool operator==(const Counter&, const Counter&) = default;
  };

  /// One more look, of Part::counters. Another start of the machine begins anew. False, and
  /// nothing changes, where the look does not say when it was, or was not after the last one.
  bool add(const node::Node& node, const system::System& system);

  [[nodiscard]] const std::string& boot_id() const { return boot_id_; }

  [[nodiscard]] std::uint64_t looks() const { return looks_; }

  [[nodiscard]] std::uint64_t first() const { return first_; }  ///< of the looks

  [[nodiscard]] std::uint64_t last() const { return last_; }

  /// How a counter grew between looks at or after `since`. Absent where no look saw it.
  [[nodiscard]] std::optional<CounterGrowth> growth(std::string_view path,
                                                    std::uint64_t since) const;

  friend bool operator==(const History&, const History&) = default;

 private:
  friend std::string to_text(const History& history);
  friend Result<History> parse_history(std::string_view text);

  void see(const std::string& path, std::uint64_t value, std::uint64_t now);
  void forget_old();

  std::string boot_id_;
  std::uint64_t looks_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::string, Counter, std::less<>> counters_;  ///< by path
};

/// A counter that was read; absent where it was not, or is no number.
std::optional<std::uint64_t> counter_in(const system::System& system, const std::string& path);

/// Since the machine was started, of the text of /proc/uptime; absent where that is not known.
std::optional<double> uptime_in(const system::System& system);

/// A JSON document of kind DoctorHistory, below kMaxHistoryBytes.
std::string to_text(const History& history);

/// What to_text() wrote. Whatever breaks a bound or an order of times is an error.
Result<History> parse_history(std::string_view text);

inline constexpr std::size_t kMaxHistoryBytes = std::size_t{1} << 20;

}  // namespace railhead::checks
