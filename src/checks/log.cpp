// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log: a row for each kind of line that says what is broken. Lines are those since the
// machine started, as far as the kernel keeps them.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "checks/groups.h"

namespace railhead::checks {
namespace {

/// Lines in which all these words stand.
struct Pattern {
  std::array<std::string_view, 2> words;

  [[nodiscard]] bool matches(std::string_view line) const {
    return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
      return line.find(word) != std::string_view::npos;
    });
  }
};

/// How often, and the last of them as evidence.
struct Seen {
  std::size_t count = 0;
  std::string last;
};

template <typename Patterns>
Seen seen_in(const std::vector<system::LogLine>& lines, const Patterns& patterns) {
  Seen seen;
  for (const auto& line : lines) {
    const bool matches = std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& pattern) {
      return pattern.matches(line.text);
    });
    if (!matches) continue;
    ++seen.count;
    seen.last = line.text;
  }
  return seen;
}

enum class Severity : std::uint8_t { warn, fail };

template <typename Patterns>
void scan(const Machine& machine, Findings& found, const Patterns& patterns, Severity severity) {
  const auto& log = machine.system.kernel_log;
  if (!log.value) {
    found.unknown(kNode, log);
    return;
  }
  const auto seen = seen_in(*log.value, patterns);
  if (seen.count == 0) {
    found.pass(kNode, "no such line among " + std::to_string(log.value->size()),
               {{log.path, std::to_string(log.value->size()) + " lines", ""}});
    return;
  }
  const auto observed = counted(seen.count, "line");
  const std::vector<Evidence> evidence = {{log.path, seen.last, ""}};
  if (severity == Severity::fail) {
    found.fail(kNode, observed, "none", evidence);
  } else {
    found.warn(kNode, observed, "none", evidence);
  }
}

// Patterns: leptonai/gpud (kmsg matchers), NVIDIA/NVSentinel docs/nic-health-monitor.md, imbue-ai
// cluster-health; texts of mlx5: Linux
// drivers/net/ethernet/mellanox/mlx5/core/{health,cmd,events}.c
constexpr std::array kFirmware = {
    Pattern{{"device's health compromised", ""}},
    Pattern{{"unrecoverable hardware error", ""}},
    Pattern{{"Will cause a leak of a command resource", ""}},
};
constexpr std::array kOptics = {
    Pattern{{"Port module event", "High Temperature"}},
    Pattern{{"Port module event", "error"}},
};
constexpr std::array kPower = {
    Pattern{{"Detected insufficient power on the PCIe slot", ""}},
};
constexpr std::array kRestricted = {
    Pattern{{"ACCESS_REG", "failed"}},
};
constexpr std::array kPeermem = {
    Pattern{{"nvidia-peermem", "invalid context"}},
    Pattern{{"ib_register_peer_memory_client", ""}},
};
constexpr std::array kDmaBuf = {
    Pattern{{"dma-buf attach failed", ""}},
};
constexpr std::array kIommuFaults = {
    Pattern{{"IO_PAGE_FAULT", ""}},
    Pattern{{"DMAR:", "fault addr"}},
};

void firmware(const Machine& machine, Findings& found) {
  scan(machine, found, kFirmware, Severity::fail);
}

void optics(const Machine& machine, Findings& found) {
  scan(machine, found, kOptics, Severity::warn);
}

void power(const Machine& machine, Findings& found) {
  scan(machine, found, kPower, Severity::warn);
}

void peermem_lines(const Machine& machine, Findings& found) {
  scan(machine, found, kPeermem, Severity::warn);
}

void dmabuf_lines(const Machine& machine, Findings& found) {
  scan(machine, found, kDmaBuf, Severity::warn);
}

void iommu_faults(const Machine& machine, Findings& found) {
  scan(machine, found, kIommuFaults, Severity::warn);
}

constexpr std::size_t kFloodPerMinute = 60;

/// The most lines of mlx5 within a minute.
std::size_t busiest_minute(const std::vector<system::LogLine>& lines) {
  constexpr std::uint64_t kMinuteUsec = 60'000'000;
  std::vector<std::uint64_t> times;
  for (const auto& line : lines) {
    if (line.usec != 0 && line.text.find("mlx5") != std::string::npos) times.push_back(line.usec);
  }
  std::sort(times.begin(), times.end());
  std::size_t most = 0;
  for (std::size_t first = 0, at = 0; at < times.size(); ++at) {
    while (times[at] - times[first] > kMinuteUsec) ++first;
    most = std::max(most, at - first + 1);
  }
  return most;
}

