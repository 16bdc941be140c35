// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/absent.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/setup_turn.h"
#include "host/environment.h"
#include "host/input_file.h"
#include "host/machine_root.h"
#include "pools/resource_name.h"
#include "report/text_width.h"
#include "setup/apply.h"

namespace railhead::cli {
namespace {

constexpr const char* kDefaultFile = "/etc/railhead/setup.yaml";
constexpr std::size_t kMaxWantedBytes = std::size_t{1} << 20;
constexpr const char* kNothingWanted = "Nothing is wanted.";
constexpr const char* kNoNic = "This machine has no RDMA NIC: nothing is changed.";
constexpr const char* kNothingChanged = "Nothing here was changed by setup.";
constexpr std::string_view kNeedsConsent = "needs --allow ";  // as setup/plan.cpp says it

struct Options {
  std::string profile;
  std::string file;
  std::string allowed = "R1";
  bool dry_run = false;
  bool repair = false;
  std::string role = "worker";
  bool aks = false;
  TurnOptions turn;
};

using SharedOptions = std::shared_ptr<Options>;

Result<setup::Wanted> wanted(const Options& options) {
  if (!options.profile.empty()) return setup::find_profile(options.profile);
  const std::string path = options.file.empty() ? kDefaultFile : options.file;
  if (options.file.empty() && !host::input_file_exists(path)) {
    return Error{ErrorCode::usage, "say what is wanted: --profile NAME, --from FILE, or " + path};
  }
  const auto text = TRY(host::read_input_file(path, kMaxWantedBytes));
  auto parsed = setup::parse_wanted(path, text);
  if (!parsed) return Error{ErrorCode::usage, parsed.error().message};
  return parsed;
}

/// The same for who does it: as root. A person who became root by sudo(8) is still the owner of his
/// files.
Result<setup::Wanted> wanted_by_owner(const Options& options) {
  const std::string path = options.file.empty() ? kDefaultFile : options.file;
  const auto environment = host::read_environment();
  const auto sudo = environment.find("SUDO_UID");
  const auto person =
      sudo == environment.end() ? std::nullopt : or_absent(parse_unsigned(sudo->second));
  if (options.profile.empty() && host::may_others_write(path, person)) {
    return Error{ErrorCode::denied, path +
                                        ": others than root may write it, or own it, and what it "
                                        "says is done as root: look at it, then chown and chmod "
                                        "it"};
  }
  return wanted(options);
}

setup::Risk allowed(const Options& options) {
  for (const auto risk : {setup::Risk::live, setup::Risk::restart}) {
    if (options.allowed == to_string(risk)) return risk;
  }
  return setup::Risk::reboot;
}

data::Json step_json(const setup::Step& step) {
  return {{"id", step.id},
          {"title", step.title},
          {"class", to_string(step.risk)},
          {"state", to_string(step.state)},
          {"before", report::text_or_null(step.before)},
          {"after", report::text_or_null(step.after)},
          {"reason", report::text_or_null(step.reason)},
          {"changes", data::json_list(step.changes, [](const setup::Change& change) {
             return data::Json{{"subject", change.subject},
                               {"value", report::text_or_null(change.value)}};
           })}};
}

std::size_t count(const setup::Plan& plan, setup::StepState state) {
  return static_cast<std::size_t>(
      std::ranges::count_if(plan, [&](const setup::Step& step) { return step.state == state; }));
}

bool has(const setup::Plan& plan, setup::StepState state) {
  return count(plan, state) != 0;
}

/// "3 to do, 1 refused, 4 done; --allow R2 consents to 1 of the refused".
std::string summary(const setup::Plan& plan) {
  constexpr std::pair<setup::StepState, std::string_view> kWords[] = {
      {setup::StepState::todo, " todo"},
      {setup::StepState::refused, " refused"},
      {setup::StepState::parked, " parked"},
      {setup::StepState::done, " done"}};
  std::vector<std::string> parts;
  for (const auto& [state, word] : kWords) {
    if (has(plan, state)) parts.push_back(std::to_string(count(plan, state)) + std::string(word));
  }
  std::string_view consent;
  std::size_t would = 0;
  for (const auto& step : plan) {
    if (!step.reason.starts_with(kNeedsConsent)) continue;
    consent = std::max(consent, to_string(step.risk));
    ++would;
  }
  return join(parts, ", ") + (would == 0 ? ""
                                         : "; --allow " + std::string(consent) + " consents to " +
                                               std::to_string(would) + " of the refused");
}

report::Report document(const setup::Plan& plan, const char* kind, const std::string& source) {
  report::Report report;
  report.json = report::make_document(kind);
  report.json["wanted"] = report::text_or_null(source);
  report.json["steps"] = data::json_list(plan, step_json);
  return report;
}

/// The words in place of steps, and their code for documents.
struct Otherwise {
  const char* text = kNothingWanted;
  std::string skipped = "";
};

/// Says on standard error, too, that the machine is left as it is.
Otherwise otherwise_of(const Invocation& invocation, const char* part,
                       const setup::Machine& machine, const setup::Wanted& want) {
  auto skipped = setup::why_skipped(machine, want);
  if (skipped.empty()) return {};
  invocation.err << "railhead setup " << part << ": " << skipped
                 << ": no PCI function is a NIC that is known for RDMA, and /sys/class/infiniband "
                    "has no device\n";
  return {kNoNic, std::move(skipped)};
}

report::Report plan_report(const setup::Plan& plan, const std::string& source,
                           const Otherwise& otherwise) {
  auto report = document(plan, "Setup", source);
  report.json["skipped"] = report::text_or_null(otherwise.skipped);
  report::Table table;
  for (const auto& step : plan) {
    table.add({{"STATE", std::string(to_string(step.state)), report::Column::Shown::always,
                step.state == setup::StepState::refused},
               {"CLASS", std::string(to_string(step.risk))},
               {"STEP", step.title, report::kKept},
               {"BEFORE", step.before},
               {"AFTER", step.after},
               {"REASON", step.reason, report::kKept},
               {"ID", step.id, report::kWide}});
  }
  report.add(std::move(table), otherwise.text);
  if (!plan.empty()) report.note("", {summary(plan)});
  return report;
}

/// What an entry of the journal is of: "file /etc/containerd/config.toml", "module ib_umad".
std::string subject_of(const setup::Step& step) {
  constexpr std::string_view kBefore = "revert.";
  const std::string rest = step.id.substr(step.id.starts_with(kBefore) ? kBefore.size() : 0);
  const auto slash = std::min(rest.find('/'), rest.size());
  const std::string kind = rest.substr(0, slash);
  // Of paths the slash is a part.
  const bool is_path = kind == "file" || kind == "folder" || kind == "attribute";
  const std::string subject = rest.substr(std::min(slash + (is_path ? 0 : 1), rest.size()));
  return (kind == "functions" ? "VFs of" : kind == "pci" ? "field" : kind) + " " + subject;
}

/// What of the machine is ours: what revert would take back.
report::Report status_report(const setup::Plan& plan) {
  auto report = document(plan, "SetupStatus", "");
  report::Table table;
  for (const auto& step : plan) {
    const bool stays = step.state == setup::StepState::refused;
    const char* word = stays                                  ? "stays"
                       : step.state == setup::StepState::todo ? "ours"
                                                              : "as it was";
    table.add({{"STATE", word, report::Column::Shown::always, stays},
               {"WHAT", subject_of(step), report::kKept},
               {"NOW", step.before},
               {"TAKEN BACK", step.after},
               {"REASON", step.reason, report::kKept}});
  }
  report.add(std::move(table), kNothingChanged);
  return report;
}

bool is_all_done(const setup::Plan& plan) {
  return std::ranges::all_of(
      plan, [](const setup::Step& step) { return step.state == setup::StepState::done; });
}

/// One line a step as it is known, for the log of an init container.
setup::StepObserver print_line(const Invocation& invocation) {
  return [&invocation](const setup::Step& step) {
    if (invocation.output != "table") return;
    invocation.out << to_string(step.state) << ": " << report::printable(step.title);
    if (!step.reason.empty()) invocation.out << " (" << report::printable(step.reason) << ")";
    invocation.out << std::endl;
  };
}

int print_outcome(const Invocation& invocation, const setup::Outcome& outcome,
                  const std::string& source, const Otherwise& otherwise) {
  const bool good = !outcome.has_failed && !has(outcome.steps, setup::StepState::refused);
  const int code = good ? kExitOk : kExitProblem;
  if (invocation.output != "table")
    return invocation.print(plan_report(outcome.steps, source, otherwise), code);
  // The steps have a line each already.
  invocation.out << (outcome.steps.empty() ? otherwise.text : summary(outcome.steps)) << "\n";
  return code;
}

Result<setup::Machine> open_machine(const config::Config& config) {
  const auto& root = config.settings().host.root;
  auto machine = TRY(setup::Machine::open(root));
  // A tree that was never started, such as that of an image, gets its files.
  if (!TRY(machine.host->list("/etc")))
    TRY_STATUS(host::check_part_of_machine(*machine.host, root));
  return machine;
}

/// Two that change one machine would take each other's changes for somebody else's.
Status take_lock(const setup::Machine& machine) {
  if (TRY(machine.tree->lock(setup::Journal::kLock))) return {};
  const auto holder = machine.tree->lock_holder();
  if (!holder) return Error{ErrorCode::unavailable, "another railhead setup changes this machine"};
  const std::string process = std::to_string(*holder);
  const auto name = setup::text_of(*machine.host, "/proc/" + process + "/comm");
  return Error{ErrorCode::unavailable, "process " + process + " (" + report::printable(trim(name)) +
                                           ") has the lock that a setup takes: another railhead "
                                           "setup changes this machine, or the lock is in its way"};
}

/// `refused_is`: the exit code where something is refused.
Result<int> show_plan(const Invocation& invocation, const config::Config& config,
                      const Options& options, const char* part, int refused_is) {
  const auto want = TRY(wanted(options));
  const auto machine = TRY(open_machine(config));
  const auto plan = TRY(setup::make_plan(machine, want, allowed(options)));
  return invocation.print(
      plan_report(plan, want.source, otherwise_of(invocation, part, machine, want)),
      has(plan, setup::StepState::refused) ? refused_is : kExitOk);
}

/// Applies what nothing that runs notices, and says so in a line each.
Status repair(const Invocation& invocation, const setup::Machine& machine,
              const setup::Wanted& want) {
  TRY_STATUS(take_lock(machine));
  setup::LiveKernel kernel(machine);
  const auto print = print_line(invocation);
  const auto print_changed = [&](const setup::Step& step) {
    if (step.state != setup::StepState::done) print(step);
  };
  TRY(setup::apply(machine, kernel, want, setup::Risk::live, print_changed));
  return {};
}

Result<int> verify(const Invocation& invocation, const config::Config& config,
                   const Options& options) {
  const auto want = TRY(options.repair ? wanted_by_owner(options) : wanted(options));
  const auto machine = TRY(open_machine(config));
  const auto otherwise = otherwise_of(invocation, "verify", machine, want);
  if (options.repair && otherwise.skipped.empty()) TRY_STATUS(repair(invocation, machine, want));
  const auto plan = TRY(setup::make_plan(machine, want, setup::Risk::reboot));
  return invocation.print(plan_report(plan, want.source, otherwise),
                          is_all_done(plan) ? kExitOk : kExitProblem);
}

Result<int> apply(const Invocation& invocation, const config::Config& config,
                  const Options& options) {
  if (options.dry_run) return show_plan(invocation, config, options, "apply", kExitProblem);
  const auto want = TRY(wanted_by_owner(options));
  const auto machine = TRY(open_machine(config));
  const auto otherwise = otherwise_of(invocation, "apply", machine, want);
  if (!otherwise.skipped.empty()) return print_outcome(invocation, {}, want.source, otherwise);
  const auto turn = TRY(make_turn(invocation, config, options.turn));
  TRY_STATUS(take_lock(machine));
  setup::LiveKernel kernel(machine);
  const auto outcome = TRY(
      setup::apply(machine, kernel, want, allowed(options), print_line(invocation), turn.get()));
  return print_outcome(invocation, outcome, want.source, otherwise);
}

Result<int> revert(const Invocation& invocation, const config::Config& config,
                   const Options& options) {
  const auto machine = TRY(open_machine(config));
  if (options.dry_run) {
    const auto plan = TRY(setup::plan_revert(machine));
    return invocation.print(plan_report(plan, "", {kNothingChanged}),
                            has(plan, setup::StepState::refused) ? kExitProblem : kExitOk);
  }
  TRY_STATUS(take_lock(machine));
  setup::LiveKernel kernel(machine);
  const auto outcome = TRY(setup::revert(machine, kernel, print_line(invocation)));
  return print_outcome(invocation, outcome, "", {kNothingChanged});
}

Result<int> show_status(const Invocation& invocation, const config::Config& config) {
  const auto machine = TRY(open_machine(config));
  const auto plan = TRY(setup::plan_revert(machine));
  return invocation.print(status_report(plan),
                          has(plan, setup::StepState::refused) ? kExitProblem : kExitOk);
}

Result<int> show_profile(const Invocation& invocation, const std::string& name, bool rest) {
  for (const auto& profile : setup::profiles()) {
    if (name.empty()) invocation.out << profile.name << "\n";
    if (profile.name == name) invocation.out << (rest ? profile.rest : profile.text);
  }
  return kExitOk;
}

/// The kubelet's part, as AKS takes it for a pool.
Result<int> show_aks_config(const Invocation& invocation, const setup::Wanted& want) {
  const auto config = setup::aks_kubelet_config(want);
  if (config.empty()) {
    return Error{ErrorCode::usage,
                 "nothing of what is wanted has a place there, but kubelet.topologyManagerPolicy "
                 "has"};
  }
  invocation.out << config;
  return kExitOk;
}

/// What a machine whose /etc is somebody else's is to get from there.
Result<int> show_machine_config(const Invocation& invocation, const Options& options) {
  const auto want = TRY(wanted(options));
  if (options.aks) return show_aks_config(invocation, want);
  if (!pools::is_dns_label(options.role))
    return Error{ErrorCode::usage, in_quotes(options.role) + " is no name of a role"};
  const auto kubelet = setup::kubelet_config(want, options.role);
  if (setup::files_of(want).empty() && kubelet.empty()) {
    return Error{ErrorCode::usage, "nothing of what is wanted has a place in a MachineConfig"};
  }
  const auto left_out = setup::left_out_of_machine_config(want);
  if (!left_out.empty()) {
    invocation.err << "railhead setup machine-config: left out, as a MachineConfig has no file for "
                      "it: "
                   << join(left_out, ", ") << "\n";
  }
  invocation.out << setup::machine_config(want, options.role);
  if (!kubelet.empty()) invocation.out << "---\n" << kubelet;
  return kExitOk;
}

constexpr const char* kSetupFooter =
    "plan and apply --dry-run show, apply does, status and verify look, revert takes back.\n"
    "Exit codes: 0 ok; 1 a step failed or was refused, or the node is not as wanted; 2 the machine "
    "cannot be read; 64 usage.\n"
    "Example: railhead setup plan --profile bare-metal-ib";
constexpr const char* kPlanFooter =
    "A step is todo, done, refused (above --allow, or not ours to change) or parked (waits for "
    "something).\n"
    "Exit codes: 0 shown, whatever there is to do; 2 the file or the machine cannot be read; 64 "
    "usage.\n"
    "Example: railhead setup plan --profile bare-metal-ib --allow R2";
constexpr const char* kApplyFooter =
    "The first step that fails is the last one that is tried; what was done stays, and revert "
    "takes it back.\n"
    "Exit codes: 0 done, or waits for something; 1 a step failed or was refused, with --dry-run "
    "would be; 2 the file or the machine cannot be read, or another setup changes it; 64 usage.\n"
    "Example: railhead setup apply --profile bare-metal-ib --allow R2";
constexpr const char* kVerifyFooter =
    "Exit codes: 0 as wanted; 1 not; 2 the file or the machine cannot be read, or with --repair "
    "another setup changes it; 64 usage.\n"
    "Example: railhead setup verify --from /etc/railhead/setup.yaml --repair";
constexpr const char* kRevertFooter =
    "What somebody else changed since stays, and so does what is in use; a second revert goes on.\n"
    "Exit codes: 0 taken back; 1 something stays, with --dry-run would stay; 2 the machine or the "
    "journal cannot be read, or another setup changes it; 64 usage.\n"
    "Example: railhead setup revert --dry-run";
constexpr const char* kStatusFooter =
    "What is ours is in /var/lib/railhead/setup/journal.json.\n"
    "Exit codes: 0 all is as setup left it; 1 somebody changed some of it since, or uses it; 2 the "
    "machine or the journal cannot be read; 64 usage.\n"
    "Example: railhead setup status -o json";
constexpr const char* kMachineConfigFooter =
    "What it has no place for is named on standard error.\n"
    "Exit codes: 0 printed; 2 the file cannot be read; 64 usage, or nothing of what is wanted has "
    "a place there.\n"
    "Example: railhead setup machine-config --role gpu-worker | oc apply -f -";
constexpr const char* kProfileFooter =
    "Exit codes: 0 printed; 64 there is no such profile.\n"
    "Example: railhead setup profile roce >/etc/railhead/setup.yaml";

CLI::Validator is_profile() {
  std::vector<std::string> names;
  for (const auto& profile : setup::profiles()) names.emplace_back(profile.name);
  return shell::one_of(names, "a profile");
}

void add_wanted_options(CLI::App& app, const SharedOptions& options) {
  auto* profile = app.add_option("--profile", options->profile,
                                 "a wanted state that comes with the program: see setup profile")
                      ->check(is_profile());
  app.add_option(
         "--from", options->file,
         std::string("a file with what is wanted; - is standard input [") + kDefaultFile + "]")
      ->type_name("FILE")
      ->excludes(profile);
}

void add_allow_option(CLI::App& app, const SharedOptions& options) {
  app.add_option("--allow", options->allowed,
                 "the riskiest class to be done: R1 nothing that runs notices, R2 services are "
                 "restarted, R4 takes effect with a reboot [R1]")
      ->check(shell::one_of({"R1", "R2", "R4"}, "a class of steps"));
}

void add_dry_run(CLI::App& app, const SharedOptions& options) {
  app.add_flag("--dry-run", options->dry_run,
               "show what would be done and what would be refused, and do nothing");
}

CLI::App* add_part(CLI::App& setup, Invocation& invocation, const char* name, const char* help,
                   const char* footer) {
  auto* app = setup.add_subcommand(name, help);
  app->footer(footer);
  add_settings(*app, invocation, {"host.root"});
  add_output_option(*app, invocation);
  return app;
}

}  // namespace

void add_setup_command(CLI::App& program, Invocation& invocation) {
  auto* setup = program.add_subcommand(
      "setup", "Prepare this node: modules, NRI, memory lock; planned, applied, taken back");
  setup->require_subcommand(1);
  setup->footer(kSetupFooter);
  const auto options = std::make_shared<Options>();
  auto* plan = add_part(*setup, invocation, "plan", "Show what there is to do; changes nothing",
                        kPlanFooter);
  auto* apply_app =
      add_part(*setup, invocation, "apply", "Do it, step by step, with a journal", kApplyFooter);
  auto* verify_app =
      add_part(*setup, invocation, "verify", "Is the node as wanted?", kVerifyFooter);
  auto* revert_app =
      add_part(*setup, invocation, "revert", "Take back all that apply did", kRevertFooter);
  auto* status =
      add_part(*setup, invocation, "status", "Show what apply changed here", kStatusFooter);
  auto* machine_config = setup->add_subcommand(
      "machine-config", "Print an OpenShift MachineConfig, and KubeletConfig, for what is wanted");
  machine_config->footer(kMachineConfigFooter);
  for (auto* app : {plan, apply_app, verify_app, machine_config}) add_wanted_options(*app, options);
  machine_config
      ->add_option("--role", options->role, "the machine config pool, such as gpu-worker [worker]")
      ->type_name("POOL");
  machine_config->add_flag("--aks", options->aks,
                           "print what az aks nodepool add --kubelet-config takes instead");
  invocation.answer(*machine_config,
                    [&invocation, options] { return show_machine_config(invocation, *options); });
  verify_app->add_flag("--repair", options->repair,
                       "first do again what is of class R1 and not as wanted");
  for (auto* app : {plan, apply_app}) add_allow_option(*app, options);
  for (auto* app : {apply_app, revert_app}) add_dry_run(*app, options);
  add_turn_options(*apply_app, invocation, options->turn);
  invocation.answer_with_config(*plan, [&invocation, options](const config::Config& config) {
    return show_plan(invocation, config, *options, "plan", kExitOk);
  });
  invocation.answer_with_config(*apply_app, [&invocation, options](const config::Config& config) {
    return apply(invocation, config, *options);
  });
  invocation.answer_with_config(*verify_app, [&invocation, options](const config::Config& config) {
    return verify(invocation, config, *options);
  });
  invocation.answer_with_config(*revert_app, [&invocation, options](const config::Config& config) {
    return revert(invocation, config, *options);
  });
  invocation.answer_with_config(*status, [&invocation](const config::Config& config) {
    return show_status(invocation, config);
  });
  auto* profile = setup->add_subcommand("profile", "Print a profile, or the names of all");
  const auto name = std::make_shared<std::string>();
  profile->add_option("NAME", *name, "the profile")->check(is_profile());
  const auto rest = std::make_shared<bool>(false);
  profile->add_flag("--rest", *rest,
                    "print the commands for what no node can do itself: cloud, operators, charts");
  invocation.answer(*profile,
                    [&invocation, name, rest] { return show_profile(invocation, *name, *rest); });
  profile->footer(kProfileFooter);
}

}  // namespace railhead::cli
