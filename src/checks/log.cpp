// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log: a row for each kind of line that says what is broken
// (system/log_patterns.cpp). Lines are those since the machine started, as far as the kernel keeps
// them.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "checks/groups.h"

namespace railhead::checks {
namespace {

using system::LogTopic;

/// How often, and the last of them as evidence.
struct Seen {
  std::size_t count = 0;
  std::string last;
};

void add_function(const Machine& machine, const node::PciAddress& pci,
                  std::vector<std::string>& words) {
  words.push_back(pci.str());
  const auto* function = machine.node.find_pci(pci);
  if (function == nullptr) return;
  for (const auto& bridge : function->bridges) words.push_back(bridge.str());
}

/// What a line about a NIC or GPU of this machine has: an address, that of a bridge above, or the
/// driver of a NIC.
std::vector<std::string> device_words(const Machine& machine) {
  std::vector<std::string> words;
  for (const auto& nic : machine.node.nics) {
    if (nic.driver && !nic.driver->empty()) words.push_back(*nic.driver);
    if (nic.pci) add_function(machine, *nic.pci, words);
  }
  for (const auto& gpu : machine.node.gpus) add_function(machine, gpu.pci, words);
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

Seen seen_of(const Machine& machine, LogTopic topic) {
  const auto words = device_words(machine);
  Seen seen;
  for (const auto& line : *machine.system.kernel_log.value) {
    if (line.pattern == nullptr || line.pattern->topic != topic) continue;
    const bool is_ours =
        !line.pattern->names_device || std::ranges::any_of(words, [&](const std::string& word) {
          return line.text.find(word) != std::string::npos;
        });
    if (!is_ours) continue;
    ++seen.count;
    seen.last = line.text;
  }
  return seen;
}

enum class Severity : std::uint8_t { warn, fail };

/// The function of a check: no line of this topic.
template <LogTopic topic, Severity severity = Severity::warn>
void scan(const Machine& machine, Findings& found) {
  const auto& log = machine.system.kernel_log;
  if (!found.knows(kNode, log)) return;
  const auto seen = seen_of(machine, topic);
  if (seen.count == 0) {
    found.pass(kNode, "no such line among " + std::to_string(log.value->size()),
               {{log.path, std::to_string(log.value->size()) + " lines"}});
    return;
  }
  const auto observed = counted(seen.count, "line");
  const std::vector<Evidence> evidence = {{log.path, seen.last}};
  if constexpr (severity == Severity::fail) {
    found.fail(kNode, observed, "none", evidence);
  } else {
    found.warn(kNode, observed, "none", evidence);
  }
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
  const auto restricted = seen_of(machine, LogTopic::restricted);
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
          .rule = "FAIL: health compromised, a health issue of severity EMERGENCY to ERROR, "
                  "unrecoverable hardware error, or a command that leaks; UNKNOWN: the log cannot "
                  "be read",
          .effect = "the device is dead until it is reset -> jobs on it hang",
          .remedy = "Drain the node and reset it by power; if it comes back, replace the card.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::firmware, Severity::fail>},
    Check{.id = "log.optics",
          .what = "No transceiver has reported heat or an error.",
          .source = "/dev/kmsg",
          .rule = "WARN: a port module event of that kind",
          .effect = "the link drops or runs with errors",
          .remedy = "Check cooling, then replace the transceiver or cable that the line names.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::optics>},
    Check{.id = "log.power",
          .what = "Slots give the cards the power that they need.",
          .source = "/dev/kmsg",
          .rule = "WARN: mlx5 detected insufficient power",
          .effect = "the card limits itself, or resets under load",
          .remedy = "Connect the card's auxiliary power, or use another slot.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::power>},
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
          .parts = Part::kernel_log,
          .look = scan<LogTopic::peermem>},
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
          .look = scan<LogTopic::dmabuf>},
    Check{.id = "log.iommu",
          .what = "The IOMMU has not stopped a transfer.",
          .source = "/dev/kmsg",
          .rule = "WARN: a line of DMAR, IO_PAGE_FAULT or the SMMU",
          .effect = "peer-to-peer transfers die",
          .remedy = "Boot with iommu=pt; see pci.acs.",
          .remedy_class = RemedyClass::reboot,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::iommu>},
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
        .look = scan<LogTopic::aer>},
    Check{.id = "log.driver",
          .what = "RDMA drivers came up, and none of their queues stands still.",
          .source = "/dev/kmsg",
          .rule = "WARN: mlx5 failed to start a function, a module misses a symbol (ib_, rdma_, "
                  "mlx5_), a port could not be opened, or a transmit queue timed out (NETDEV "
                  "WATCHDOG); UNKNOWN: the log cannot be read",
          .effect = "a NIC without an RDMA device, or one that stops for seconds -> jobs hang",
          .remedy = "A symbol: modules of two stacks are mixed; install one and start again. A "
                    "function that failed: reload mlx5_core, update its firmware. A queue: "
                    "update driver and firmware, and look at log.firmware.",
          .remedy_class = RemedyClass::reboot,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::driver>},
    Check{.id = "log.pinning",
          .what = "The kernel has pinned all memory that was registered.",
          .source = "/dev/kmsg",
          .rule = "WARN: ib_umem_get failed, or umem get of mlx5; UNKNOWN: the log cannot be read",
          .effect = "ibv_reg_mr fails (ENOMEM) -> the job ends, or goes on over TCP",
          .remedy =
              "Raise the memory lock (runtime.memlock, pod.memlock); where that is unlimited, "
              "free memory is short.",
          .remedy_class = RemedyClass::restart,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::pinning>},
    Check{.id = "log.gpu",
          .what = "No GPU has fallen off its bus, and NVLink has no error.",
          .source = "/dev/kmsg",
          .rule = "WARN: Xid 74, 79, 121 or 144 to 150, or a fatal SXid of an NVSwitch; UNKNOWN: "
                  "the log cannot be read",
          .effect = "traffic between GPUs takes the NICs, or stops -> collectives hang or are slow",
          .remedy =
              "Drain the node and reset the GPU that the line names; for 79 start the machine "
              "anew. Where it comes back, replace it.",
          .remedy_class = RemedyClass::hardware,
          .about = "line",
          .covers = "kmsg.scan",
          .parts = Part::kernel_log,
          .look = scan<LogTopic::gpu>},
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
