// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "host/input_file.h"
#include "pools/resource_name.h"
#include "report/text_width.h"
#include "setup/apply.h"

namespace railhead::cli {
namespace {

constexpr const char* kDefaultFile = "/etc/railhead/setup.yaml";
constexpr std::size_t kMaxWantedBytes = std::size_t{1} << 20;

struct Options {
  std::string profile;
  std::string file;
  std::string allowed = "R1";
  bool dry_run = false;
  bool repair = false;
  std::string role = "worker";
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

report::Report plan_report(const setup::Plan& plan, const std::string& source) {
  report::Report report;
  report.json = report::make_document("Setup");
  report.json["wanted"] = report::text_or_null(source);
  report.json["steps"] = data::json_list(plan, step_json);
  report::Table table;
  for (const auto& step : plan) {
    table.add({{"STATE", std::string(to_string(step.state))},
               {"CLASS", std::string(to_string(step.risk))},
               {"STEP", step.title, report::kKept},
               {"BEFORE", step.before},
               {"AFTER", step.after},
               {"REASON", step.reason, report::kKept},
               {"ID", step.id, report::kWide}});
  }
  report.add(std::move(table), "Nothing is wanted.");
  return report;
}

bool has(const setup::Plan& plan, setup::StepState state) {
  return std::any_of(plan.begin(), plan.end(),
                     [&](const setup::Step& step) { return step.state == state; });
}

bool is_all_done(const setup::Plan& plan) {
  return std::all_of(plan.begin(), plan.end(),
                     [](const setup::Step& step) { return step.state == setup::StepState::done; });
}

/// One line a step as it is known, for the log of an init container.
setup::StepObserver print_line(const Invocation& invocation) {
  return [&invocation](const setup::Step& step) {
    if (invocation.output != "table") return;
    const bool failed = step.reason.starts_with("failed: ");
    const std::string_view word = step.state == setup::StepState::done                ? "OK"
                                  : step.state == setup::StepState::parked && !failed ? "WAIT"
                                                                                      : "FAIL";
    invocation.out << word << ": " << report::printable(step.title);
    if (!step.reason.empty()) invocation.out << " (" << report::printable(step.reason) << ")";
    invocation.out << std::endl;
  };
}

int print_outcome(const Invocation& invocation, const setup::Outcome& outcome,
                  const std::string& source) {
  const bool good = !outcome.has_failed && !has(outcome.steps, setup::StepState::refused);
  const int code = good ? kExitOk : kExitProblem;
  if (invocation.output == "table") return code;
  return invocation.print(plan_report(outcome.steps, source), code);
}

Result<setup::Machine> open_machine(const config::Config& config) {
  return setup::Machine::open(config.settings().host.root);
}

/// Two that change one machine would take each other's changes for somebody else's.
Status take_lock(const setup::Machine& machine) {
  if (TRY(machine.tree->lock())) return {};
  return Error{ErrorCode::unavailable, "another railhead setup changes this machine"};
}

Result<int> show_plan(const Invocation& invocation, const config::Config& config,
                      const Options& options) {
  const auto want = TRY(wanted(options));
  const auto machine = TRY(open_machine(config));
  return invocation.print(
      plan_report(TRY(setup::make_plan(machine, want, allowed(options))), want.source), kExitOk);
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
  const auto want = TRY(wanted(options));
  const auto machine = TRY(open_machine(config));
  if (options.repair) TRY_STATUS(repair(invocation, machine, want));
  const auto plan = TRY(setup::make_plan(machine, want, setup::Risk::reboot));
  return invocation.print(plan_report(plan, want.source),
                          is_all_done(plan) ? kExitOk : kExitProblem);
}

Result<int> apply(const Invocation& invocation, const config::Config& config,
                  const Options& options) {
  if (options.dry_run) return show_plan(invocation, config, options);
  const auto want = TRY(wanted(options));
  const auto machine = TRY(open_machine(config));
  TRY_STATUS(take_lock(machine));
  setup::LiveKernel kernel(machine);
  const auto outcome =
      TRY(setup::apply(machine, kernel, want, allowed(options), print_line(invocation)));
  return print_outcome(invocation, outcome, want.source);
}

Result<int> revert(const Invocation& invocation, const config::Config& config,
                   const Options& options) {
  const auto machine = TRY(open_machine(config));
  if (options.dry_run)
    return invocation.print(plan_report(TRY(setup::plan_revert(machine)), ""), kExitOk);
  TRY_STATUS(take_lock(machine));
  setup::LiveKernel kernel(machine);
  const auto outcome = TRY(setup::revert(machine, kernel, print_line(invocation)));
  return print_outcome(invocation, outcome, "");
}

/// What of the machine is ours.
Result<int> show_status(const Invocation& invocation, const config::Config& config) {
  const auto machine = TRY(open_machine(config));
  const auto plan = TRY(setup::plan_revert(machine));
  auto report = plan_report(plan, "");
  report.json["kind"] = "SetupStatus";
  if (plan.empty()) report.sections = {{"", {}, {"Nothing here was changed by setup."}}};
  return invocation.print(report, has(plan, setup::StepState::refused) ? kExitProblem : kExitOk);
}

Result<int> show_profile(const Invocation& invocation, const std::string& name, bool rest) {
  for (const auto& profile : setup::profiles()) {
    if (name.empty()) invocation.out << profile.name << "\n";
    if (profile.name == name) invocation.out << (rest ? profile.rest : profile.text);
  }
  if (!name.empty()) TRY(setup::find_profile(name));
  return kExitOk;
}

/// What a machine whose /etc is somebody else's is to get from there.
Result<int> show_machine_config(const Invocation& invocation, const Options& options) {
  const auto want = TRY(wanted(options));
  if (!pools::is_dns_label(options.role))
    return Error{ErrorCode::usage, in_quotes(options.role) + " is no name of a role"};
  const auto kubelet = setup::kubelet_config(want, options.role);
  if (setup::files_of(want).empty() && kubelet.empty()) {
    return Error{ErrorCode::usage, "nothing of what is wanted has a place in a MachineConfig"};
  }
  const auto left_out = setup::left_out_of_machine_config(want);
  if (!left_out.empty()) {
    invocation.err << "railhead: left out, as a MachineConfig has no file for it: "
                   << join(left_out, ", ") << "\n";
  }
  invocation.out << setup::machine_config(want, options.role);
  if (!kubelet.empty()) invocation.out << "---\n" << kubelet;
  return kExitOk;
}

void add_wanted_options(CLI::App& app, const SharedOptions& options) {
  auto* profile = app.add_option("--profile", options->profile,
                                 "a wanted state that comes with the program: see setup profile");
  app.add_option("--from", options->file,
                 std::string("a file with what is wanted (default ") + kDefaultFile +
                     "); - is standard input")
      ->excludes(profile);
}

void add_allow_option(CLI::App& app, const SharedOptions& options) {
  app.add_option("--allow", options->allowed,
                 "the riskiest class to be done: R1 nothing that runs notices, R2 services are "
                 "restarted, R4 takes effect with a reboot")
      ->check(CLI::IsMember({"R1", "R2", "R4"}))
      ->capture_default_str();
}

void add_dry_run(CLI::App& app, const SharedOptions& options) {
  app.add_flag("--dry-run", options->dry_run, "show what would be done, and do nothing");
}

/// Exit codes and examples of each part.
constexpr std::array<std::pair<const char*, const char*>, 7> kFooters = {{
    {"plan",
     "Exit codes: 0 ok, whatever there is to do; 2 the machine cannot be read; 64 usage.\n"
     "Examples: railhead setup plan --profile bare-metal-ib --allow R4\n"
     "          railhead setup plan --from setup.yaml -o json"},
    {"apply",
     "Exit codes: 0 done, or waits for something; 1 a step failed or was refused; 2 the machine "
     "cannot be read; 64 usage.\n"
     "Example: railhead setup apply --profile bare-metal-ib --allow R2"},
    {"verify",
     "Exit codes: 0 as wanted, 1 not, 2 the machine cannot be read, 64 usage.\n"
     "Examples: railhead setup verify --from setup.yaml\n"
     "          railhead setup verify --from setup.yaml --repair"},
    {"revert",
     "Exit codes: 0 all was taken back; 1 something failed, or was changed by somebody else "
     "since and stays; 2 the machine cannot be read; 64 usage.\n"
     "Examples: railhead setup revert --dry-run\n"
     "          railhead setup revert"},
    {"status",
     "Exit codes: 0 ok; 1 something was changed by somebody else since, and revert would leave "
     "it; 2 the machine cannot be read; 64 usage.\n"
     "Example: railhead setup status"},
    {"machine-config",
     "Exit codes: 0 ok, 64 nothing of what is wanted has a place in a MachineConfig.\n"
     "Example: railhead setup machine-config --profile openshift-full-stack >mc.yaml"},
    {"profile",
     "Exit codes: 0 ok, 64 there is no such profile.\n"
     "Examples: railhead setup profile\n"
     "          railhead setup profile bare-metal-ib > setup.yaml"},
}};

CLI::App* add_part(CLI::App& setup, Invocation& invocation, const char* name, const char* help) {
  auto* app = setup.add_subcommand(name, help);
  add_settings(*app, invocation, {"host.root"});
  add_output_option(*app, invocation);
  return app;
}

}  // namespace

void add_setup_command(CLI::App& program, Invocation& invocation) {
  auto* setup = program.add_subcommand(
      "setup", "Prepare this node: modules, NRI, memory lock; planned, applied, taken back");
  setup->require_subcommand(1);
  setup->footer(
      "Exit codes: 0 ok, 1 a step failed or was refused or the node is not as wanted, 2 the "
      "machine cannot be read, 64 usage.\n"
      "Example: railhead setup plan --profile bare-metal-ib");
  const auto options = std::make_shared<Options>();
  auto* plan = add_part(*setup, invocation, "plan", "Show what there is to do; changes nothing");
  auto* apply_app = add_part(*setup, invocation, "apply", "Do it, step by step, with a journal");
  auto* verify_app = add_part(*setup, invocation, "verify", "Is the node as wanted?");
  auto* revert_app = add_part(*setup, invocation, "revert", "Take back all that apply did");
  auto* status = add_part(*setup, invocation, "status", "Show what apply changed here");
  auto* machine_config = setup->add_subcommand(
      "machine-config", "Print an OpenShift MachineConfig, and KubeletConfig, for what is wanted");
  for (auto* app : {plan, apply_app, verify_app, machine_config}) add_wanted_options(*app, options);
  machine_config->add_option("--role", options->role, "the machine config pool, such as gpu-worker")
      ->capture_default_str();
  invocation.answer(*machine_config,
                    [&invocation, options] { return show_machine_config(invocation, *options); });
  verify_app->add_flag("--repair", options->repair,
                       "first do again what is of class R1 and not as wanted");
  for (auto* app : {plan, apply_app}) add_allow_option(*app, options);
  for (auto* app : {apply_app, revert_app}) add_dry_run(*app, options);
  invocation.answer_with_config(*plan, [&invocation, options](const config::Config& config) {
    return show_plan(invocation, config, *options);
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
  profile->add_option("NAME", *name, "the profile")->type_name("");
  const auto rest = std::make_shared<bool>(false);
  profile->add_flag("--rest", *rest,
                    "print the commands for what no node can do itself: cloud, operators, charts");
  invocation.answer(*profile,
                    [&invocation, name, rest] { return show_profile(invocation, *name, *rest); });
  for (const auto& [command, footer] : kFooters) setup->get_subcommand(command)->footer(footer);
}

}  // namespace railhead::cli
