// SPDX-License-Identifier: Apache-2.0
//
// Which words of the kernel's log a recording keeps. A line may have names of hosts, users, files
// and processes, addresses and serial numbers, and no form tells all of them from other words: so
// words are kept that drivers of NICs and GPUs and what they stand on are known to write.
#include <algorithm>
#include <array>
#include <set>

#include "base/contains.h"
#include "base/text.h"
#include "node/pci.h"
#include "system/kept_files.h"
#include "system/log_patterns.h"

namespace railhead::system {
namespace {

constexpr std::string_view kWords =
    "a abort aborted aborting about above access ack active adapter add addr address admin "
    "advisory aeq aer after ah alert alloc allocate amd amdgpu an and any aq are arm as assert "
    "async at attach attached attempt attention auto autoneg available bad bandwidth bar bars be "
    "be2net because been before begin below best between bit bnxt board boot bridge buf buffer "
    "buffers bus busy button by c2c cable callback callra can't cannot capable card cass cause "
    "ch change changed channel channels check chip cleared client close closed cm cmd cmdq cnp "
    "code codes command commands completer completion completions complex compromised condition "
    "config consumer containment context control core correctable corrected could couldn't count "
    "counter counters cpu cpus cq cqs create critical ctrl ctx cxgb4 cxi data dcb dct ddp dead "
    "dealloc debug destroy detached detected dev devcmd device device's devices devm didn't "
    "disable disabled disabling disagrees dma dma-buf dmar domain done down dpc driver due "
    "duplex eagain ebusy ecn ecrc efa efault egress einval eio emergency en enable enabled "
    "engine enodev enomem enospc entering entries entry eopnotsupp eperm eq equalization erdma "
    "err errno error errors establish eth ethernet etimedout ets event exceed exceeded exec exit "
    "external f fail failed failure fallen falls fatal fatal's fault faults file find firmware "
    "first flags flow for force found free from fsm full func function further fw gbps gdma gen "
    "get gid go gone gpu gpus group handle handler hardware has have hca header headshell health "
    "hfi1 high hmc hns hns3 host hotplug hsn hung hw hwc i40e i915 ib ibdev ice id idpf in "
    "incompatible index infiniband info ingress init init2init init2rtr initialization "
    "initialize initializing instance insufficient intel internal interrupt interrupted "
    "interrupts invalid io iommu ionic ioremap iova ipa ipoib irdma irisc irq is issue it iw "
    "kernel lane lanes layer leak lid lifs limited limits line lines link link-up linkup loading "
    "local log logged lost low lower ltssm mailbox malformed mana map mapping mark max mbps mem "
    "memory message min minimum miss missing mkey mlx4 mlx5 mmio mmu mod mode modify module mr "
    "mrs ms msec msg msi msi-x mthca mtu multiple mw name negotiated net netdev newlink next nic "
    "no node non none nonfatal not notice nr num number nv nvidia nvlink nvm nvrm nvswitch "
    "observed ocrdma of off ok on one op open opened operation opmod or out out-of-tree over "
    "overflow p2p package page pages parameter partner pasid pci pcie pcieport pd pe peer "
    "peermem perr pf pfc phase physical pid pin pinned pkey plugged poisoned poll polling port "
    "ports power pre present primary print probe process processing producer prot psv pte push "
    "put pvrdma qed qede qedr qib qkey qos qp qps query queue rc rcfw rdma re reached read "
    "reading ready reason rebuild received receiver recover recovered recovery reg register "
    "registers reinit remap remote removal replay reported reporter request requester require "
    "required requirements requires reset resize resource resources resp responding restart ret "
    "retrain retraining retries retry ring rings rmp rnic rnr roce rollover root rq rst2init "
    "rtr2rts rts2rts rule rules runtime rx rxe safe secondary semaphore send sensors serr server "
    "set severe severity sfp shutdown sid signal since size skipping slot smmu software space "
    "speed sq sriov srq ss1 ssid stall start started state status steering stop stopped "
    "subsystem success successful supply support supported surprise sxid symbol symbols syndrome "
    "system table taints temp temperature test than that the thermal this threshold timed "
    "timeout tlp to token topology transaction translation transmit transmitter transport "
    "trigger tx type uar uc ucm ucode umad umem unassigned unavailable uncorrect uncorrectable "
    "uncorrected unknown unload unmap unplugged unqualified unrecoverable unregister unspecified "
    "unsupported until up user usnic uverbs v2 v3 value var vector vectors vendor verb verbs "
    "version vf vfio vfs vi violation vmw vport wait waited waiting warn warning was watchdog "
    "watt watts while width will window with work write x x10 xe xid xrc xrcd xrq ";

constexpr std::string_view kLeftOut = "\u2026";

bool is_known_word(std::string_view word) {
  static const std::set<std::string_view> words = [] {
    const auto all = split_words(kWords);
    return std::set<std::string_view>(all.begin(), all.end());
  }();
  return words.contains(to_lower(word));
}

bool is_decimal(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Short ones: a serial number, a queue pair's key or an address is longer. A unit may follow.
bool is_number(std::string_view text) {
  constexpr std::size_t kMost = 6;
  constexpr auto kUnits = std::to_array<std::string_view>({"", "w", "mw", "ms", "us", "s", "gb"});
  if (text.starts_with("0x")) {
    return text.size() <= 10 && text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos;
  }
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && digits <= kMost && contains(kUnits, to_lower(text.substr(digits)));
}

/// A known word, with a short number behind it ("cq12"), or a number.
bool is_known_part(std::string_view part) {
  constexpr std::size_t kMostDigits = 4;
  const auto letters = part.substr(0, part.find_last_not_of("0123456789") + 1);
  return is_number(part) || is_known_word(part) ||
         (part.size() - letters.size() <= kMostDigits && is_known_word(letters));
}

/// As systemd and the kernel name them: "ens1f0np0", "enp59s0f1", "eth2", "ib0".
bool is_netdev_name(std::string_view word) {
  constexpr std::size_t kMost = 15;  // IFNAMSIZ, include/uapi/linux/if.h
  constexpr auto kBeginnings = std::to_array<std::string_view>(
      {"eth", "en", "ibp", "ib", "rail", "bond", "hsn", "rocep", "rdmap"});
  const auto begin =
      std::ranges::find_if(kBeginnings, [&](auto one) { return word.starts_with(one); });
  if (word.size() > kMost || begin == kBeginnings.end()) return false;
  bool has_digit = false;
  bool after_letter = false;
  for (const char c : word.substr(begin->size())) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter_of_place =
        std::string_view("opPsfdnuvbi").find(c) != std::string_view::npos;
    if (!is_digit && !is_letter_of_place) return false;
    if (!is_digit && after_letter && c != 'p') return false;
    has_digit = has_digit || is_digit;
    after_letter = !is_digit;
  }
  return has_digit;
}

/// Without punctuation around it.
std::string_view core_of(std::string_view token) {
  constexpr std::string_view kAround = "()[]{}<>,:;.'\"=!?*";
  const auto begin = std::min(token.find_first_not_of(kAround), token.size());
  token.remove_prefix(begin);
  return token.substr(0, token.find_last_not_of(kAround) + 1);
}

bool is_run_character(char c) {
  return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == '\'';
}

void leave_out(std::string& kept) {
  if (!kept.ends_with(kLeftOut)) kept += kLeftOut;
}

/// How much of the text four or more short numbers take that stand side by side; else 0.
std::size_t size_of_numbers(std::string_view text) {
  constexpr std::size_t kMostDigits = 3;
  constexpr int kNumbers = 4;
  std::size_t end = 0;
  int count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto digits = std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
    if (digits == 0 || digits > kMostDigits) break;
    end = at + digits;
    ++count;
    if (end == text.size() || std::string_view("_-.").find(text[end]) == std::string_view::npos)
      break;
    at = end + 1;
  }
  const bool is_whole = end == text.size() || !is_letter_or_digit(text[end]);
  return count >= kNumbers && is_whole ? end : 0;
}

/// "mlx5_cmd_out_err", "CREATE_MKEY", "irdma.gen_2": part by part, what is between stays.
void add_run(std::string_view run, std::string& kept) {
  constexpr std::string_view kBetween = "_-.'";
  constexpr std::ptrdiff_t kMostDigits = 8;
  if (is_netdev_name(run) || is_known_word(run)) {
    kept += run;
    return;
  }
  // An IPv4 address, or a number that is written with dashes.
  const auto digits = std::ranges::count_if(run, [](char c) { return c >= '0' && c <= '9'; });
  const bool is_digits = run.find_first_not_of("0123456789-.") == std::string_view::npos;
  if (is_digits && (digits > kMostDigits || std::ranges::count(run, '.') > 2)) {
    leave_out(kept);
    return;
  }
  for (std::size_t at = 0; at < run.size();) {
    // An address in the name of a host: "ip-10-98-76-54.internal".
    if (const auto size = size_of_numbers(run.substr(at)); size > 0) {
      leave_out(kept);
      at += size;
      continue;
    }
    if (kBetween.find(run[at]) != std::string_view::npos) {
      kept += run[at++];
      continue;
    }
    auto end = std::min(run.find_first_of("_-.", at), run.size());
    auto part = run.substr(at, end - at);
    while (part.ends_with('\'')) part.remove_suffix(1);
    if (is_known_part(part)) {
      kept += part;
    } else {
      leave_out(kept);
    }
    at += part.size();
  }
}

/// "0000:3b:00.0", and without the function as NVIDIA's driver has it: "PCI:0000:3b:00".
bool is_pci_place(std::string_view text) {
  constexpr std::string_view kBus = "PCI:";
  if (text.starts_with(kBus)) text.remove_prefix(kBus.size());
  return node::pci_address_of(text) || node::pci_address_of(std::string(text) + ".0");
}

void add_text(std::string_view text, std::string& kept) {
  constexpr std::string_view kPunctuation = "()[]{}<>,:;=/+#@*!?%\"&|~^$";
  while (!text.empty()) {
    const auto begin = std::ranges::find_if(text, is_run_character) - text.begin();
    if (begin == 0) {
      const auto end = std::ranges::find_if_not(text, is_run_character) - text.begin();
      add_run(text.substr(0, static_cast<std::size_t>(end)), kept);
      text.remove_prefix(static_cast<std::size_t>(end));
      continue;
    }
    if (kPunctuation.find(text.front()) != std::string_view::npos) {
      kept += text.front();
    } else {
      leave_out(kept);
    }
    text.remove_prefix(1);
  }
}

/// A MAC address, an IPv6 address or a GID.
bool has_address(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find_first_not_of("0123456789abcdefABCDEF:"), text.size());
    const auto part = text.substr(0, end);
    if (std::ranges::count(part, ':') > 2 || part.find("::") != std::string_view::npos) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// Without what can tell who or where somebody is.
void add_token(std::string_view token, std::string& kept) {
  const auto core = core_of(token);
  const auto begin = static_cast<std::size_t>(core.data() - token.data());
  const auto value = core.substr(core.find('=') + 1);  // all of it where there is no '='
  kept += token.substr(0, begin);
  if (is_pci_place(value)) {
    add_text(core.substr(0, core.size() - value.size()), kept);
    kept += value;
  } else if (has_address(core)) {
    leave_out(kept);
  } else {
    add_text(core, kept);
  }
  kept += token.substr(begin + core.size());
}

std::string kept_message(std::string_view message) {
  std::string kept;
  for (const auto token : split(message, ' ')) {
    add_token(token, kept);
    kept += ' ';
  }
  kept.pop_back();
  return kept;
}

/// "6,1234,5678901,-;" of a record; "" where it has none.
std::string_view prefix_of(std::string_view line) {
  const auto end = line.find(';');
  if (end == std::string_view::npos) return "";
  const auto fields = split(line.substr(0, end), ',');
  const bool is_record =
      fields.size() >= 3 && is_decimal(fields[0]) && is_decimal(fields[1]) && is_decimal(fields[2]);
  return is_record && line.find_first_not_of("0123456789,-c+") == end ? line.substr(0, end + 1)
                                                                      : "";
}

}  // namespace

