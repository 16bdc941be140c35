// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "checks/report.h"
#include "cli/command.h"
#include "host/bounded_host.h"
#include "host/clock.h"
#include "options/options.h"

namespace railhead::cli {
namespace {

struct DoctorFlags {
  std::vector<std::string> checks;  ///< ids; none: all
  std::string explain;
  bool list = false;
  bool all = false;
  std::chrono::milliseconds limit{10'000};
};

Result<const checks::Check*> check_named(const std::string& id) {
  const auto* check = checks::find_check(id);
  if (check != nullptr) return check;
  return Error{ErrorCode::usage, "no check " + in_quotes(id) + "; --list names all"};
}

Result<std::vector<const checks::Check*>> chosen(const DoctorFlags& flags) {
  if (flags.checks.empty()) return checks::all_checks();
  std::vector<const checks::Check*> all;
  for (const auto& id : flags.checks) all.push_back(TRY(check_named(id)));
  return all;
}

/// Without what was made only because something stands behind it.
void keep_chosen(const std::vector<const checks::Check*>& wanted,
                 std::vector<checks::Finding>& findings) {
  std::erase_if(findings, [&](const checks::Finding& finding) {
    return std::find(wanted.begin(), wanted.end(), checks::find_check(finding.id)) == wanted.end();
  });
}

Result<checks::Diagnosis> diagnose(const DoctorFlags& flags, const config::Config& config) {
  const auto wanted = TRY(chosen(flags));
  const auto rules = TRY(options::operator_rules(config));
  const auto topology = TRY(options::operator_topology(config.settings()));
  const auto origin = TRY(options::machine_origin(config.settings()));
  const auto host = TRY(options::open_machine(origin));
  host::SystemClock clock;
  const auto start = clock.now();
  checks::Diagnosis diagnosis;
  diagnosis.limit = flags.limit;
  host::BoundedHost bounded(*host, clock, diagnosis.limit);
  auto node = node::read_node(bounded);
  // A device that was not looked at would seem to be missing.
  if (bounded.left_out() > 0) {
    return Error{ErrorCode::timeout, "reading the node took longer than " +
                                         std::to_string(flags.limit.count()) +
                                         " ms (--time-limit)"};
  }
  auto system = system::read_system(bounded, node, checks::parts_of(wanted));
  const checks::Machine machine(std::move(node), std::move(system),
                                {rules, config.settings().nri.enabled, topology});
  diagnosis.node = machine.node.name;
  diagnosis.findings = checks::run_checks(machine, wanted);
  keep_chosen(wanted, diagnosis.findings);
  diagnosis.left_out = bounded.left_out();
  diagnosis.took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - start);
  return diagnosis;
}

int exit_code_of(const checks::Diagnosis& diagnosis) {
  switch (checks::outcome_of(diagnosis)) {
    case checks::Outcome::good: return kExitOk;
    case checks::Outcome::problem: return kExitProblem;
    case checks::Outcome::unknown: break;
  }
  return kExitCannotTell;
}

Result<int> run_doctor(const Invocation& invocation, const DoctorFlags& flags,
                       const config::Config& config) {
  if (flags.list) return invocation.print(checks::list_of_checks(), kExitOk);
  if (!flags.explain.empty()) {
    const auto* check = TRY(check_named(flags.explain));
    return invocation.print(checks::explanation_of(*check), kExitOk);
  }
  const auto diagnosis = TRY(diagnose(flags, config));
  const bool for_people = invocation.output == "table" || invocation.output == "wide";
  if (!flags.checks.empty() && for_people) invocation.out << checks::headline(diagnosis) << "\n\n";
  return invocation.print(checks::report_of(diagnosis, flags.all), exit_code_of(diagnosis));
}

}  // namespace

void add_doctor_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "doctor", "Say what is wrong with RDMA on this node, with evidence and remedy");
  auto flags = std::make_shared<DoctorFlags>();
  add_settings(*app, invocation, {"host.root", "host.snapshot", "topology.file", "nri.enabled"});
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->add_option("--check", flags->checks,
                  "make this check only, and say the result in a first line below 80 characters; "
                  "may be repeated")
      ->type_name("ID")
      ->allow_extra_args(false);
  app->add_option("--explain", flags->explain, "what a check looks at, its rule and its remedy")
      ->type_name("ID");
  app->add_flag("--list", flags->list, "every check, in a line");
  app->add_flag("--all", flags->all, "every finding, also what is right");
  add_duration_option(*app, "--time-limit", flags->limit, std::chrono::milliseconds(1),
                      "read no more after so long, such as 10s or 500ms; what is left out is "
                      "UNKNOWN [10s]");
  app->footer(
      "Exit codes: 0 nothing failed (warnings do not count), 1 something failed, 2 nothing failed "
      "and something is not known.\n"
      "Example: railhead doctor --check link.port-state");
  invocation.answer_with_config(*app, [&invocation, flags](const config::Config& config) {
    return run_doctor(invocation, *flags, config);
  });
}

}  // namespace railhead::cli
