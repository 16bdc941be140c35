// SPDX-License-Identifier: Apache-2.0
#include "setup/apply.h"

#include <algorithm>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "base/utf8.h"
#include "host/boot_id.h"
#include "setup/functions.h"
#include "setup/link_control.h"
#include "setup/pci_control.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

using Entry = JournalEntry;

constexpr const char* kNoDriver = "";

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto character = first_character(bytes);
    if (!character.is_valid) return false;
    bytes.remove_prefix(character.bytes);
  }
  return true;
}

class Applier {
 public:
  Applier(const Machine& machine, Kernel& kernel, Journal journal)
      : machine_(machine),
        kernel_(kernel),
        journal_(std::move(journal)),
        boot_(host::boot_id(*machine.host)) {}

  /// Half of a file lies beside those that a run before was writing when it was ended.
  Status clean_up() {
    for (const auto& entry : journal_.entries()) {
      if (entry.kind == Entry::Kind::file)
        TRY_STATUS(machine_.tree->remove_half_written(entry.subject));
    }
    return {};
  }

  Status make(const Step& step) {
    for (const auto& change : step.changes) TRY_STATUS(make(change, step.id));
    return {};
  }

 private:
  Status make(const Change& change, const std::string& step) {
    switch (change.kind) {
      case Change::Kind::file: return write_file(change, step);
      case Change::Kind::attribute: return set_attribute(change, step);
      case Change::Kind::module: return load_module(change, step);
      case Change::Kind::functions: return set_functions(change, step);
      case Change::Kind::unit:
        TRY_STATUS(note({Entry::Kind::unit, change.subject, step, {}, "", {}}));
        return kernel_.start_unit(change.subject);
      case Change::Kind::pci:
        TRY_STATUS(note_text(Entry::Kind::pci, change, step,
                             read_pci_field(*machine_.host, change.subject)));
        return kernel_.set_pci_field(change.subject, change.value);
      case Change::Kind::link: return set_link(change, step);
      case Change::Kind::driver: return set_driver(change, step);
      case Change::Kind::identity: return set_identity(change, step);
      case Change::Kind::service:
        TRY_STATUS(journal_.note_restart(*machine_.tree,
                                         {change.subject, change.value, boot_, change.files}));
        return kernel_.restart_service(change.subject);
    }
    return {};
  }

  Status load_module(const Change& change, const std::string& step) {
    TRY_STATUS(note({Entry::Kind::module, change.subject, step, {}, "", {}}));
    const auto status = kernel_.load_module(change.subject);
    return change.is_optional ? Status() : status;
  }

  Status note(Entry entry) {
    const bool is_on_disk = entry.kind == Entry::Kind::folder || entry.kind == Entry::Kind::file;
    if (!is_on_disk) entry.boot = boot_;
    return journal_.note(*machine_.tree, entry);
  }

  /// What was there, of what has a text, and what it passes on its way to what is wanted: whoever
  /// ends us there leaves it.
  Status note_text(Entry::Kind kind, const Change& change, const std::string& step,
                   std::string before, std::vector<std::string> on_the_way = {}) {
    on_the_way.insert(on_the_way.begin(), change.value);
    return note({kind, change.subject, step, {}, std::move(before), std::move(on_the_way)});
  }

  Status make_folders(const std::string& path, const std::string& step) {
    for (auto at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
      const std::string folder = path.substr(0, at);
      if (has_folder(*machine_.host, folder)) continue;
      TRY_STATUS(note({Entry::Kind::folder, folder, step, {}, "", {}}));
      TRY(machine_.tree->make_folder(folder));
    }
    return {};
  }

