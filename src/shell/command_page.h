// SPDX-License-Identifier: Apache-2.0
//
// A command as its definition has it, as a value. The help, the man pages, docs/commands.md and the
// completion of shells are all made of it, so none of them can lack an option.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT: the name is that of the library
class App;
}

namespace railhead::shell {

struct OptionPage {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument "FILE"
  std::string shape;               ///< of its value: "FILE", "text|json"; "" for a switch
  bool value_may_be_left_out = false;
  std::string help;
  std::string group;  ///< the heading above it
  bool is_argument = false;
  bool is_required = false;
  bool takes_several = false;  ///< of an argument

  /// What the value can be; empty where that is no choice of words.
  [[nodiscard]] std::vector<std::string> words() const;
  /// "-o, --output table|wide|json|yaml".
  [[nodiscard]] std::string usage() const;
};

struct CommandPage {
  std::string name;  ///< "railhead setup plan"
  std::string help;
  std::string footer;  ///< exit codes and examples
  std::vector<OptionPage> options;
  std::vector<CommandPage> commands;
};

/// A command with those that it is one of: "railhead setup plan".
std::string full_name(const CLI::App& command);

/// The command with all below it. `parents`: "railhead setup".
CommandPage page_of(const CLI::App& app, const std::string& parents = {});

/// `railhead COMMAND --help`, in lines of at most `columns`.
std::string help_text(const CommandPage& page, std::size_t columns);

/// docs/commands.md: this command and all below it.
std::string to_markdown(const CommandPage& page);

/// A man page of section 1, in man(7). `date`: of the commit, as 2026-01-31.
std::string to_man_page(const CommandPage& page, std::string_view version, std::string_view date);

/// The script that makes a shell complete the command's words: "bash", "zsh" or "fish".
std::string to_completion(const CommandPage& page, std::string_view shell);

}  // namespace railhead::shell
