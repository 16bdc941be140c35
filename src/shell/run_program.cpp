// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <ostream>
#include <span>

#include "base/closest.h"
#include "base/contains.h"
#include "base/text.h"
#include "base/version.h"
#include "report/text_width.h"
#include "shell/command_page.h"
#include "shell/console.h"

namespace railhead::shell {
namespace {

constexpr std::size_t kHelpColumns = 80;
const std::string kMissing = "a value is missing: ";

/// The last command that was named, or the program.
const CLI::App& named_command(const CLI::App& program) {
  const auto* at = &program;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// What was meant by a word or flag that the command does not know; "" where all are known.
std::string unknown_word(const CLI::App& command, const std::vector<std::string>& words) {
  const auto page = page_of(command);
  std::vector<std::string> commands;
  std::vector<std::string> options;
  for (const auto& one : page.commands) commands.push_back(one.name.substr(page.name.size() + 1));
  for (const auto& one : page.options) {
    options.insert(options.end(), one.names.begin(), one.names.end());
  }
  for (const auto& word : words) {
    const auto flag = word.substr(0, word.find('=', 2));
    if (flag.starts_with('-')) {
      return "no option " + in_quotes(flag) + did_you_mean(flag, options);
    }
    return (commands.empty() ? "no use for " : "no command ") + in_quotes(word) +
           did_you_mean(word, commands);
  }
  return "";
}

/// "--size SIZE", as the help has it.
std::string usage_of(const CLI::App& command, std::string_view name) {
  for (const auto& option : page_of(command).options) {
    if (contains(option.names, std::string(name))) return option.usage();
  }
  return std::string(name);
}

/// The library says "A subcommand is required", "--size: 1 required SIZE missing", "--size: At Most
/// 1 required but received 2" and "Could not convert: --depth = x".
std::string in_plain_words(const CLI::App& command, const CLI::ParseError& problem) {
  constexpr std::string_view kBegin = "Could not convert: ";
  constexpr std::string_view kMiddle = " = ";
  const std::string_view said = problem.what();
  if (said == "A subcommand is required") return "no command is named";
  const auto name_before = [said](std::string_view text) -> std::optional<std::string_view> {
    const auto at = said.find(text);
    if (at == std::string_view::npos) return std::nullopt;
    return said.substr(0, at);
  };
  if (const auto missing = name_before(": 1 required ")) {
    return kMissing + usage_of(command, *missing);
  }
  if (const auto repeated = name_before(": At Most 1 required")) {  // no name: one that help hides
    return (repeated->empty() ? "an option" : std::string(*repeated)) + " is given more than once";
  }
  const auto middle = said.find(kMiddle);
  if (!said.starts_with(kBegin) || middle == std::string_view::npos) return std::string(said);
  const std::string name(said.substr(kBegin.size(), middle - kBegin.size()));
  const auto* option = command.get_option_no_throw(name);
  if (option == nullptr) return std::string(said);
  const auto value = in_quotes(said.substr(middle + kMiddle.size()));
  if (option->get_type_name().empty()) return name + " takes no value, and " + value + " is given";
  return name + " takes " + option->get_type_name() + ", not " + value;
}

/// An option or argument whose value is empty, as of a shell's variable that is not set. It would
/// be as if it were not there. Null where there is none.
const CLI::Option* empty_option(const CLI::App& command, const Console& console) {
  for (const auto* option : command.get_options()) {
    if (!console.may_be_empty.contains(option) && contains(option->results(), std::string())) {
      return option;
    }
  }
  return nullptr;
}

/// Where a word is an option and its value, and the library does not see it: of "--name=" it takes
/// what follows for the value, of "-n=x" the "=" for a part of it. Else 0.
std::size_t begin_of_value(std::string_view word) {
  const auto equals = word.find('=');
  if (!word.starts_with('-') || equals == std::string_view::npos) return 0;
  const bool is_short = word[1] != '-' && equals == 2;
  return is_short || equals + 1 == word.size() ? equals + 1 : 0;
}

/// The words behind the program's own name, the last one first.
std::vector<std::string> reversed_words(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  bool has_options = true;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    has_options = has_options && word != "--";
    const auto value = has_options ? begin_of_value(word) : 0;
    words.push_back(value == 0 ? word : word.substr(0, value - 1));
    if (value != 0) words.push_back(word.substr(value));
  }
  std::ranges::reverse(words);
  return words;
}

/// All commands of an app, and not only those that are named.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && word != "--";
}

const CLI::App* find_command(const CLI::App& app, std::string_view name) {
  for (const auto* command : commands_of(app)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

/// The option of this app or of a command below it; nullptr where none has the name.
const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  if (const auto* option = app.get_option_no_throw(name)) return option;
  for (const auto* command : commands_of(app)) {
    if (const auto* option = find_option(*command, name)) return option;
  }
  return nullptr;
}

/// How many words an option and its value are, if it stands first in `words`.
std::size_t length_of_option(const CLI::App& app, std::span<const std::string> words) {
  const auto* option = find_option(app, words.front());
  const bool takes_value = option != nullptr && option->get_items_expected_max() != 0;
  return takes_value && words.size() > 1 ? 2 : 1;
}

/// The command line with options that stand before the command behind it, where the command knows
/// them: "railhead --config x nics" is "railhead nics --config x".
std::vector<std::string> with_command_first(const CLI::App& program,
                                            const std::vector<std::string>& arguments) {
  const auto* app = &program;
  std::vector<std::string> words(arguments.begin(), arguments.begin() + 1);
  std::vector<std::string> moved;
  std::size_t i = 1;
  while (i < arguments.size() && !commands_of(*app).empty()) {
    const auto& word = arguments[i];
    if (is_option(word)) {
      const auto length = length_of_option(*app, std::span(arguments).subspan(i));
      const bool is_own = app->get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
      auto& into = is_own ? words : moved;
      for (std::size_t end = i + length; i < end; ++i) into.push_back(arguments[i]);
      continue;
    }
    const auto* command = find_command(*app, word);
    if (command == nullptr) return arguments;
    words.push_back(word);
    app = command;
    ++i;
  }
  const bool is_named = commands_of(*app).empty();
  if (is_named) words.insert(words.end(), moved.begin(), moved.end());
  words.insert(words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  return words;
}

int complain(const CLI::App& command, const std::string& what, std::ostream& err) {
  const auto name = full_name(command);
  err << name << ": " << report::printable(what) << "\n" << name << " --help names all\n";
  return kExitUsage;
}

int usage_error(const CLI::App& program, const CLI::ParseError& problem, std::ostream& err) {
  const auto& command = named_command(program);
  auto what = unknown_word(command, command.remaining());
  if (what.empty()) what = unknown_word(command, program.remaining());
  return complain(command, what.empty() ? in_plain_words(command, problem) : what, err);
}

}  // namespace

void begin_program(CLI::App& program, const Console& console) {
  program.set_version_flag("--version", program.get_name() + " " + std::string(version()));
  program.require_subcommand(1);
  const auto columns = console.style().columns;
  program.formatter_fn([columns](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    const auto* parent = app->get_parent();
    return help_text(page_of(*app, parent != nullptr ? full_name(*parent) : ""),
                     columns == 0 ? kHelpColumns : columns);
  });
}

int run_program(std::unique_ptr<CLI::App> program, Console& console,
                const std::vector<std::string>& arguments) {
  const std::string name = program->get_name();
  try {
    program->parse(reversed_words(with_command_first(*program, arguments)));
  } catch (const CLI::Success& asked) {
    program->exit(asked, console.out, console.err);
    return kExitOk;
  } catch (const CLI::ParseError& problem) {
    return usage_error(*program, problem, console.err);
  }
  const auto& command = named_command(*program);
  if (const auto* empty = empty_option(command, console)) {
    return complain(command, kMissing + usage_of(command, empty->get_name()), console.err);
  }
  console.drop_program = [&program] { program.reset(); };
  const int code = console.run();
  if (console.out.flush()) return code;
  console.err << name << ": what was to be said could not be written to standard output\n";
  return kExitCannotTell;
}

}  // namespace railhead::shell
