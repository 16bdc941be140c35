// SPDX-License-Identifier: Apache-2.0
#include "shell/console.h"

#include <ostream>

#include "base/closest.h"
#include "base/contains.h"
#include "base/duration.h"
#include "base/text.h"
#include "host/clock.h"
#include "report/text_width.h"
#include "shell/command_page.h"

namespace railhead::shell {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{2000};
constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& words, const std::string& what) {
  const auto check = [words, what](const std::string& text) {
    if (contains(words, text)) return std::string();
    return in_quotes(text) + " is not " + what + " (" + join(words, "|") + ")" +
           did_you_mean(text, words);
  };
  return {check, "{" + join(words, ",") + "}"};
}

CLI::Validator number_between(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) {
    const auto number = parse_unsigned(text);
    if (number && *number >= least && *number <= most) return std::string();
    return in_quotes(text) + " is no number from " + std::to_string(least) + " to " +
           std::to_string(most);
  };
  return {check, ""};
}

Error no_such(const std::string& what, const std::string& id, const std::vector<std::string>& ids,
              const std::string& where) {
  const auto meant = did_you_mean(id, ids);
  return {ErrorCode::usage,
          "no " + what + " " + in_quotes(id) + (meant.empty() ? ";" : meant) + " " + where};
}

void Console::answer(CLI::App& app, const std::function<Result<int>()>& answer) {
  app.callback([this, &app, answer] {
    run = [this, name = full_name(app), answer]() -> int {  // the app may be dropped meanwhile
      auto code = answer();
      while (code && watch && out.flush()) {
        host::SystemClock().wait(kBetweenLooks);
        code = answer();
      }
      if (code) return *code;
      err << name << ": " << report::printable(code.error().message) << "\n";
      return code.error().code == ErrorCode::usage ? kExitUsage : kExitCannotTell;
    };
  });
}

report::PrintStyle Console::style() const {
  const auto variable = [&](const char* name) {
    const auto at = environment.find(name);
    return at == environment.end() ? std::string() : at->second;
  };
  report::PrintStyle style;
  const auto columns = parse_unsigned(variable("COLUMNS"));
  style.columns = columns ? static_cast<std::size_t>(*columns) : terminal.columns;
  style.headers = !no_headers;
  const bool wanted =
      terminal.is_terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  style.color = color == "always" || (color == "auto" && wanted);
  return style;
}

int Console::print(const report::Report& report, int code) const {
  const auto* format = report::find_format(output);
  const auto render = [&](report::Printed part) {
    auto how = style();
    how.printed = part;
    return format != nullptr ? format->render(report, how) : report::to_table(report, how);
  };
  // A reader has everything in its order; a program has data alone.
  const bool is_apart = !terminal.is_terminal || no_headers;
  const auto text = render(is_apart ? report::Printed::data : report::Printed::all);
  const auto notes = is_apart ? render(report::Printed::notes) : "";
  if (watch && text + notes == last_printed) return code;
  if (watch && terminal.is_terminal) out << kClearScreen;
  out << text;
  if (watch || !notes.empty()) out << std::flush;
  err << notes;
  if (watch) last_printed = text + notes;
  return code;
}

void add_output_option(CLI::App& app, Console& console, const std::vector<std::string>& more) {
  auto formats = report::format_names();
  formats.insert(formats.end(), more.begin(), more.end());
  app.add_option("-o,--output", console.output, "format [table]")
      ->check(one_of(formats, "a format of this command"));
  app.add_flag("--no-headers", console.no_headers,
               "of a table the rows alone; notes go to standard error");
  const std::vector<std::string> when = {"auto", "always", "never"};
  app.add_option("--color", console.color,
                 "red for what is broken; auto: on a terminal, unless NO_COLOR is set [auto]")
      ->check(one_of(when, "a word of --color"));
}

void add_watch_option(CLI::App& app, Console& console) {
  app.add_flag("-w,--watch", console.watch,
               "look again every 2 s and print what has changed, until interrupted");
}

CLI::Option* add_duration_option(CLI::App& app, const std::string& names,
                                 std::chrono::milliseconds& into, std::chrono::milliseconds unit,
                                 const std::string& help) {
  return app
      .add_option_function<std::string>(
          names,
          [&into, unit, names](const std::string& text) {
            const auto time = parse_duration(text, unit);
            if (!time) throw CLI::ValidationError(names, time.error().message);
            into = *time;
          },
          help)
      ->type_name("TIME");
}

}  // namespace railhead::shell
