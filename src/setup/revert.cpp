// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "base/contains.h"
#include "base/text.h"
#include "host/boot_id.h"
#include "setup/apply.h"
#include "setup/functions.h"
#include "setup/link_control.h"
#include "setup/pci_control.h"
#include "setup/plan.h"
#include "setup/rdma_users.h"

namespace railhead::setup {
namespace {

using Entry = JournalEntry;

constexpr const char* kSomebodyElse = "somebody else changed it since: it stays";
constexpr const char* kWaits = "until what is in it was taken back";
constexpr const char* kBoot = "the machine was booted since: what is there now is not of setup";

/// Who reads a file only when it starts: "containerd" of what is in its folder, or in its unit's.
std::string reader_of(const std::string& path) {
  for (const char* service : {"containerd", "crio"}) {
    if (path.starts_with("/etc/" + std::string(service) + "/")) return service;
  }
  const std::string units = "/etc/systemd/system/";
  const auto end = path.find(".service.d/");
  if (!path.starts_with(units) || end == std::string::npos) return "";
  return path.substr(units.size(), end - units.size());
}

/// From what there is now, what there was, and what we made of it.
template <typename Text>
void compare(const std::optional<Text>& now, const std::optional<Text>& before, const Entry& entry,
             Step& step) {
  if (now == before) {
    step.reason = "it is as it was";
  } else if (now && contains(entry.ours, *now)) {
    step.state = StepState::todo;
  } else {
    step.state = StepState::refused;
    step.reason = kSomebodyElse;
  }
}

Step of_file(const Machine& machine, const Entry& entry, Step step) {
  step.title = entry.subject + (entry.file ? " is as it was" : " is gone");
  step.before = "as setup made it";
  step.after = entry.file ? "as before" : "removed";
  const auto now = machine.tree->find(entry.subject);
  if (!now) return refused(std::move(step), now.error().message);
  const auto bytes = [](const std::optional<host::FileContent>& file) {
    return file ? std::optional(file->bytes) : std::nullopt;
  };
  compare(bytes(*now), bytes(entry.file), entry, step);
  const std::string reader = reader_of(entry.subject);
  if (step.state == StepState::todo && !reader.empty())
    step.reason = reader + " goes by the file until it is restarted";
  return step;
}

Step of_attribute(const Machine& machine, const Entry& entry, Step step) {
  const auto now = with_single_spaces(text_of(*machine.host, entry.subject));
  step.title = entry.subject + " is " + entry.attribute;
  step.before = now;
  step.after = entry.attribute;
  const auto file = machine.host->read(entry.subject);
  if (file && !*file) {
    step.reason = "it is gone";  // with the virtual function that had it
    return step;
  }
  compare(std::optional(now), std::optional(entry.attribute), entry, step);
  return step;
}

bool is_for_vfio(const Entry& entry) {
  return entry.kind == Entry::Kind::driver && contains(entry.ours, std::string_view(kVfio));
}

/// Functions that we bound for a virtual machine: they go back to their drivers first.
std::vector<std::string> bound_by_us(const std::vector<Entry>& entries) {
  std::vector<std::string> addresses;
  for (const auto& entry : entries) {
    if (is_for_vfio(entry)) addresses.push_back(entry.subject);
  }
  return addresses;
}

Step of_functions(const Machine& machine, const Entry& entry, const std::vector<Entry>& entries,
                  Step step) {
  const auto now = line_in(*machine.host, function_path(entry.subject, "sriov_numvfs"));
  step.title = entry.subject + " has " + entry.attribute + " VFs";
  step.before = now;
  step.after = entry.attribute;
  compare(std::optional(now), std::optional(entry.attribute), entry, step);
  const auto physical = read_function(*machine.host, entry.subject);
  if (!physical) {
    step.state = StepState::done;
    step.reason = "there is no such function any more";
  } else if (step.state == StepState::todo) {
    const auto users = users_of(*machine.host, *physical, bound_by_us(entries));
    if (!users.empty()) return refused(std::move(step), "all would go, and " + users);
  }
  return step;
}

Step of_pci(const Machine& machine, const Entry& entry, Step step) {
  const std::string now = read_pci_field(*machine.host, entry.subject);
  step.title = entry.subject + " is " + entry.attribute;
  step.before = now;
  step.after = entry.attribute;
  compare(std::optional(now), std::optional(entry.attribute), entry, step);
  if (step.state != StepState::todo) return step;
  auto users = users_of_all(*machine.host, entry.subject.substr(0, entry.subject.find('/')));
  return users.empty() ? step : refused(std::move(step), std::move(users));
}

Step of_link(const Machine& machine, const Entry& entry, Step step) {
  const auto now = read_link(*machine.host, entry.subject);
  step.title = entry.subject + " is " + entry.attribute;
  step.after = entry.attribute;
  const auto netdev = entry.subject.substr(0, entry.subject.find('/'));
  const auto folder = machine.host->list("/sys/class/net/" + netdev);
  const bool is_gone = (folder && !*folder) || (now && !*now);  // or its virtual function is
  if (is_gone) {
    step.reason = "it is gone";
    return step;
  }
  if (!now) return refused(std::move(step), now.error().message);
  step.before = **now;
  compare(*now, std::optional(entry.attribute), entry, step);
  const bool is_noticed = risk_of_link(entry.subject.substr(netdev.size() + 1)) != Risk::live;
  if (step.state != StepState::todo || !is_noticed) return step;
  // A link that a program uses stays as it is, as when it was set.
  auto user = user_of_link(*machine.host, node::read_node(*machine.host), netdev);
  return user.empty() ? step : refused(std::move(step), std::move(user));
}

/// Who would lose it with its driver. "": nobody is seen.
std::string user_of_bound(const Machine& machine, const NetworkFunction& function) {
  if (function.driver == kVfio) return function.is_enabled ? "a virtual machine uses it" : "";
  auto user = user_of(function);
  return user.empty() ? rdma_user(*machine.host, function.rdma) : user;
}

Step of_driver(const Machine& machine, const Entry& entry, Step step) {
  const auto function = read_function(*machine.host, entry.subject);
  step.title =
      entry.subject + " is bound to " + (entry.attribute.empty() ? "no driver" : entry.attribute);
  step.after = entry.attribute;
  if (!function) {
    step.reason = "it is gone";
    return step;
  }
  step.before = function->driver;
  compare(std::optional(function->driver), std::optional(entry.attribute), entry, step);
  const auto override_path = function_path(entry.subject, "driver_override");
  const bool has_override = is_for_vfio(entry) && entry.attribute != kVfio &&
                            line_in(*machine.host, override_path) == kVfio;
  if (step.state == StepState::done && has_override) {
    step.state = StepState::todo;
    step.reason = override_path + " says " + kVfio;
  }
  if (step.state != StepState::todo || function->driver == entry.attribute) return step;
  auto user = user_of_bound(machine, *function);
  return user.empty() ? step : refused(std::move(step), std::move(user));
}

/// Whether it is started cannot be read from files: it is ended in any case.
Step of_unit(const Machine& machine, const Entry& entry, Step step) {
  step.title = entry.subject + " is not started";
  step.before = "started";
  step.after = "stopped";
  step.state = machine.is_live ? StepState::todo : StepState::done;
  return step;
}

Step of_module(const Machine& machine, const Entry& entry, Step step) {
  const bool is_loaded = has_folder(*machine.host, "/sys/module/" + entry.subject);
  step.title = "module " + entry.subject + " is not loaded";
  step.before = is_loaded ? "loaded" : "not loaded";
  step.after = "not loaded";
  step.state = is_loaded ? StepState::todo : StepState::done;
  return step;
}

Step of_folder(const Machine& machine, const Entry& entry, Step step) {
  const bool is_there = has_folder(*machine.host, entry.subject);
  step.title = entry.subject + " is gone";
  step.before = is_there ? "there" : "";
  step.after = "removed, if nothing else is in it";
  step.state = is_there ? StepState::todo : StepState::done;
  return step;
}

Step judged(const Machine& machine, const Entry& entry, const std::vector<Entry>& entries) {
  Step step;
  step.id = "revert." + std::string(to_string(entry.kind)) +
            (entry.subject.starts_with('/') ? "" : "/") + entry.subject;
  switch (entry.kind) {
    case Entry::Kind::folder: return of_folder(machine, entry, std::move(step));
    case Entry::Kind::file: return of_file(machine, entry, std::move(step));
    case Entry::Kind::module: return of_module(machine, entry, std::move(step));
    case Entry::Kind::attribute: return of_attribute(machine, entry, std::move(step));
    case Entry::Kind::functions: return of_functions(machine, entry, entries, std::move(step));
    case Entry::Kind::unit: return of_unit(machine, entry, std::move(step));
    case Entry::Kind::pci: return of_pci(machine, entry, std::move(step));
    case Entry::Kind::link: return of_link(machine, entry, std::move(step));
    case Entry::Kind::driver: return of_driver(machine, entry, std::move(step));
  }
  return step;
}

/// Whether a file that we made has a module loaded at boot, or the one that needs it.
bool is_ours_at_boot(const Entry& module, const std::vector<Entry>& entries) {
  const auto wanted = module.step.substr(module.step.rfind('/') + 1);
  return std::ranges::any_of(entries, [&](const Entry& entry) {
    return entry.kind == Entry::Kind::file && entry.subject.starts_with("/etc/modules-load.d/") &&
           std::ranges::any_of(entry.ours, [&](const std::string& text) {
             return contains(split(text, '\n'), std::string_view(wanted));
           });
  });
}

/// Whether what there is now is not of our making, since the machine was booted after it.
bool is_of_a_boot_before(const Machine& machine, const Entry& entry,
                         const std::vector<Entry>& entries) {
  const auto boot = host::boot_id(*machine.host);
  if (entry.kind != Entry::Kind::module) return ended_by_boot(entry, boot);
  return !entry.boot.empty() && !boot.empty() && entry.boot != boot &&
         !is_ours_at_boot(entry, entries);
}

/// Files of a runtime that would keep it from starting if all were as they were, and why.
using Kept = std::map<std::string, std::string>;

Kept kept_from_revert(const Machine& machine, const std::vector<Entry>& entries) {
  system::ChangedFiles changed;
  for (const auto& entry : entries) {
    const bool changes =
        entry.kind == Entry::Kind::file && of_file(machine, entry, {}).state == StepState::todo;
    if (!changes) continue;
    changed[entry.subject] = entry.file ? std::optional(entry.file->bytes) : std::nullopt;
  }
  return kept_by_files(machine, changed);
}

Step step_of(const Machine& machine, const Entry& entry, const std::vector<Entry>& entries,
             const Kept& kept) {
  Step step = judged(machine, entry, entries);
  const auto why = kept.find(entry.subject);
  if (step.state == StepState::todo && entry.kind == Entry::Kind::file && why != kept.end())
    return refused(std::move(step), why->second);
  const bool is_on_disk = entry.kind == Entry::Kind::folder || entry.kind == Entry::Kind::file;
  if (step.state == StepState::done || is_on_disk) return step;
  if (!machine.is_live)
    return parked(std::move(step), "no kernel runs in this tree: take it back on the machine");
  if (is_of_a_boot_before(machine, entry, entries)) {
    step.state = StepState::done;
    step.reason = kBoot;
  }
  return step;
}

/// Mode and owner stay what they are by now: setup changed neither, and whoever did meant it.
Status take_file_back(host::Tree& tree, const Entry& entry) {
  const auto now = TRY(tree.find(entry.subject));
  if (!now || !contains(entry.ours, now->bytes))
    return Error{ErrorCode::unavailable, kSomebodyElse};
  if (!entry.file) return tree.remove_known(entry.subject, *now);
  host::FileContent before = *now;
  before.bytes = entry.file->bytes;
  return tree.replace(entry.subject, now, before);
}

Status take_back(const Machine& machine, Kernel& kernel, const Entry& entry) {
  switch (entry.kind) {
    case Entry::Kind::folder: return machine.tree->remove_folder(entry.subject);
    case Entry::Kind::file: return take_file_back(*machine.tree, entry);
    case Entry::Kind::module: return kernel.unload_module(entry.subject);
    case Entry::Kind::attribute: return kernel.set_attribute(entry.subject, entry.attribute);
    case Entry::Kind::functions:
      return kernel.set_functions(entry.subject,
                                  static_cast<unsigned>(TRY(parse_number(entry.attribute))));
    case Entry::Kind::unit: return kernel.stop_unit(entry.subject);
    case Entry::Kind::pci: return kernel.set_pci_field(entry.subject, entry.attribute);
    case Entry::Kind::link: return kernel.set_link(entry.subject, entry.attribute);
    case Entry::Kind::driver: return kernel.set_driver(entry.subject, entry.attribute);
  }
  return {};
}

/// Whether something below a folder was not taken back.
bool holds_ours(const Journal& journal, const std::string& folder) {
  return std::ranges::any_of(journal.entries(), [&](const Entry& entry) {
    return entry.subject.starts_with(folder + "/");
  });
}

}  // namespace

Result<Plan> plan_revert(const Machine& machine) {
  const auto journal = TRY(Journal::read(*machine.tree));
  const auto kept = kept_from_revert(machine, journal.entries());
  Plan plan;
  for (auto entry = journal.entries().rbegin(); entry != journal.entries().rend(); ++entry)
    plan.push_back(step_of(machine, *entry, journal.entries(), kept));
  return plan;
}

Result<Outcome> revert(const Machine& machine, Kernel& kernel, const StepObserver& observe) {
  auto journal = TRY(Journal::read(*machine.tree));
  if (journal.entries().empty()) TRY_STATUS(journal.remove(*machine.tree));
  Outcome outcome;
  const auto entries = journal.entries();
  const auto kept = kept_from_revert(machine, entries);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    Step step = step_of(machine, *entry, entries, kept);
    if (step.state == StepState::todo || step.state == StepState::done) {
      // What a write that was cut short left beside the file goes in any case.
      auto status = entry->kind == Entry::Kind::file
                        ? machine.tree->remove_half_written(entry->subject)
                        : Status();
      if (status && step.state == StepState::todo) status = take_back(machine, kernel, *entry);
      // A module that was loaded because another one needs it. By now others may need it, too.
      if (!status && entry->kind == Entry::Kind::module &&
          !entry->step.ends_with("/" + entry->subject)) {
        step.title = "module " + entry->subject + " stays loaded";
        step.reason = status.error().message;
        status = Status();
      }
      const bool stays =
          status && entry->kind == Entry::Kind::folder && has_folder(*machine.host, entry->subject);
      const bool waits = stays && holds_ours(journal, entry->subject);
      if (stays) step.title = entry->subject + " stays";
      if (stays) step.reason = waits ? kWaits : "something else is in it";
      if (status && !waits) status = journal.forget(*machine.tree, *entry);
      step.state = status && !waits ? StepState::done : StepState::parked;
      if (!status) step.reason = "failed: " + status.error().message;
    }
    outcome.has_failed = outcome.has_failed || step.state != StepState::done;
    observe(step);
    outcome.steps.push_back(std::move(step));
  }
  return outcome;
}

}  // namespace railhead::setup
