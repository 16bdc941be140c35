// SPDX-License-Identifier: Apache-2.0
//
// What one look at a link cannot say: how often it went down, and whether its errors grow.
#include <algorithm>
#include <array>

#include "base/absent.h"
#include "base/text.h"
#include "checks/groups.h"
#include "system/counters.h"
#include "usage/processes.h"

namespace railhead::checks {
namespace {

constexpr std::uint64_t kSecondUsec = 1'000'000;
constexpr std::uint64_t kBootUsec = 30UL * 60 * kSecondUsec;  ///< links come and go at a start
constexpr std::uint64_t kWindowUsec = 12UL * 3600 * kSecondUsec;
constexpr std::size_t kFlaps = 3;

/// Of the text of /proc/uptime.
std::optional<double> uptime_in(const system::System& system) {
  const auto text = system.text("/proc/uptime");
  if (!text.value) return std::nullopt;
  const auto hundredths = usage::parse_uptime(*text.value);
  if (!hundredths) return std::nullopt;
  return static_cast<double>(*hundredths) / 100;
}

/// Now, on the clock of the kernel's log; without /proc/uptime the time of its last line.
std::uint64_t end_of_log(const Machine& machine, const std::vector<system::LogLine>& lines) {
  if (const auto uptime = uptime_in(machine.system)) {
    return static_cast<std::uint64_t>(*uptime * static_cast<double>(kSecondUsec));
  }
  return lines.empty() ? 0 : lines.back().usec;
}

void judge_flaps(const Machine& machine, const node::Nic& nic, Findings& found) {
  const auto& log = machine.system.kernel_log;
  const auto end = end_of_log(machine, *log.value);
  const auto begin = std::max(kBootUsec, end > kWindowUsec ? end - kWindowUsec : 0);
  std::size_t count = 0;
  std::string last;
  for (const auto& line : *log.value) {
    if (line.usec < begin || line.usec > end ||
        !system::says_link_down(line.text, nic.pci->str())) {
      continue;
    }
    ++count;
    last = line.text;
  }
  const auto observed = counted(count, "time") + " down";
  if (count >= kFlaps) {
    found.warn(nic.name, observed, "fewer than 3 times in 12 hours", {{log.path, last, ""}});
  } else {
    found.pass(nic.name, observed + " in the last 12 hours",
               {{log.path, std::to_string(log.value->size()) + " lines", ""}});
  }
}

void flaps(const Machine& machine, Findings& found) {
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.pci || !nic.registered) continue;
    if (!machine.has_layer(n, node::LinkLayer::ethernet)) {
      found.skip(nic.name, "drivers log no change of an InfiniBand port; link.errors counts them");
    } else if (!machine.system.kernel_log.value) {
      found.unknown(nic.name, machine.system.kernel_log);
    } else {
      judge_flaps(machine, nic, found);
    }
  }
}

/// A counter, and from what growth on it is a fault. Values: NVIDIA/NVSentinel
/// docs/nic-health-monitor.md.
struct Growth {
  std::string_view file;
  double per_second;  ///< more than this; 0: any
};

constexpr std::array kGrowths = {
    Growth{"counters/link_downed", 0},
    Growth{"counters/excessive_buffer_overrun_errors", 0},
    Growth{"counters/local_link_integrity_errors", 0},
    Growth{"counters/symbol_error", 10},
    Growth{"counters/link_error_recovery", 5.0 / 60},
    Growth{"counters/port_rcv_errors", 10},
    Growth{"counters/port_xmit_discards", 100},
    Growth{"hw_counters/local_ack_timeout_err", 1},
    Growth{"hw_counters/rnr_nak_retry_err", 0},
    Growth{"hw_counters/roce_slow_restart", 10},
};

/// Whether the counter does not count any more.
bool is_full(std::string_view file, std::uint64_t value) {
  const auto& all = system::kPmaCounters;
  return std::any_of(all.begin(), all.end(), [&](const system::PmaCounter& counter) {
    return counter.full == value && file == "counters/" + std::string(counter.name);
  });
}

