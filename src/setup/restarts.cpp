// SPDX-License-Identifier: Apache-2.0
#include "base/contains.h"
#include "base/find.h"
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
  std::string read;  ///< all that it reads anew
};

/// FNV-1a of 64 bits: it tells texts of before from those of now, and keeps nobody out.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return to_hex(hash, 16);
}

const std::vector<system::ConfigFile>& files_of_runtime(const system::System& system) {
  return system.runtime.is("crio") ? system.crio : system.containerd.files;
}

/// Whether a step is done, or not there.
bool is_done(const Plan& plan, std::string_view id) {
  const auto* step = find_by(plan, &Step::id, id);
  return step == nullptr || step->state == StepState::done;
}

/// Whether it was restarted since the machine was booted and its files are as they are.
bool was_tried(const Situation& situation, const Cause& cause, const std::string& hash) {
  const auto journal = Journal::read(*situation.machine.tree);
  const RestartRecord now{cause.unit, cause.code, host::boot_id(*situation.machine.host), hash};
  return journal && contains(journal->restarts(), now);
}

Step restart(const Situation& situation, const Plan& plan, const Cause& cause) {
  Step step{.id = "service.restarted/" + cause.unit,
            .title = cause.unit + " runs as its files say",
            .before = cause.text,
            .after = "restarted"};
  const auto hash = hash_of(cause.read);
  Change change{Change::Kind::service, cause.unit, cause.code};
  change.files = hash;
  step.risk = risk_of(change);
  if (!situation.machine.is_live) return parked(std::move(step), "no kernel runs in this tree");
  if (!has_systemd(situation))
    return parked(std::move(step), "systemd does not run here: restart it by hand");
  if (!is_done(plan, "nri.enabled") || !is_done(plan, "memlock.service/" + cause.unit))
    return parked(std::move(step), "after its files");
  if (was_tried(situation, cause, hash)) {
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
  const auto& system = situation.system;
  const auto& runtime = system.runtime;
  if (!situation.wanted.nri || runtime.pid == 0 || system.nri_socket()) return std::nullopt;
  if (!runtime.is("containerd") && !runtime.is("crio")) return std::nullopt;
  Cause cause{runtime.unit, "nri", "no NRI socket in /run/nri", ""};
  for (const auto& file : files_of_runtime(system)) cause.read += file.path + "\n" + file.text;
  return cause;
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
  return Cause{service, "memlock", why, unit.memlock_path};
}

}  // namespace

void plan_restarts(const Situation& situation, Plan& plan) {
  const auto nri = cause_of_nri(situation);
  for (const auto& service : situation.wanted.memlock_services) {
    const auto memlock = cause_of_memlock(situation, plan, service);
    const bool both = nri && nri->unit == service;
    if (memlock && !both) plan.push_back(restart(situation, plan, *memlock));
  }
  if (!nri) return;
  if (!nri->unit.empty()) return plan.push_back(restart(situation, plan, *nri));
  Step step{.id = "service.restarted/" + situation.system.runtime.name,
            .title = situation.system.runtime.name + " runs as its files say",
            .before = nri->text,
            .after = "restarted"};
  plan.push_back(parked(std::move(step), "which unit has process " +
                                             std::to_string(situation.system.runtime.pid) +
                                             " is not known: restart it by hand"));
}

}  // namespace railhead::setup
