// SPDX-License-Identifier: Apache-2.0
//
// What `doctor --active` measured: each idle NIC with itself, at a capped rate.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"
#include "checks/groups.h"
#include "data/below.h"

namespace railhead::checks {
namespace {

const data::Value* first_of(const data::Value* value, std::string_view key) {
  const auto& items = data::items_below(value, {key});
  return items.empty() ? nullptr : &items.front();
}

/// A number of JSON; absent for null.
std::optional<double> number_of(const data::Value* map, std::string_view key) {
  const std::string text(data::text_below(map, {key}));
  if (text.size() > 32) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0') return std::nullopt;
  return number;
}

std::string rate_text(double gbps) {
  return decimal_text(static_cast<double>(static_cast<long>(gbps * 10)) / 10) + " Gbit/s";
}

void judge_moved(const Loopback& one, const Evidence& evidence, Findings& found) {
  const auto most = std::min(one.expected_gbps.value_or(one.cap_gbps), one.cap_gbps);
  const auto observed =
      rate_text(*one.gbps) + ", " + counted(one.messages_compared, "message") + " as sent";
  // Without a rate of its own (soft-RoCE) nothing says what is right.
  if (one.expected_gbps && *one.gbps < 0.9 * most) {
    found.warn(one.nic, observed, rate_text(most) + " by cap, link and slot", {evidence});
  } else {
    found.pass(one.nic, observed, {evidence});
  }
}

void loopback(const Machine& machine, Findings& found) {
  if (!machine.loopbacks) {
    found.skip(kNode, "nothing is sent without --active");
    return;
  }
  for (const auto& one : *machine.loopbacks) {
    const Evidence evidence{one.command, one.state, one.state.empty() ? one.why : ""};
    if (one.state == "in-use") {
      found.skip(one.nic, "in use: " + one.why, {evidence});
    } else if (one.state == "data-mismatch" || one.state == "transfer-failed") {
      found.fail(one.nic, one.state + ": " + one.why, "bytes that arrive as they were sent",
                 {evidence});
    } else if (one.state == "ok" && one.gbps && one.messages_compared > 0) {
      judge_moved(one, evidence, found);
    } else {
      found.unknown(one.nic, one.state + (one.state.empty() ? "" : ": ") + one.why, {evidence});
    }
  }
}

constexpr std::array kBenchChecks = {
    Check{
        .id = "bench.loopback",
        .what = "Each idle compute or storage NIC moves bytes, and they arrive as they were sent.",
        .source = "railhead-bench pair NIC NIC, with a capped rate; only with --active",
        .rule = "PASS: 90 % of the cap, or of link and slot where that is less, and the data was "
                "compared; WARN: less; FAIL: other bytes, or none; SKIP: a NIC in use, or no "
                "--active; UNKNOWN: it could not be measured",
        .effect = "jobs on this NIC stall, or compute with wrong numbers",
        .remedy =
            "See pci.link, link.errors and the kernel's log of this NIC. A loopback crosses no "
            "cable: measure between nodes by railhead bench server and client.",
        .remedy_class = RemedyClass::hardware,
        .about = "idle NIC",
        .covers = "bench.loopback C18 C20 N16 F41",
        .after = "pci.nic-driver dev.uverbs link.port-state",
        .look = loopback},
};

}  // namespace

void read_bench(std::string_view json, Loopback& into) {
  const auto document = data::parse_json(json);
  if (!document || document->kind != data::Value::Kind::map) {
    into.why = "it printed no JSON";
    return;
  }
  into.state = data::text_below(*document, {"state"});
  into.why = data::text_below(*document, {"why"});
  const auto* step = first_of(first_of(&*document, "runs"), "steps");
  into.gbps = number_of(step, "gbps");
  into.expected_gbps = number_of(step, "expectedGbps");
  into.messages_compared =
      static_cast<std::uint64_t>(std::max(0.0, number_of(step, "messagesCompared").value_or(0)));
}

std::span<const Check> bench_checks() {
  return kBenchChecks;
}

}  // namespace railhead::checks
