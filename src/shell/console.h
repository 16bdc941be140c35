// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "host/environment.h"
#include "host/terminal.h"
#include "report/report.h"
#include "shell/exit_code.h"

namespace railhead::shell {

/// Where a program runs, what its output flags say, and the command that was named.
struct Console {
  const host::Environment& environment;
  std::ostream& out;
  std::ostream& err;
  host::Terminal terminal;  ///< what `out` is
  std::string output = "table";
  bool no_headers = false;
  std::string color = "auto";
  bool watch = false;
  std::function<int()> run{};  ///< set by the command that was named
  /// For a command that stays: frees what has read the command line, some 400 KiB.
  std::function<void()> drop_program{};
  std::set<const CLI::Option*> may_be_empty{};  ///< of others an empty value is none
  mutable std::string last_printed{};           ///< by the look before, of --watch

  /// What the command does where it is named. `answer` gives the exit code; an error is printed for
  /// a person, and the code is that of a usage error for one, else kExitCannotTell.
  void answer(CLI::App& app, const std::function<Result<int>()>& answer);

  /// How text is printed: by the terminal, COLUMNS, NO_COLOR and the flags.
  [[nodiscard]] report::PrintStyle style() const;

  /// Writes the report in the asked format and returns `code`. Notes go to `err` where `out` is no
  /// terminal, or headers are unwanted. With --watch, only what is another than before.
  int print(const report::Report& report, int code) const;
};

/// Refuses what is none of these words, and names the one that was meant.
CLI::Validator one_of(const std::vector<std::string>& words, const std::string& what);

/// Refuses what is no whole number of this range.
CLI::Validator number_between(std::uint64_t least, std::uint64_t most);

/// That no row has this id, which one was meant, and `where` all are named.
Error no_such(const std::string& what, const std::string& id, const std::vector<std::string>& ids,
              const std::string& where);

/// -o, --no-headers and --color; `more` names formats beyond table, wide, json, yaml. Any other is
/// refused when the command line is read.
void add_output_option(CLI::App& app, Console& console, const std::vector<std::string>& more = {});

/// -w, for what changes while one looks.
void add_watch_option(CLI::App& app, Console& console);

/// An option for a time (base/duration.h), in `unit`s where it is a number alone.
CLI::Option* add_duration_option(CLI::App& app, const std::string& names,
                                 std::chrono::milliseconds& into, std::chrono::milliseconds unit,
                                 const std::string& help);

/// What a program says of itself. `one` and `other` are commands of it, for the help's examples.
void add_version_command(CLI::App& program, Console& console);
void add_completion_command(CLI::App& program, Console& console);
void add_help_command(CLI::App& program, Console& console, const std::string& one,
                      const std::string& other);

/// A program of commands: how it shows help and its version. Before the first command is added, as
/// commands inherit it.
void begin_program(CLI::App& program, const Console& console);

/// Reads the command line, whose first word is the program's own name, and runs the command that it
/// names. Returns the exit code; a word that nothing has is answered with the one that was meant.
int run_program(std::unique_ptr<CLI::App> program, Console& console,
                const std::vector<std::string>& arguments);

}  // namespace railhead::shell
