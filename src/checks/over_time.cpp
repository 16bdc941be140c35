// SPDX-License-Identifier: Apache-2.0
//
// What one look at a link cannot say: how often it went down, and whether its errors grow.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "checks/groups.h"
#include "checks/history.h"
#include "host/boot_id.h"

namespace railhead::checks {
namespace {

constexpr std::uint64_t kSecondUsec = 1'000'000;
constexpr std::uint64_t kBootSeconds = 30UL * 60;  ///< links come and go at a start
constexpr std::uint64_t kSlopeSeconds = 3600;
constexpr std::uint64_t kFlaps = 3;

/// "12 hours", "55 minutes", "40 seconds"
std::string time_text(std::uint64_t seconds) {
  if (seconds >= 2UL * 3600) return std::to_string(seconds / 3600) + " hours";
  if (seconds >= 2UL * 60) return std::to_string(seconds / 60) + " minutes";
  return std::to_string(seconds) + " seconds";
}

/// How often links of a NIC went down, as far as one source has it.
struct Outages {
  std::uint64_t count = 0;
  std::uint64_t within_seconds = 0;
  Evidence evidence;
  bool full = false;  ///< the counter counts no more
};

/// Seconds since the start, on the clock of the kernel's log; without /proc/uptime the time of its
/// last line.
std::uint64_t end_of_log(const Machine& machine, const std::vector<system::LogLine>& lines) {
  if (const auto uptime = uptime_in(machine.system)) return static_cast<std::uint64_t>(*uptime);
  return lines.empty() ? 0 : lines.back().usec / kSecondUsec;
}

std::uint64_t begin_of_window(std::uint64_t end) {
  return std::max(kBootSeconds, end > History::kWindowSeconds ? end - History::kWindowSeconds : 0);
}

Outages outages_in_log(const Machine& machine, const node::Nic& nic) {
  const auto& log = machine.system.kernel_log;
  const auto end = end_of_log(machine, *log.value);
  const auto begin = begin_of_window(end);
  Outages outages;
  outages.within_seconds = History::kWindowSeconds;
  outages.evidence = {log.path, std::to_string(log.value->size()) + " lines"};
  for (const auto& line : *log.value) {
    const auto seconds = line.usec / kSecondUsec;
    if (seconds < begin || seconds > end || !system::says_link_down(line.text, nic.pci->str())) {
      continue;
    }
    ++outages.count;
    outages.evidence.value = line.text;
  }
  return outages;
}

/// The counters that say how often its links went down: an Ethernet netdev's is the better one, as
/// drivers of Ethernet need not count link_downed.
std::vector<std::string> counters_of_outages(const Machine& machine, std::size_t n) {
  const auto& nic = machine.node.nics[n];
  std::vector<std::string> paths;
  if (machine.has_layer(n, node::LinkLayer::ethernet)) {
    for (const auto& netdev : nic.netdevs) paths.push_back(netdev_path(netdev, kCarrierDowns));
    return paths;
  }
  for (const auto& port : nic.ports) paths.push_back(port_path(nic, port, kLinkDowned));
  return paths;
}

/// Absent where the history has none of its counters, or one look alone.
std::optional<Outages> outages_in_history(const Machine& machine, std::size_t n) {
  if (!machine.history || machine.history->looks() < 2) return std::nullopt;
  const auto& history = *machine.history;
  const auto begin = begin_of_window(history.last());
  std::optional<Outages> most;
  for (const auto& path : counters_of_outages(machine, n)) {
    const auto growth = history.growth(path, begin);
    if (!growth) continue;
    Outages outages;
    outages.count = growth->by;
    outages.within_seconds = std::min(History::kWindowSeconds, history.last() - history.first());
    outages.evidence = {
        path, "grew by " + std::to_string(growth->by) + " in " + counted(history.looks(), "look"),
        ""};
    outages.full = growth->full;
    if (!most || outages.count > most->count) most = std::move(outages);
  }
  return most;
}

void judge_flaps(const node::Nic& nic, const Outages& outages, Findings& found) {
  const auto times = counted(outages.count, "time") + " down";
  if (outages.count >= kFlaps) {
    found.warn(nic.name, times, "fewer than 3 times in 12 hours", {outages.evidence});
  } else if (outages.full) {
    found.unknown(nic.name, outages.evidence.path + " is full and counts no more",
                  {outages.evidence});
  } else {
    found.pass(nic.name, times + " in the last " + time_text(outages.within_seconds),
               {outages.evidence});
  }
}

void flaps(const Machine& machine, Findings& found) {
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.pci || !nic.registered) continue;
    const bool is_logged = machine.has_layer(n, node::LinkLayer::ethernet);
    auto outages = outages_in_history(machine, n);
    if (is_logged && machine.system.kernel_log.value) {
      auto logged = outages_in_log(machine, nic);
      if (!outages || outages->full || logged.count >= outages->count) outages = std::move(logged);
    }
    if (outages) {
      judge_flaps(nic, *outages, found);
    } else if (is_logged) {
      found.unknown(nic.name, machine.system.kernel_log);
    } else {
      found.skip(nic.name,
                 "drivers log no change of an InfiniBand port; an agent that looks "
                 "(doctor.everySeconds) counts them, and so does link.errors");
    }
  }
}