  Status write_file(const Change& change, const std::string& step) {
    auto content = TRY(machine_.tree->find(change.subject));
    if (content && !is_text(content->bytes)) {
      return Error{ErrorCode::unsupported,
                   change.subject + ": is not UTF-8, and the journal keeps text only"};
    }
    if ((content ? std::optional(content->bytes) : std::nullopt) != change.was) {
      return Error{ErrorCode::unavailable,
                   change.subject + ": somebody changed it since the plan was made: apply again"};
    }
    TRY_STATUS(make_folders(change.subject, step));
    TRY_STATUS(note({Entry::Kind::file, change.subject, step, content, "", {change.value}}));
    host::FileContent changed = content.value_or(host::FileContent());
    changed.bytes = change.value;
    return machine_.tree->replace(change.subject, content, changed);
  }

  Status set_attribute(const Change& change, const std::string& step) {
    // A folder made in configfs has its attributes at once.
    if (change.subject.starts_with("/sys/kernel/config/"))
      TRY_STATUS(make_folders(change.subject, step));
    const auto before = with_single_spaces(text_of(*machine_.host, change.subject));
    TRY_STATUS(note({Entry::Kind::attribute,
                     change.subject,
                     step,
                     {},
                     before,
                     {with_single_spaces(change.value)}}));
    return kernel_.set_attribute(change.subject, change.value);
  }

  Status set_link(const Change& change, const std::string& step) {
    const auto before = TRY(read_link(*machine_.host, change.subject));
    if (!before) return Error{ErrorCode::unavailable, change.subject + " is not there any more"};
    TRY_STATUS(note_text(Entry::Kind::link, change, step, *before));
    return kernel_.set_link(change.subject, change.value);
  }

  Status set_driver(const Change& change, const std::string& step) {
    const auto function = read_function(*machine_.host, change.subject);
    if (!function) return Error{ErrorCode::unavailable, "there is no function " + change.subject};
    TRY_STATUS(note_text(Entry::Kind::driver, change, step, function->driver, {kNoDriver}));
    return kernel_.set_driver(change.subject, change.value);
  }

  /// The address goes with its virtual function. The driver is to be bound again where somebody
  /// else made the function.
  Status set_identity(const Change& change, const std::string& step) {
    const auto function = read_function(*machine_.host, change.subject);
    if (!function) return Error{ErrorCode::unavailable, "there is no function " + change.subject};
    const bool is_ours = is_made_by_us(change.subject);
    const Change binding{Change::Kind::driver, change.subject, function->driver};
    if (!is_ours)
      TRY_STATUS(note_text(Entry::Kind::driver, binding, step, function->driver, {kNoDriver}));
    TRY_STATUS(kernel_.set_identity(change.subject));
    const auto now = read_function(*machine_.host, change.subject);
    if (is_ours || !now || now->driver == function->driver) return {};
    return note({Entry::Kind::driver, change.subject, step, {}, kNoDriver, {now->driver}});
  }

  [[nodiscard]] bool is_made_by_us(const std::string& address) const {
    const auto physical = link_name(*machine_.host, function_path(address, "physfn"));
    return journal_.find(Entry::Kind::functions, physical) != nullptr;
  }

  Status set_functions(const Change& change, const std::string& step) {
    auto before = line_in(*machine_.host, function_path(change.subject, "sriov_numvfs"));
    TRY_STATUS(note_text(Entry::Kind::functions, change, step, std::move(before), {"0"}));
    return kernel_.set_functions(change.subject,
                                 static_cast<unsigned>(TRY(parse_number(change.value))));
  }

  const Machine& machine_;
  Kernel& kernel_;
  Journal journal_;
  const std::string boot_;
};

/// The first step of `plan` that is not among `known`.
const Step* first_other(const Plan& plan, const Plan& known) {
  return find_where(
      plan, [&](const Step& step) { return find_by(known, &Step::id, step.id) == nullptr; });
}

/// The step now that it was made: its state is what the next plan says. A restart is planned only
/// where something runs otherwise than its files say.
Step verified(const Plan& plan, Step made) {
  const Step* now = find_by(plan, &Step::id, made.id);
  if (now != nullptr && waits_for_restart(*now)) return *now;
  made.state = now == nullptr ? StepState::done : now->state;
  made.reason = now == nullptr ? "" : now->reason;
  made.changes.clear();
  return made;
}

