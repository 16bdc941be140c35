// SPDX-License-Identifier: Apache-2.0
//
// Scripts that complete a command line. The command is found by walking the words before the
// cursor; then either the value of the option before it is completed, or options and commands are.
#include <algorithm>

#include "base/text.h"
#include "shell/command_page.h"

namespace railhead::shell {
namespace {

/// What the value of an option may be.
enum class Value { none, words, file, folder, other };

Value value_of(const OptionPage& option) {
  if (option.shape.empty() || option.value_may_be_left_out) return Value::none;
  if (!option.words().empty()) return Value::words;
  if (option.shape == "DIR") return Value::folder;
  return option.shape == "FILE" || option.shape == "PATH" ? Value::file : Value::other;
}

std::vector<std::string> option_names(const CommandPage& page) {
  std::vector<std::string> names;
  for (const auto& option : page.options) {
    if (!option.is_argument) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::string last_word(const CommandPage& page) {
  return page.name.substr(page.name.rfind(' ') + 1);
}

std::vector<std::string> command_names(const CommandPage& page) {
  std::vector<std::string> names;
  for (const auto& command : page.commands) names.push_back(last_word(command));
  return names;
}

/// What its arguments may be; those of help are commands.
std::vector<std::string> argument_words(const CommandPage& root, const CommandPage& page) {
  for (const auto& option : page.options) {
    if (!option.is_argument) continue;
    if (!option.words().empty()) return option.words();
    if (option.names.front() == "COMMAND") return command_names(root);
  }
  return {};
}

bool takes_files(const CommandPage& page) {
  return std::ranges::any_of(page.options, [](const OptionPage& option) {
    return option.is_argument && option.names.front() == "FILE";
  });
}

/// The command and all below it.
std::vector<const CommandPage*> all_pages(const CommandPage& page) {
  std::vector<const CommandPage*> pages{&page};
  for (const auto& command : page.commands) {
    for (const auto* one : all_pages(command)) pages.push_back(one);
  }
  return pages;
}

/// How bash and zsh say it.
struct Shell {
  std::string_view words;  ///< before the words in quotes
  std::string_view after;  ///< behind them
  std::string_view files;
  std::string_view folders;
};

// What is called filenames gets a slash behind a folder, and its blanks are quoted.
constexpr Shell kBash{"COMPREPLY=($(compgen -W \"", "\" -- \"$cur\"))",
                      "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "
                      "\"$cur\")",
                      "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "
                      "\"$cur\")"};
constexpr Shell kZsh{"compadd -- ", "", "_files", "_files -/"};

std::string offer(const Shell& shell, const std::vector<std::string>& words) {
  return std::string(shell.words) + join(words, " ") + std::string(shell.after);
}

std::string value_cases(const CommandPage& root, const Shell& shell) {
  std::string out;
  for (const auto* page : all_pages(root)) {
    for (const auto& option : page->options) {
      const auto kind = value_of(option);
      if (kind == Value::none || option.is_argument) continue;
      const auto pattern = [&](const auto& name) { return "\"" + page->name + " " + name + "\""; };
      out += "    " + join(option.names, "|", pattern) + ") ";
      if (kind == Value::words) out += offer(shell, option.words()) + "; ";
      if (kind == Value::file) out += std::string(shell.files) + "; ";
      if (kind == Value::folder) out += std::string(shell.folders) + "; ";
      out += "return ;;\n";
    }
  }
  return out;
}

std::string command_cases(const CommandPage& root) {
  std::vector<std::string> patterns;
  for (const auto* page : all_pages(root)) {
    if (page != &root) patterns.push_back("\"" + page->name + "\"");
  }
  return "      " + join(patterns, "|") + ") at=\"$at $word\" ;;\n";
}

std::string word_cases(const CommandPage& root, const Shell& shell) {
  std::string out;
  for (const auto* page : all_pages(root)) {
    auto words = command_names(*page);
    const auto arguments = argument_words(root, *page);
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto options = option_names(*page);
    out += "    \"" + page->name + "\")\n";
    out += "      if [[ \"$cur\" == -* ]]; then " + offer(shell, options) + "\n";
    if (takes_files(*page)) {
      out += "      else " + std::string(shell.files) + "\n";
    } else if (!words.empty()) {
      out += "      else " + offer(shell, words) + "\n";
    }
    out += "      fi ;;\n";
  }
  return out;
}

/// The shell function that completes the program: "_railhead_bench".
std::string function_of(const CommandPage& root) {
  std::string name = "_" + root.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string bash_script(const CommandPage& root) {
  const auto& name = root.name;
  return "# Completion of " + name + " for bash: source <(" + name + " completion bash)\n" +
         function_of(root) +
         "() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local at=" +
         name +
         " word i\n"
         "  COMPREPLY=()\n"
         "  # --output=json are three words.\n"
         "  if [[ \"$cur\" == \"=\" ]]; then cur=\"\"\n"
         "  elif [[ \"$before\" == \"=\" ]]; then before=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    word=\"${COMP_WORDS[i]}\"\n"
         "    case \"$at $word\" in\n" +
         command_cases(root) +
         "    esac\n"
         "  done\n"
         "  case \"$at $before\" in\n" +
         value_cases(root, kBash) +
         "  esac\n"
         "  case \"$at\" in\n" +
         word_cases(root, kBash) +
         "  esac\n"
         "}\n"
         "complete -F " +
         function_of(root) + " " + name + "\n";
}

std::string zsh_script(const CommandPage& root) {
  const auto& name = root.name;
  return "#compdef " + name + "\n# Completion of " + name + " for zsh: source <(" + name +
         " completion zsh), after compinit\n" + function_of(root) +
         "() {\n"
         "  local cur=\"$words[CURRENT]\" before=\"$words[CURRENT-1]\" at=" +
         name +
         " word\n"
         "  if [[ \"$cur\" == --*=* ]]; then before=\"${cur%%=*}\"; cur=\"\"; compset -P '*='; fi\n"
         "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
         "    case \"$at $word\" in\n" +
         command_cases(root) +
         "    esac\n"
         "  done\n"
         "  case \"$at $before\" in\n" +
         value_cases(root, kZsh) +
         "  esac\n"
         "  case \"$at\" in\n" +
         word_cases(root, kZsh) +
         "  esac\n"
         "}\n"
         "# Sourced, or found by zsh in a file of this name when it is first needed.\n"
         "if [[ \"$funcstack[1]\" == " +
         function_of(root) + " ]]; then " + function_of(root) + "; else compdef " +
         function_of(root) + " " + name + "; fi\n";
}

std::string in_fish_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// True in fish where the command line has named this command and none below it.
std::string fish_condition(const CommandPage& page) {
  const auto words = split_words(page.name);
  std::vector<std::string> terms;
  for (std::size_t i = 1; i < words.size(); ++i) {
    terms.push_back("__fish_seen_subcommand_from " + std::string(words[i]));
  }
  if (!page.commands.empty()) {
    terms.push_back("not __fish_seen_subcommand_from " + join(command_names(page), " "));
  }
  return in_fish_quotes(join(terms, "; and "));
}

std::string fish_option(const std::string& start, const CommandPage& page,
                        const OptionPage& option) {
  std::string line = start + " -n " + fish_condition(page);
  for (const auto& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  switch (value_of(option)) {
    case Value::none: break;
    case Value::words: line += " -x -a " + in_fish_quotes(join(option.words(), " ")); break;
    case Value::file: line += " -r -F"; break;
    case Value::folder: line += " -x -a '(__fish_complete_directories)'"; break;
    case Value::other: line += " -x"; break;
  }
  return line + " -d " + in_fish_quotes(option.help) + "\n";
}

std::string fish_script(const CommandPage& root) {
  const auto start = "complete -c " + root.name;
  std::string out = "# Completion of " + root.name + " for fish: " + root.name +
                    " completion fish | source\n" + start + " -f\n";
  for (const auto* page : all_pages(root)) {
    for (const auto& command : page->commands) {
      out += start + " -n " + fish_condition(*page) + " -a " + last_word(command) + " -d " +
             in_fish_quotes(command.help) + "\n";
    }
    for (const auto& option : page->options) {
      if (!option.is_argument) out += fish_option(start, *page, option);
    }
    const auto words = argument_words(root, *page);
    if (!words.empty()) {
      out +=
          start + " -n " + fish_condition(*page) + " -a " + in_fish_quotes(join(words, " ")) + "\n";
    }
    if (takes_files(*page)) out += start + " -n " + fish_condition(*page) + " -F\n";
  }
  return out;
}

}  // namespace

std::string to_completion(const CommandPage& page, std::string_view shell) {
  if (shell == "zsh") return zsh_script(page);
  return shell == "fish" ? fish_script(page) : bash_script(page);
}

}  // namespace railhead::shell