/// A driver that comes up says a few lines for each function: a flood repeats itself.
void flood(const Machine& machine, Findings& found) {
  const auto& log = machine.system.kernel_log;
  if (!log.value) {
    found.unknown(kNode, log);
    return;
  }
  const auto restricted = seen_in(*log.value, kRestricted);
  const auto most = busiest_minute(*log.value);
  const auto limit = kFloodPerMinute + 32 * machine.node.nics.size();
  const auto observed = std::to_string(most) + " lines of mlx5 in a minute, " +
                        std::to_string(restricted.count) + " of ACCESS_REG";
  const Evidence evidence{log.path, restricted.count > 0 ? restricted.last : observed, ""};
  if (most > limit || restricted.count > kFloodPerMinute) {
    found.warn(kNode, observed, "at most " + std::to_string(limit), {evidence});
  } else {
    found.pass(kNode, observed, {evidence});
  }
}

using system::Part;

constexpr std::array kLogChecks = {
    Check{.id = "log.firmware",
          .what = "No NIC's firmware has died since the machine started.",
          .source = "/dev/kmsg",
          .rule =
              "FAIL: health compromised, unrecoverable hardware error, or a command that leaks; "
              "UNKNOWN: the log cannot be read",
          .effect = "the device is dead until it is reset -> jobs on it hang",
          .remedy = "Drain the node and reset it by power; if it comes back, replace the card.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .after = "",
          .parts = Part::kernel_log,
          .look = firmware},
    Check{.id = "log.optics",
          .what = "No transceiver has reported heat or an error.",
          .source = "/dev/kmsg",
          .rule = "WARN: a port module event of that kind",
          .effect = "the link drops or runs with errors",
          .remedy = "Check cooling, then replace the transceiver or cable that the line names.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .after = "",
          .parts = Part::kernel_log,
          .look = optics},
    Check{.id = "log.power",
          .what = "Slots give the cards the power that they need.",
          .source = "/dev/kmsg",
          .rule = "WARN: mlx5 detected insufficient power",
          .effect = "the card limits itself, or resets under load",
          .remedy = "Connect the card's auxiliary power, or use another slot.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .after = "",
          .parts = Part::kernel_log,
          .look = power},
    Check{.id = "log.peermem",
          .what = "nvidia_peermem fits the driver stack that is loaded.",
          .source = "/dev/kmsg",
          .rule = "WARN: it lacks OFED's symbols, or sees an invalid context",
          .effect = "modprobe says Invalid argument, and GPUDirect by that way is off",
          .remedy =
              "Reload nvidia_peermem after OFED (restart the driver's pod once OFED is ready), "
              "or go by DMA-BUF.",
          .remedy_class = RemedyClass::cluster,
          .about = "line",
          .covers = "kmsg.scan D34",
          .after = "",
          .parts = Part::kernel_log,
          .look = peermem_lines},
    Check{.id = "log.dmabuf",
          .what = "The GPU's driver has not refused a NIC its memory.",
          .source = "/dev/kmsg",
          .rule = "WARN: dma-buf attach failed",
          .effect = "ibv_reg_dmabuf_mr fails with 524 for this pair",
          .remedy = "Use the NIC that is the GPU's sibling; on Grace both need one IOMMU group.",
          .remedy_class = RemedyClass::cluster,
          .about = "line",
          .covers = "kmsg.scan",
          .after = "",
          .parts = Part::kernel_log,
          .look = dmabuf_lines},
    Check{.id = "log.iommu",
          .what = "The IOMMU has not stopped a transfer.",
          .source = "/dev/kmsg",
          .rule = "WARN: a DMAR or IO_PAGE_FAULT line",
          .effect = "peer-to-peer transfers die",
          .remedy = "Boot with iommu=pt; see pci.acs.",
          .remedy_class = RemedyClass::reboot,
          .about = "line",
          .covers = "kmsg.scan",
          .after = "",
          .parts = Part::kernel_log,
          .look = iommu_faults},
    Check{
        .id = "log.flood",
        .what = "The driver does not fill the log.",
        .source = "/dev/kmsg",
        .rule = "WARN: more than 60 lines of ACCESS_REG that failed, or more than 60 lines of mlx5 "
                "and 32 for each NIC within a minute",
        .effect = "the log fills the system's disk -> the node goes down for hours",
        .remedy = "Find who reads counters of a restricted function (node_exporter, gpud) and stop "
                  "it; limit the size of the journal; roll OFED back if it began with it.",
        .remedy_class = RemedyClass::restart,
        .about = "line",
        .covers = "kmsg.scan C10",
        .after = "",
        .parts = Part::kernel_log,
        .look = flood},
};

}  // namespace

std::span<const Check> log_checks() {
  return kLogChecks;
}

}  // namespace railhead::checks