std::optional<std::uint64_t> counter_in(const system::System& system, const std::string& path) {
  const auto text = system.text(path);
  return text.value ? or_absent(parse_unsigned(*text.value)) : std::nullopt;
}

void judge_growth(const Machine& machine, const node::Nic& nic, const node::Port& port,
                  double seconds, Findings& found) {
  std::vector<Evidence> grown;
  std::size_t compared = 0;
  for (const auto& growth : kGrowths) {
    const auto path = port_path(nic, port, growth.file);
    const auto before = counter_in(*machine.earlier, path);
    const auto now = counter_in(machine.system, path);
    // A smaller number: it was set to 0, or went round.
    if (!before || !now || *now < *before || is_full(growth.file, *before)) continue;
    ++compared;
    const auto more = static_cast<double>(*now - *before);
    if (more == 0 || more / seconds <= growth.per_second) continue;
    grown.push_back({path, std::to_string(*before) + " -> " + std::to_string(*now), ""});
  }
  const auto subject = port_name(nic, port);
  const auto during = " within " + decimal_text(seconds) + " s";
  if (!grown.empty()) {
    const auto observed = counted(grown.size(), "counter") + " grew" + during;
    found.warn(subject, observed, "no growth beyond the usual", std::move(grown));
  } else if (compared == 0) {
    found.unknown(subject, "no counter could be compared",
                  {{port_path(nic, port, "counters"), "", ""}});
  } else {
    found.pass(subject, counted(compared, "counter") + " did not grow" + during,
               {{port_path(nic, port, "counters"), "compared", ""}});
  }
}

void errors(const Machine& machine, Findings& found) {
  if (!machine.earlier) {
    found.skip(kNode, "one look says nothing of growth: --interval SECONDS, or --before SNAPSHOT");
    return;
  }
  constexpr const char* kBoot = "/proc/sys/kernel/random/boot_id";
  const auto boot = machine.system.text(kBoot);
  const auto start = uptime_in(*machine.earlier);
  const auto end = uptime_in(machine.system);
  if (!start || !end) {
    found.unknown(kNode, machine.system.text("/proc/uptime"));
    return;
  }
  // Snapshots replace identifiers by themselves; the uptime tells a new start, too.
  if (*end <= *start || boot.value != machine.earlier->text(kBoot).value) {
    found.unknown(kNode, "the machine was started in between, which sets counters to 0",
                  {evidence_of(boot)});
    return;
  }
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.registered || nic.elsewhere || !nic.pci) continue;
    for (const auto& port : nic.ports) {
      if (port.link_layer == node::LinkLayer::unknown) continue;
      judge_growth(machine, nic, port, *end - *start, found);
    }
  }
}

using system::Part;

constexpr std::array kOverTimeChecks = {
    Check{
        .id = "link.flap",
        .what = "No Ethernet link of a compute or storage NIC goes down again and again.",
        .source = "/dev/kmsg, /proc/uptime",
        .rule = "WARN: down 3 times or more in 12 hours, the first half hour after a start left "
                "out; UNKNOWN: the log cannot be read; SKIP: InfiniBand, of which drivers log "
                "nothing",
        .effect = "each outage lets queue pairs run into retries -> jobs stall or end (status 12)",
        .remedy = "Reseat or replace cable and transceiver; see the switch port's own errors.",
        .remedy_class = RemedyClass::hardware,
        .about = "Ethernet port of a compute or storage NIC",
        .covers = "link.flap kmsg.scan",
        .after = "pci.nic-driver",
        .parts = Part::kernel_log,
        .look = flaps},
    Check{.id = "link.errors",
          .what = "Errors of ports do not grow between two looks.",
          .source = "/sys/class/infiniband/*/ports/*/{counters,hw_counters}, /proc/uptime, boot_id",
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