bool disturbs(const Step& step) {
  return std::ranges::any_of(step.changes,
                             [](const Change& change) { return risk_of(change) == Risk::restart; });
}

/// A step that had a turn is made once the machine runs containers again.
Status make(Applier& applier, const Step& step, Turn* turn) {
  TRY_STATUS(applier.make(step));
  return turn != nullptr && disturbs(step) ? turn->come_back() : Status();
}

/// If true, a run of this machine did what takes a turn, and may have been ended within it. One
/// that was ended before has it still to do.
bool may_have_had_turn(const Machine& machine) {
  const auto journal = Journal::read(*machine.tree);
  if (!journal || !journal->restarts().empty()) return true;
  return std::ranges::any_of(journal->entries(), [](const Entry& entry) {
    return entry.kind == Entry::Kind::unit || entry.kind == Entry::Kind::link;
  });
}

/// Why no other machine should be treated as this one was. "": nothing speaks against it.
std::string why_kept(const Machine& machine, const Outcome& outcome) {
  if (outcome.has_failed) return "a step failed";
  const auto journal = Journal::read(*machine.tree);
  if (!journal) return journal.error().message;
  for (const auto& restart : journal->restarts()) {
    const auto* step = find_by(outcome.steps, &Step::id, "service.restarted/" + restart.unit);
    if (step != nullptr && step->state == StepState::parked &&
        restart.boot == host::boot_id(*machine.host))
      return "its restart of " + restart.unit + " did not help";
  }
  return "";
}

Step failed(Step step, const Error& error) {
  return parked(std::move(step), "failed: " + error.message);
}

}  // namespace

Result<Outcome> apply(const Machine& machine, Kernel& kernel, const Wanted& wanted, Risk allowed,
                      const StepObserver& observe, Turn* turn) {
  Applier applier(machine, kernel, TRY(Journal::read(*machine.tree)));
  TRY_STATUS(applier.clean_up());
  Outcome outcome;
  const auto keep = [&](const Step& step) {
    if (!waits_for_restart(step)) observe(step);
    outcome.steps.push_back(step);
  };
  bool has_turn = false;
  Plan plan = TRY(make_plan(machine, wanted, allowed));
  while (const Step* next = first_other(plan, outcome.steps)) {
    Step step = *next;
    if (step.state != StepState::todo || outcome.has_failed) {
      if (step.state == StepState::todo) step.reason = "not tried: a step before it failed";
      keep(step);
      continue;
    }
    if (turn != nullptr && disturbs(step)) {
      const auto may = turn->take();
      if (!may) {
        keep(refused(std::move(step), may.error().message));
        continue;
      }
      if (!std::exchange(has_turn, true)) {
        // Others may have changed the machine while it waited.
        plan = TRY(make_plan(machine, wanted, allowed));
        continue;
      }
    }
    const auto status = make(applier, step, turn);
    if (!status) {
      outcome.has_failed = true;
      keep(failed(step, status.error()));
      continue;
    }
    // Later steps go by what is there now: a restart waits for its files.
    plan = TRY(make_plan(machine, wanted, allowed));
    const Step made = verified(plan, step);
    // A restart that did not help is not planned again.
    const bool is_restart = find_by(step.changes, &Change::kind, Change::Kind::service) != nullptr;
    outcome.has_failed =
        made.state == StepState::todo || (is_restart && made.state != StepState::done);
    keep(outcome.has_failed
             ? failed(step, {ErrorCode::unavailable, "it was done, and is still " + made.before})
             : made);
  }
  for (auto& step : outcome.steps) {
    if (!waits_for_restart(step)) continue;
    step = verified(plan, step);
    observe(step);
  }
  const bool has_it = turn != nullptr && (has_turn || may_have_had_turn(machine));
  const auto status = has_it ? turn->give_back(why_kept(machine, outcome)) : Status();
  if (!status) {
    keep(failed({.id = "turn.given-back", .title = "other nodes have their turn"}, status.error()));
    outcome.has_failed = true;
  }
  return outcome;
}

}  // namespace railhead::setup