std::string kept_kernel_log(std::string_view content) {
  constexpr std::string_view kOther = "-";
  constexpr std::string_view kMlx5 = "mlx5";
  std::string kept;
  std::string_view last;
  for (const auto line : split(content, '\n')) {
    if (line.empty() || line.front() == ' ') continue;
    const auto prefix = prefix_of(line);
    const auto message = line.substr(prefix.size());
    const auto* pattern = pattern_of(message);
    const bool is_down = says_link_down(message);
    last = prefix;
    const bool is_of_mlx5 = message.find(kMlx5) != std::string_view::npos;
    if (pattern == nullptr && !is_down && !is_of_mlx5) {
      kept.append(kOther).append("\n");
      continue;
    }
    auto words = kept_message(message);
    const bool is_same = pattern_of(words) == pattern && says_link_down(words) == is_down;
    if (!is_same && !is_of_mlx5) {
      kept.append(kOther).append("\n");
      continue;
    }
    if (!is_same) words = kLeftOut;
    const bool lacks_name = is_of_mlx5 && words.find(kMlx5) == std::string::npos;
    kept.append(prefix).append(words).append(lacks_name ? " mlx5" : "").append("\n");
  }
  // The time of the last record is that of the machine.
  if (kept.ends_with("\n-\n") || kept == "-\n")
    kept.replace(kept.size() - 2, 1, last.empty() ? kOther : last);
  return kept;
}

}  // namespace railhead::system
