// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/command.h"
#include "lint/lint.h"
#include "lint/offers.h"
#include "options/options.h"

namespace railhead::cli {
namespace {

struct LintFlags {
  std::vector<std::string> paths;
  std::string explain;
  bool list = false;
  std::string fail_on = "fail";
};

int exit_code_of_lint(const std::vector<lint::Finding>& findings, const LintFlags& flags) {
  const auto fail_on = flags.fail_on == "warn" ? lint::Severity::warn : lint::Severity::fail;
  switch (lint::outcome_of(findings, fail_on)) {
    case lint::Outcome::good: return kExitOk;
    case lint::Outcome::problem: return kExitProblem;
    case lint::Outcome::unknown: break;
  }
  return kExitCannotTell;
}

/// What Railhead's configuration offers, where it says anything of pools.
Result<std::vector<lint::Offer>> configured_offers(const config::Config& config) {
  if (config.pool_sources().empty()) return std::vector<lint::Offer>();
  return lint::offers_of(TRY(options::pool_specs(config)).specs);
}

Result<int> run_lint(const Invocation& invocation, const LintFlags& flags,
                     const config::Config& config) {
  if (flags.list) return invocation.print(lint::list_of_rules(), kExitOk);
  if (!flags.explain.empty()) {
    const auto* rule = lint::find_rule(flags.explain);
    if (rule == nullptr) {
      std::vector<std::string> ids;
      for (const auto* one : lint::all_rules()) ids.emplace_back(one->id);
      return shell::no_such("rule", flags.explain, ids, "--list names all");
    }
    return invocation.print(lint::explanation_of(*rule), kExitOk);
  }
  if (flags.paths.empty()) return Error{ErrorCode::usage, "no FILE; - is standard input"};
  lint::Objects objects;
  for (const auto& path : flags.paths) {
    auto text = TRY(host::read_input_file(path, lint::kMaxFileBytes));
    lint::read_objects({path, std::move(text)}, objects);
  }
  auto offers = TRY(configured_offers(config));
  const auto given = lint::give(std::move(objects), std::move(offers));
  const auto findings = lint::lint(given);
  return invocation.print(lint::report_of(findings, given.objects.size()),
                          exit_code_of_lint(findings, flags));
}

}  // namespace

void add_lint_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "lint", "Say what is wrong with Kubernetes manifests and Helm values, by file and line");
  auto flags = std::make_shared<LintFlags>();
  app->add_option(
         "FILE", flags->paths,
         "manifests, lists of them, or values of the GPU Operator's or Network Operator's "
         "chart; those that are given together are looked at together; - is standard input")
      ->type_name("");
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->add_option("--explain", flags->explain, "what a rule finds, why it matters and what helps")
      ->type_name("ID");
  add_fail_on_option(*app, flags->fail_on);
  app->add_flag("--list", flags->list, "every rule, in a line");
  app->footer(
      "Exit codes: 0 nothing fails (warnings do not count without --fail-on warn), 1 something "
      "fails, 2 nothing fails and something could not be read.\n"
      "Example: railhead lint pod.yaml nicclusterpolicy.yaml");
  invocation.answer_with_config(*app, [&invocation, flags](const config::Config& config) {
    return run_lint(invocation, *flags, config);
  });
}

}  // namespace railhead::cli
