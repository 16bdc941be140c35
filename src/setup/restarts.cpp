// SPDX-License-Identifier: Apache-2.0
#include "base/contains.h"
#include "base/find.h"
#include "base/hash.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "host/boot_id.h"
#include "setup/journal.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

/// Why a unit is restarted.
struct Cause {
  std::string unit;
  std::string code;  ///< as the journal keeps it: "nri", "memlock"
  std::string text;  ///< for people
};

const std::vector<system::ConfigFile>& files_of_runtime(const system::System& system) {
  return system.runtime.is("crio") ? system.crio.files : system.containerd.files;
}

/// Whether the files of a step are as it wants them, or it is not there. That of NRI waits for
/// more.
bool is_in_files(const Plan& plan, std::string_view id) {
  const auto* step = find_by(plan, &Step::id, id);
  return step == nullptr || step->state == StepState::done || waits_for_restart(*step);
}

/// What a file says, without comments and places: a restart reads no more. Of one that cannot be
/// parsed its text.
void add_content(const data::Value& value, std::string& text) {
  text += std::to_string(static_cast<unsigned>(value.kind)) + (value.quoted ? "'" : "") +
          std::to_string(value.scalar.size()) + ":" + value.scalar;
  for (const auto& item : value.items) add_content(item, text);
  for (const auto& entry : value.entries) {
    text += entry.key + "\n";
    add_content(entry.value, text);
  }
  text += ")";
}

/// A hash of all that the unit reads anew when it is restarted.
std::string hash_of_files(const Situation& situation, const std::string& unit) {
  const auto limit = system::read_unit(*situation.machine.host, unit);
  std::string text = limit.memlock_path + "\n" + limit.memlock + "\n";
  if (situation.system.runtime.unit == unit) {
    for (const auto& file : files_of_runtime(situation.system)) {
      text += file.path + "\n";
      if (file.content.value) add_content(*file.content.value, text);
      if (!file.content.value) text += file.text;
    }
  }
  return to_hex(fnv_1a(text), 16);
}

/// Whether it was restarted since the machine was booted and its files are as they are: no reason
/// makes a second restart help then.
bool was_tried(const Situation& situation, const std::string& unit, const std::string& hash) {
  const auto journal = Journal::read(*situation.machine.tree);
  const auto* known = journal ? find_by(journal->restarts(), &RestartRecord::unit, unit) : nullptr;
  return known != nullptr && known->files == hash &&
         known->boot == host::boot_id(*situation.machine.host);
}

Step restart(const Situation& situation, const Plan& plan, const Cause& cause) {
  Step step{.id = "service.restarted/" + cause.unit,
            .title = cause.unit + " runs as its files say",
            .before = cause.text,
            .after = "restarted"};
  const auto hash = hash_of_files(situation, cause.unit);
  Change change{Change::Kind::service, cause.unit, cause.code};
  change.files = hash;
  step.risk = risk_of(change);
  if (!situation.machine.is_live) return parked(std::move(step), "no kernel runs in this tree");
  if (!has_systemd(situation))
    return parked(std::move(step), "systemd does not run here: restart it by hand");
  if (!is_in_files(plan, "nri.enabled") || !is_in_files(plan, "memlock.service/" + cause.unit))
    return parked(std::move(step), "after its files");
  std::string kept = kept_from_starting(situation, cause.unit);
  if (!kept.empty()) return refused(std::move(step), std::move(kept));
  if (was_tried(situation, cause.unit, hash)) {
    return parked(std::move(step), "it was restarted since the boot, and still: " + cause.text +
                                       ": look at its log, journalctl -b -u " +
                                       shell_word(cause.unit + ".service"));
  }
  if (system::read_unit(*situation.machine.host, cause.unit).path.empty())
    return parked(std::move(step), "systemd has no " + cause.unit + ".service here");
  return kernel_step(situation, std::move(step), "", std::move(change));
}

/// Why the runtime takes no plugins though its files say so. Absent: it does, or none runs.
std::optional<Cause> cause_of_nri(const Situation& situation) {
  const auto& runtime = situation.system.runtime;
  if (!situation.wanted.nri) return std::nullopt;
  if (!runtime.unknown.empty()) return std::nullopt;
  if (!runtime.is("containerd") && !runtime.is("crio")) return std::nullopt;
  const auto missing = missing_nri_socket(situation);
  if (missing.empty()) return std::nullopt;
  return Cause{runtime.unit, "nri", missing};
}

/// Why a service that runs has another limit than its files say. Absent: it has not, or does not
/// run.
std::optional<Cause> cause_of_memlock(const Situation& situation, const Plan& plan,
                                      const std::string& service) {
  const auto unit = system::read_unit(*situation.machine.host, service);
  const auto* step = find_by(plan, &Step::id, "memlock.service/" + service);
  const bool is_by_unit = step != nullptr && step->reason == unit.memlock_path;
  if (unit.memlock != "infinity" || !is_by_unit) return std::nullopt;
  const auto why = limited_process(situation, service);
  if (why.empty()) return std::nullopt;
  return Cause{service, "memlock", why};
}

}  // namespace

void plan_restarts(const Situation& situation, Plan& plan) {
  const auto nri = cause_of_nri(situation);
  bool is_planned = false;
  for (const auto& service : situation.wanted.memlock_services) {
    const bool for_nri = nri && nri->unit == service;
    auto cause = cause_of_memlock(situation, plan, service);
    if (!cause && for_nri) cause = nri;
    if (cause) plan.push_back(restart(situation, plan, *cause));
    is_planned = is_planned || for_nri;
  }
  if (!nri || is_planned) return;
  if (!nri->unit.empty()) return plan.push_back(restart(situation, plan, *nri));
  Step step{.id = "service.restarted/" + situation.system.runtime.name,
            .title = situation.system.runtime.name + " runs as its files say",
            .risk = risk_of({Change::Kind::service, situation.system.runtime.name, ""}),
            .before = nri->text,
            .after = "restarted"};
  plan.push_back(parked(std::move(step), "which unit has process " +
                                             std::to_string(situation.system.runtime.pid) +
                                             " is not known: restart it by hand"));
}

}  // namespace railhead::setup
