// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log: a row for each kind of line that says what is broken
// (system/log_patterns.cpp). Lines are those since the machine started, as far as the kernel keeps
// them.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "checks/groups.h"
#include "checks/log_causes.h"
#include "node/rdma_models.h"

namespace railhead::checks {
namespace {

using system::LogLine;
using system::Named;

/// Whose functions a line may be about.
struct Ours {
  std::set<node::PciAddress> endpoints;  ///< NICs, their virtual functions, GPUs
  std::set<node::PciAddress> bridges;    ///< above them
  std::set<std::string> drivers;         ///< of NICs
};

void add_function(const Machine& machine, const node::PciAddress& pci, Ours& ours) {
  ours.endpoints.insert(pci);
  const auto* function = machine.node.find_pci(pci);
  if (function != nullptr) ours.bridges.insert(function->bridges.begin(), function->bridges.end());
}

Ours ours_of(const Machine& machine) {
  Ours ours;
  for (const auto& nic : machine.node.nics) {
    if (nic.driver && !nic.driver->empty()) ours.drivers.insert(*nic.driver);
    if (nic.pci) add_function(machine, *nic.pci, ours);
  }
  for (const auto& gpu : machine.node.gpus) add_function(machine, gpu.pci, ours);
  for (const auto& function : machine.node.pci) {
    if (function.physfn && ours.endpoints.contains(*function.physfn)) {
      ours.endpoints.insert(function.address);
    }
  }
  return ours;
}

/// "NETDEV WATCHDOG: ens1 (mlx5_core): …", "mlx5_core 0000:18:00.0 ens1: NETDEV WATCHDOG: …"
bool names_driver(const std::string& line, const Ours& ours) {
  if (ours.drivers.contains(std::string(system::writer_of(line)))) return true;
  return std::ranges::any_of(ours.drivers, [&](const std::string& driver) {
    return line.find("(" + driver + ")") != std::string::npos;
  });
}

/// The addresses that say whom a line is about.
std::vector<node::PciAddress> addresses_of(const LogLine& line) {
  const std::string_view text = line.text;
  const auto behind = line.pattern->names_behind;
  if (!behind.empty()) {
    auto named = system::addresses_in(text.substr(text.find(behind)));
    if (!named.empty()) return named;
  }
  return system::addresses_in(text);
}

bool is_about_us(const LogLine& line, const Ours& ours) {
  if (line.pattern->named == Named::anyone) return true;
  const bool ours_is_named =
      std::ranges::any_of(addresses_of(line), [&](const node::PciAddress& address) {
        return ours.endpoints.contains(address) ||
               (line.pattern->named == Named::path && ours.bridges.contains(address));
      });
  return ours_is_named || (line.pattern->names_behind.empty() && names_driver(line.text, ours));
}

/// Lines of one cause, of a failed command those of one command and status.
struct Seen {
  const LogCauseRow* row = nullptr;
  std::string detail;  ///< "CREATE_MKEY: no resources"; "" where the cause says all
  std::size_t count = 0;
  std::string last{};
};

std::string detail_of(const LogLine& line) {
  if (line.pattern->commands.empty()) return "";
  const auto failed = system::failed_command(line.text);
  return failed ? std::string(failed->command) + ": " + std::string(failed->status) : "";
}

/// What is known of these lines, made where it is new; nullptr where there is no room for one more
/// detail. A log that somebody hands in may have a command of its own in each line.
Seen* find_seen(std::vector<Seen>& all, const LogCauseRow& row, const std::string& detail) {
  constexpr std::size_t kMostDetails = 16;
  auto* known =
      find_where(all, [&](const Seen& one) { return one.row == &row && one.detail == detail; });
  if (known != nullptr) return known;
  if (!detail.empty() && all.size() >= kMostDetails) return nullptr;
  return &all.emplace_back(Seen{&row, detail});
}

/// In the order in which they came first, the worst state first.
std::vector<Seen> seen_of(const Machine& machine, LogTopic topic) {
  const auto ours = ours_of(machine);
  std::vector<Seen> all;
  for (const auto& line : *machine.system.kernel_log.value) {
    if (line.pattern == nullptr) continue;
    const auto& row = row_of(line.pattern->cause);
    if (row.topic != topic || !is_about_us(line, ours)) continue;
    auto* known = find_seen(all, row, detail_of(line));
    if (known == nullptr) known = find_seen(all, row, "");
    ++known->count;
    known->last = line.text;
  }
  std::ranges::stable_sort(all, {}, [](const Seen& one) {
    constexpr std::array kWorstFirst = {State::fail, State::warn, State::unknown, State::pass};
    return std::ranges::find(kWorstFirst, one.row->state);
  });
  return all;
}

std::string text_of(const Seen& seen) {
  const auto detail = seen.detail.empty() ? "" : " (" + seen.detail + ")";
  return counted(seen.count, "line") + ": " + std::string(seen.row->name) + detail;
}

void say(const Seen& seen, const std::string& path, Findings& found) {
  const std::vector<Evidence> evidence = {{path, seen.last}};
  if (seen.row->state == State::unknown) {
    found.unknown(kNode, text_of(seen), evidence);
    return;
  }
  auto& finding = seen.row->state == State::fail
                      ? found.fail(kNode, text_of(seen), "none", evidence)
                      : found.warn(kNode, text_of(seen), "none", evidence);
  finding.effect = seen.row->effect;
  finding.remedy = seen.row->remedy;
  finding.remedy_class = seen.row->remedy_class;
}

/// The drivers whose lines a check would have to know, each once.
std::set<std::string> drivers_of(const Machine& machine) {
  std::set<std::string> drivers;
  for (const auto& nic : machine.node.nics) {
    const bool has_rdma = nic.registered || nic.elsewhere;
    if (has_rdma && nic.pci && nic.driver && !nic.driver->empty()) drivers.insert(*nic.driver);
  }
  return drivers;
}

/// Whether a row is for what a driver or its RDMA module writes: of one topic, or of any.
bool has_row(std::string_view driver, std::optional<LogTopic> topic) {
  const auto module = node::rdma_module_of(driver);
  return std::ranges::any_of(system::log_patterns(), [&](const system::LogPattern& pattern) {
    const bool is_own = system::is_of(pattern, driver) || system::is_of(pattern, module);
    return is_own && system::is_of_one_driver(pattern) &&
           (!topic || row_of(pattern.cause).topic == *topic);
  });
}

/// Whether the drivers of this machine's NICs would be understood. What a driver without any row
/// writes, nobody knows; one without a row of this topic writes nothing of it.
bool knows_drivers(const Machine& machine, LogTopic topic, bool has_lines, Findings& found) {
  std::vector<std::string> silent;
  bool knows_one = false;
  bool knows_all = true;
  for (const auto& driver : drivers_of(machine)) {
    if (has_row(driver, topic)) {
      knows_one = true;
    } else if (has_row(driver, std::nullopt)) {
      silent.push_back(driver);
    } else {
      knows_all = false;
      found.unknown(driver, "no row for this driver: what it writes is not known",
                    {{machine.system.kernel_log.path, ""}});
    }
  }
  if (!silent.empty() && !knows_one && !has_lines) {
    found.skip(kNode, "no row for this driver: " + join(silent, ", ") + " writes no such line");
  }
  return knows_one || (knows_all && silent.empty());
}

/// The function of a check: no line of this topic. `of_driver`: such lines are written by the
/// drivers of NICs, each in its own words.
template <LogTopic topic, bool of_driver>
void scan(const Machine& machine, Findings& found) {
  const auto& log = machine.system.kernel_log;
  if (!found.knows(kNode, log)) return;
  const auto seen = seen_of(machine, topic);
  const auto is_harmless = [](const Seen& one) { return one.row->state == State::pass; };
  for (const auto& one : seen) {
    if (!is_harmless(one)) say(one, log.path, found);
  }
  const bool has_lines = !std::ranges::all_of(seen, is_harmless);
  const bool is_known = !of_driver || knows_drivers(machine, topic, has_lines, found);
  if (!is_known || has_lines) return;
  auto observed = "no such line among " + std::to_string(log.value->size());
  std::vector<Evidence> evidence = {{log.path, std::to_string(log.value->size()) + " lines"}};
  for (const auto& one : seen) {
    observed += "; " + text_of(one) + " (" + std::string(one.row->effect) + ")";
    evidence.push_back({log.path, one.last});
  }
  found.pass(kNode, observed, evidence);
}

constexpr std::size_t kFloodPerMinute = 60;

/// The most lines of mlx5 within a minute.
std::size_t busiest_minute(const std::vector<system::LogLine>& lines) {
  constexpr std::uint64_t kMinuteUsec = 60'000'000;
  std::vector<std::uint64_t> times;
  for (const auto& line : lines) {
    if (line.usec != 0 && line.text.find("mlx5") != std::string::npos) times.push_back(line.usec);
  }
  std::ranges::sort(times);
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
  if (!found.knows(kNode, log)) return;
  const auto seen = seen_of(machine, LogTopic::restricted);
  const auto restricted = seen.empty() ? Seen{} : seen.front();
  const auto most = busiest_minute(*log.value);
  const auto limit = kFloodPerMinute + 32 * machine.node.nics.size();
  const auto observed = std::to_string(most) + " lines of mlx5 in a minute, " +
                        std::to_string(restricted.count) + " of ACCESS_REG";
  const Evidence evidence{log.path, restricted.count > 0 ? restricted.last : observed};
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
          .rule = "FAIL: the driver says that firmware died (health compromised, a health issue of "
                  "severity EMERGENCY to ERROR, a fatal condition, a critical error) or does not "
                  "answer a command; WARN: no place for a command; UNKNOWN: the log cannot be "
                  "read, or no row knows a NIC's driver; SKIP: that driver writes no such line",
          .effect = "the device is dead until it is reset -> jobs on it hang",
          .remedy = "Drain the node and reset it by power; if it comes back, replace the card.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::firmware, true>},
    Check{.id = "log.optics",
          .what = "No transceiver has reported heat or an error.",
          .source = "/dev/kmsg",
          .rule =
              "WARN: a port module event of that kind, a module that is refused, or a sensor of "
              "the NIC; UNKNOWN, SKIP: as log.firmware",
          .effect = "the link drops or runs with errors",
          .remedy = "Check cooling, then replace the transceiver or cable that the line names.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::optics, true>},
    Check{.id = "log.power",
          .what = "Slots give the cards the power that they need.",
          .source = "/dev/kmsg",
          .rule = "WARN: mlx5 detected insufficient power; UNKNOWN, SKIP: as log.firmware",
          .effect = "the card limits itself, or resets under load",
          .remedy = "Connect the card's auxiliary power, or use another slot.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::power, true>},
    Check{.id = "log.peermem",
          .what = "nvidia_peermem fits the driver stack that is loaded.",
          .source = "/dev/kmsg",
          .rule = "WARN: it lacks symbols of OFED or of NVIDIA's driver; an invalid context is "
                  "harmless (the driver's way around a fault of its own until R560)",
          .effect = "modprobe says Invalid argument, and GPUDirect by that way is off",
          .remedy =
              "Reload nvidia_peermem after OFED (restart the driver's pod once OFED is ready), "
              "or go by DMA-BUF.",
          .remedy_class = RemedyClass::cluster,
          .about = "line",
          .covers = "kmsg.scan D34",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::peermem, false>},
    Check{.id = "log.dmabuf",
          .what = "The GPU's driver has not refused a NIC its memory.",
          .source = "/dev/kmsg",
          .rule = "WARN: dma-buf attach failed",
          .effect = "ibv_reg_dmabuf_mr fails with 524 for this pair",
          .remedy = "Use the NIC that is the GPU's sibling; on Grace both need one IOMMU group.",
          .remedy_class = RemedyClass::cluster,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::dmabuf, false>},
    Check{.id = "log.iommu",
          .what = "The IOMMU has not stopped a transfer.",
          .source = "/dev/kmsg",
          .rule = "WARN: a line of DMAR, IO_PAGE_FAULT or the SMMU that names a function of a NIC "
                  "or GPU; UNKNOWN: one of the SMMU that names none",
          .effect = "peer-to-peer transfers die",
          .remedy = "Boot with iommu=pt; see pci.acs.",
          .remedy_class = RemedyClass::reboot,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::iommu, false>},
    Check{
        .id = "log.aer",
        .what = "PCIe has reported no uncorrected error of a NIC, a GPU or a bridge above them.",
        .source = "/dev/kmsg",
        .rule = "WARN: a PCIe Bus Error of severity Uncorrected, or a device that did not recover; "
                "UNKNOWN: the log cannot be read",
        .effect = "transfers were lost; a device that did not recover is dead until the next start",
        .remedy = "Reseat the card or its riser; where it comes back, replace it. pci.aer has the "
                  "counts, pci.link the width that is left.",
        .remedy_class = RemedyClass::hardware,
        .about = "line",
        .covers = "kmsg.scan pci.aer",
        .parts = Part::kernel_log,
        .look = scan<LogTopic::aer, false>},
    Check{.id = "log.driver",
          .what = "RDMA drivers came up, and none of their queues stands still.",
          .source = "/dev/kmsg",
          .rule = "WARN: a driver failed to start a function, ice is in safe mode, a module of an "
                  "RDMA NIC misses a symbol, a port could not be opened, or a transmit queue timed "
                  "out (NETDEV WATCHDOG); UNKNOWN, SKIP: as log.firmware",
          .effect = "a NIC without an RDMA device, or one that stops for seconds -> jobs hang",
          .remedy = "A symbol: modules of two stacks are mixed; install one and start again. A "
                    "function that failed: reload mlx5_core, update its firmware. A queue: "
                    "update driver and firmware, and look at log.firmware.",
          .remedy_class = RemedyClass::reboot,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::driver, true>},
    Check{.id = "log.pinning",
          .what = "The kernel has pinned all memory that was registered.",
          .source = "/dev/kmsg",
          .rule =
              "WARN: ib_umem_get failed, or umem get of mlx5 or bnxt_re, by its errno; UNKNOWN, "
              "SKIP: as log.firmware",
          .effect = "ibv_reg_mr fails -> the job ends, or goes on over TCP",
          .remedy = "ENOMEM: raise the memory lock (runtime.memlock, pod.memlock). EFAULT: the "
                    "memory is a GPU's and no peermem module took it (gdr.route).",
          .remedy_class = RemedyClass::restart,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::pinning, true>},
    Check{.id = "log.refused",
          .what = "No NIC has refused to make a memory key, a queue or a connection.",
          .source = "/dev/kmsg",
          .rule = "WARN: a command of mlx5 failed (no resources, limits exceeded, bad parameter…), "
                  "or another driver says that a limit is reached; UNKNOWN, SKIP: as log.firmware",
          .effect = "ibv_reg_mr, ibv_create_qp or ibv_modify_qp fails whatever the memory lock is",
          .remedy = "By command and status: used-up keys come back with a reset of the device, a "
                    "region that is too large is split, a connection needs the peer's GID and MTU.",
          .remedy_class = RemedyClass::restart,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::refused, true>},
    Check{.id = "log.gpu",
          .what = "No GPU has failed or fallen off its bus, and NVLink has no error.",
          .source = "/dev/kmsg",
          .rule = "WARN: Xid 48, 64, 74, 79, 95, 119 to 121, 140 or 144 to 150, a fatal SXid of an "
                  "NVSwitch, a GPU of AMD that was reset or lost; UNKNOWN: the log cannot be read",
          .effect = "traffic between GPUs takes the NICs, or stops -> collectives hang or are slow",
          .remedy =
              "Drain the node and reset the GPU that the line names; for 79 start the machine "
              "anew. Where it comes back, replace it.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::gpu, false>},
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
        .parts = Part::kernel_log,
        .look = flood},
};

}  // namespace

std::span<const Check> log_checks() {
  return kLogChecks;
}

}  // namespace railhead::checks