/// What was seen of a port's counters.
struct Comparison {
  std::size_t compared = 0;
  std::vector<Evidence> grown;
  std::string during;  ///< " within 10 s"
};

Comparison compare_looks(const Machine& machine, const node::Nic& nic, const node::Port& port,
                         double seconds) {
  Comparison result;
  result.during = " within " + decimal_text(seconds) + " s";
  for (const auto& counter : kFollowedCounters) {
    const auto path = port_path(nic, port, counter.file);
    const auto before = counter_in(*machine.earlier, path);
    const auto now = counter_in(machine.system, path);
    // A smaller number: it was set to 0, or went round.
    if (!before || !now || *now < *before || is_full(path, *before)) continue;
    ++result.compared;
    const auto more = static_cast<double>(*now - *before);
    if (more == 0 || more / seconds <= counter.per_second) continue;
    result.grown.push_back({path, std::to_string(*before) + " -> " + std::to_string(*now)});
  }
  return result;
}

Comparison compare_history(const History& history, const node::Nic& nic, const node::Port& port) {
  const auto since = history.last() > kSlopeSeconds ? history.last() - kSlopeSeconds : 0;
  Comparison result;
  result.during =
      " between looks of the last " + time_text(history.last() - std::max(since, history.first()));
  for (const auto& counter : kFollowedCounters) {
    const auto path = port_path(nic, port, counter.file);
    const auto growth = history.growth(path, since);
    if (!growth || growth->full) continue;
    ++result.compared;
    if (growth->by == 0 || growth->per_second <= counter.per_second) continue;
    result.grown.push_back({path,
                            std::to_string(growth->steepest_from) + " -> " +
                                std::to_string(growth->steepest_to) + " in " +
                                std::to_string(growth->steepest_seconds) + " s",
                            ""});
  }
  return result;
}

void judge_growth(const node::Nic& nic, const node::Port& port, Comparison seen, Findings& found) {
  const auto subject = port_name(nic, port);
  const Evidence counters{port_path(nic, port, "counters"), "compared"};
  if (!seen.grown.empty()) {
    const auto observed = counted(seen.grown.size(), "counter") + " grew" + seen.during;
    found.warn(subject, observed, "no growth beyond the usual", std::move(seen.grown));
  } else if (seen.compared == 0) {
    found.unknown(subject, "no counter could be compared", {{counters.path, ""}});
  } else {
    found.pass(subject, counted(seen.compared, "counter") + " did not grow" + seen.during,
               {counters});
  }
}

