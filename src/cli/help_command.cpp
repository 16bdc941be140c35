// SPDX-License-Identifier: Apache-2.0
// What says something of the program itself.
#include <ostream>

#include "base/closest.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/command_page.h"

namespace railhead::cli {
namespace {

int print_version(const Invocation& invocation) {
  report::Report report;
  report.json = report::make_document("Version");
  const std::array<std::pair<const char*, std::string_view>, 5> facts{
      {{"version", version()},
       {"commit", commit()},
       {"commitDate", commit_date()},
       {"compiler", compiler()},
       {"buildType", build_type()}}};
  std::vector<std::string> lines;
  for (const auto& [name, value] : facts) {
    report.json[name] = report::text_or_null(std::string(value));
    lines.push_back(std::string(name) + ": " + (value.empty() ? "unknown" : std::string(value)));
  }
  lines.front() = "railhead " + std::string(version());
  report.add("", std::move(lines));
  return invocation.print(report, kExitOk);
}

struct HelpFlags {
  std::vector<std::string> words;
  bool man = false;
  bool markdown = false;
};

Result<CommandPage> find_page(const CLI::App& program, const std::vector<std::string>& words) {
  auto page = page_of(program);
  for (const auto& word : words) {
    std::vector<std::string> names;
    std::optional<CommandPage> found;
    for (const auto& one : page.commands) {
      names.push_back(one.name.substr(page.name.size() + 1));
      if (names.back() == word) found = one;
    }
    if (!found) {
      return Error{ErrorCode::usage,
                   page.name + " has no command " + in_quotes(word) + did_you_mean(word, names)};
    }
    page = *found;
  }
  return page;
}

Result<int> print_help(const CLI::App& program, const Invocation& invocation,
                       const HelpFlags& flags) {
  const auto page = TRY(find_page(program, flags.words));
  const auto columns = invocation.style().columns;
  if (flags.man) {
    invocation.out << to_man_page(page, version(), commit_date());
  } else if (flags.markdown) {
    invocation.out << to_markdown(page);
  } else {
    invocation.out << help_text(page, columns == 0 ? 80 : columns);
  }
  return kExitOk;
}

}  // namespace

void add_version_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("version", "Say which version this is, and how it was built");
  add_output_option(*app, invocation);
  app->footer("Exit codes: 0.\nExample: railhead version -o json");
  invocation.answer(*app, [&invocation]() -> Result<int> { return print_version(invocation); });
}

void add_completion_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("completion",
                                     "Print the script that makes a shell complete these commands");
  const auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app->footer(
      "Exit codes: 0 ok, 64 there is no script for this shell.\n"
      "Examples: source <(railhead completion bash)\n"
      "          railhead completion fish | source");
  invocation.answer(*app, [&program, &invocation, shell]() -> Result<int> {
    invocation.out << to_completion(page_of(program), *shell);
    return kExitOk;
  });
}

void add_help_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("help", "Show the help of a command, also as a man page");
  const auto flags = std::make_shared<HelpFlags>();
  app->add_option("COMMAND", flags->words, "the command, such as setup plan [all]");
  auto* man = app->add_flag("--man", flags->man, "as a man page, for man -l -");
  app->add_flag("--markdown", flags->markdown,
                "with all commands below it, as docs/commands.md has it")
      ->excludes(man);
  app->footer(
      "Exit codes: 0 ok, 64 there is no such command.\n"
      "Examples: railhead help setup plan\n"
      "          railhead help nics --man | man -l -");
  invocation.answer(
      *app, [&program, &invocation, flags] { return print_help(program, invocation, *flags); });
}

}  // namespace railhead::cli
