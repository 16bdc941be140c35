// SPDX-License-Identifier: Apache-2.0
// What says something of the program itself.
#include <ostream>

#include "base/closest.h"
#include "base/text.h"
#include "base/version.h"
#include "shell/command_page.h"
#include "shell/console.h"

namespace railhead::shell {
namespace {

int print_version(const CLI::App& program, const Console& console) {
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
  lines.front() = program.get_name() + " " + std::string(version());
  report.add("", std::move(lines));
  return console.print(report, kExitOk);
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

Result<int> print_help(const CLI::App& program, const Console& console, const HelpFlags& flags) {
  const auto page = TRY(find_page(program, flags.words));
  const auto columns = console.style().columns;
  if (flags.man) {
    console.out << to_man_page(page, version(), commit_date());
  } else if (flags.markdown) {
    console.out << to_markdown(page);
  } else {
    console.out << help_text(page, columns == 0 ? 80 : columns);
  }
  return kExitOk;
}

}  // namespace

void add_version_command(CLI::App& program, Console& console) {
  auto* app = program.add_subcommand("version", "Say which version this is, and how it was built");
  add_output_option(*app, console);
  app->footer("Exit codes: 0.\nExample: " + program.get_name() + " version -o json");
  console.answer(*app,
                 [&program, &console]() -> Result<int> { return print_version(program, console); });
}

void add_completion_command(CLI::App& program, Console& console) {
  auto* app = program.add_subcommand("completion",
                                     "Print the script that makes a shell complete these commands");
  const auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}, "a shell that there is a script for"));
  const auto& name = program.get_name();
  app->footer("Exit codes: 0 ok, 64 there is no script for this shell.\nExamples: source <(" +
              name + " completion bash)\n          " + name + " completion fish | source");
  console.answer(*app, [&program, &console, shell]() -> Result<int> {
    console.out << to_completion(page_of(program), *shell);
    return kExitOk;
  });
}

void add_help_command(CLI::App& program, Console& console, const std::string& one,
                      const std::string& other) {
  auto* app = program.add_subcommand("help", "Show the help of a command, also as a man page");
  const auto flags = std::make_shared<HelpFlags>();
  app->add_option("COMMAND", flags->words, "the command, such as " + one + " [all]");
  auto* man = app->add_flag("--man", flags->man, "as a man page, for man -l -");
  app->add_flag("--markdown", flags->markdown,
                "with all commands below it, as docs/commands.md has it")
      ->excludes(man);
  const auto& name = program.get_name();
  app->footer("Exit codes: 0 ok, 64 there is no such command.\nExamples: " + name + " help " + one +
              "\n          " + name + " help " + other + " --man | man -l -");
  console.answer(*app,
                 [&program, &console, flags] { return print_help(program, console, *flags); });
}

}  // namespace railhead::shell