/// Seconds between the two looks; absent where they cannot be compared, which is said.
std::optional<double> seconds_between_looks(const Machine& machine, Findings& found) {
  const auto boot = machine.system.text(host::kBootId);
  const auto start = uptime_in(*machine.earlier);
  const auto end = uptime_in(machine.system);
  if (!start || !end) {
    found.unknown(kNode, machine.system.text("/proc/uptime"));
    return std::nullopt;
  }
  // Snapshots replace identifiers by themselves; the uptime tells a new start, too.
  if (*end <= *start || boot.value != machine.earlier->text(host::kBootId).value) {
    found.unknown(kNode, "the machine was started in between, which sets counters to 0",
                  {evidence_of(boot)});
    return std::nullopt;
  }
  return *end - *start;
}

void errors(const Machine& machine, Findings& found) {
  const bool has_history = machine.history && machine.history->looks() > 1;
  if (!machine.earlier && !has_history) {
    found.skip(kNode,
               "one look says nothing of growth: --interval TIME, --before SNAPSHOT, or an "
               "agent that looks (doctor.everySeconds)");
    return;
  }
  std::optional<double> seconds;
  if (machine.earlier) {
    seconds = seconds_between_looks(machine, found);
    if (!seconds) return;
  }
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.registered || nic.elsewhere || !nic.pci) continue;
    for (const auto& port : nic.ports) {
      if (port.link_layer == node::LinkLayer::unknown) continue;
      judge_growth(nic, port,
                   seconds ? compare_looks(machine, nic, port, *seconds)
                           : compare_history(*machine.history, nic, port),
                   found);
    }
  }
}

using system::Part;

constexpr std::array kOverTimeChecks = {
    Check{
        .id = "link.flap",
        .what = "No link of a compute or storage NIC goes down again and again.",
        .source = "the agent's history of counters/link_downed and carrier_down_count; of Ethernet "
                  "also /dev/kmsg; /proc/uptime",
        .rule = "WARN: down 3 times or more in 12 hours, the first half hour after a start left "
                "out; UNKNOWN: neither the log nor a history can be read, or link_downed is full; "
                "SKIP: InfiniBand without a history, as drivers log nothing of it",
        .effect = "each outage lets queue pairs run into retries -> jobs stall or end (status 12)",
        .remedy = "Reseat or replace cable and transceiver; see the switch port's own errors.",
        .remedy_class = RemedyClass::hardware,
        .about = "compute or storage NIC",
        .covers = "link.flap kmsg.scan",
        .after = "pci.nic-driver",
        .parts = Part::kernel_log | Part::counters,
        .look = flaps},
    Check{.id = "link.errors",
          .what = "Errors of ports do not grow between two looks.",
          .source = "/sys/class/infiniband/*/ports/*/{counters,hw_counters} now and before "
                    "(--interval, --before, or the agent's history of the last hour), "
                    "/proc/uptime, boot_id",
          .rule =
              "WARN: link_downed, excessive_buffer_overrun_errors, local_link_integrity_errors "
              "or rnr_nak_retry_err grew at all, symbol_error, port_rcv_errors or "
              "roce_slow_restart by more than 10 a second, port_xmit_discards by 100, "
              "local_ack_timeout_err by 1, link_error_recovery by 5 a minute; a counter that is "
              "full or was set back is left out; SKIP: one look alone",
          .effect =
              "a bad cable or a full buffer -> retransmissions -> the slowest rail sets the pace",
          .remedy = "symbol_error and link_error_recovery: cable and transceiver; discards and "
                    "slow_restart: congestion control (roce.ecn) and the switch's buffers; "
                    "local_ack_timeout_err: the path or the peer.",
          .remedy_class = RemedyClass::hardware,
          .about = "port of a compute or storage NIC",
          .covers = "link.counters link.flap",
          .after = "pci.nic-driver",
          .parts = Part::counters,
          .look = errors},
};

}  // namespace

std::span<const Check> over_time_checks() {
  return kOverTimeChecks;
}

}  // namespace railhead::checks
