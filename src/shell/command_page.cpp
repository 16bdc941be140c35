// SPDX-License-Identifier: Apache-2.0
#include "shell/command_page.h"

#include <algorithm>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::shell {
namespace {

constexpr std::size_t kHelpAt = 26;  ///< the column where what an option does begins

/// Lines of at most `columns`, broken at blanks; all but the first begin with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent,
                    std::size_t taken) {
  std::string out;
  std::size_t at = taken;
  for (const auto word : split_words(text)) {
    if (at > indent && at + 1 + word.size() > columns) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      out += " ";
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out;
}

std::string option_lines(const OptionPage& option, std::size_t columns) {
  std::string out = "  " + option.usage();
  if (out.size() + 2 > kHelpAt) {
    out += "\n";
    out.append(kHelpAt, ' ');
  } else {
    out.append(kHelpAt - out.size(), ' ');
  }
  return out + wrapped(option.help, columns, kHelpAt, kHelpAt) + "\n";
}

/// Arguments first, then in the order of definition.
std::vector<std::string> headings(const CommandPage& page) {
  std::vector<std::string> all;
  for (const auto& option : page.options) {
    if (!contains(all, option.group)) all.push_back(option.group);
  }
  std::stable_partition(all.begin(), all.end(), [](const auto& one) { return one == "Arguments"; });
  return all;
}

std::string usage_line(const CommandPage& page) {
  std::string line = page.name;
  if (!page.commands.empty()) return line + " COMMAND";
  line += " [OPTIONS]";
  for (const auto& option : page.options) {
    if (option.is_argument) line += " [" + option.names.front() + "…]";
  }
  return line;
}

std::string to_upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

/// Groff takes a line that begins with a dot or an apostrophe for a request.
std::string escaped_for_man(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> OptionPage::words() const {
  auto text = std::string_view(shape);
  if (const auto brace = text.find('{'); brace != std::string_view::npos && text.ends_with('}')) {
    std::vector<std::string> listed;  // "TEXT:{R1,R2}" is how CLI11 names a check
    for (const auto word : split(text.substr(brace + 1, text.size() - brace - 2), ',')) {
      listed.emplace_back(word);
    }
    return listed;
  }
  std::vector<std::string> found;
  if (text.find('|') == std::string_view::npos) return found;
  for (const auto word : split(text, '|')) {
    const bool is_placeholder =
        !word.empty() && word.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
    if (!is_placeholder) found.emplace_back(word);
  }
  return found;
}

std::string OptionPage::usage() const {
  auto text = join(names, ", ");
  if (shape.empty() || is_argument) return text;
  if (value_may_be_left_out) return text + "[=" + shape + "]";
  const auto listed = words();
  return text + " " + (shape.find('{') == std::string::npos ? shape : join(listed, "|"));
}

std::string help_text(const CommandPage& page, std::size_t columns) {
  std::string out = wrapped(page.help, columns, 0, 0) + "\n\nUsage: " + usage_line(page) + "\n";
  for (const auto& heading : headings(page)) {
    out += "\n" + heading + ":\n";
    for (const auto& option : page.options) {
      if (option.group == heading) out += option_lines(option, columns);
    }
  }
  if (!page.commands.empty()) out += "\nCommands:\n";
  for (const auto& command : page.commands) {
    OptionPage row;
    row.names = {command.name.substr(page.name.size() + 1)};
    row.help = command.help;
    out += option_lines(row, columns);
  }
  if (page.footer.empty()) return out;
  out += "\n";
  for (const auto line : split(page.footer, '\n')) {
    const auto blanks = std::min(line.find_first_not_of(' '), line.size());
    // A line that is an example, or begins with blanks, is as its writer wants it.
    const bool stays = line.size() <= columns || blanks > 0;
    out += (stays ? std::string(line) : wrapped(line, columns, 0, 0)) + "\n";
  }
  return out;
}

std::string to_markdown(const CommandPage& page) {
  constexpr std::size_t kColumns = 100;
  std::string out = "## " + page.name + "\n\n```\n" + help_text(page, kColumns) + "```\n";
  for (const auto& command : page.commands) out += "\n" + to_markdown(command);
  return out;
}

std::string to_man_page(const CommandPage& page, std::string_view version, std::string_view date) {
  std::string name = page.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  std::string out = ".\\\" Made of the definition of the command's options.\n";
  out += ".TH " + to_upper(name) + " 1 \"" + std::string(date) + "\" \"railhead " +
         std::string(version) + "\"\n.ad l\n.SH NAME\n" + escaped_for_man(name) + " \\- " +
         escaped_for_man(page.help) + "\n";
  out += ".SH SYNOPSIS\n.B " + escaped_for_man(page.name) + "\n" +
         escaped_for_man(usage_line(page).substr(page.name.size() + 1)) + "\n";
  for (const auto& heading : headings(page)) {
    out += ".SH \"" + to_upper(heading) + "\"\n";
    for (const auto& option : page.options) {
      if (option.group != heading) continue;
      out +=
          ".TP\n.B " + escaped_for_man(option.usage()) + "\n" + escaped_for_man(option.help) + "\n";
    }
  }
  if (!page.commands.empty()) out += ".SH COMMANDS\n";
  for (const auto& command : page.commands) {
    out += ".TP\n.B " + escaped_for_man(command.name) + "\n" + escaped_for_man(command.help) + "\n";
  }
  if (!page.footer.empty()) {
    out += ".SH NOTES\n.nf\n" + escaped_for_man(page.footer) + "\n.fi\n";
  }
  return out;
}

}  // namespace railhead::shell
