// SPDX-License-Identifier: Apache-2.0
#include "shell/command_page.h"

#include <algorithm>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::shell {
namespace {

constexpr std::size_t kHelpAt = 26;  ///< the column where what an option does begins

/// The words of a text; one that fits into no line is cut after commas.
std::vector<std::string_view> words_within(std::string_view text, std::size_t most) {
  std::vector<std::string_view> words;
  for (auto word : split_words(text)) {
    while (word.size() > most) {
      const auto comma = word.substr(0, most).rfind(',');
      if (comma == std::string_view::npos) break;
      words.push_back(word.substr(0, comma + 1));
      word.remove_prefix(comma + 1);
    }
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

/// Lines of at most `columns`, broken at blanks; all but the first begin with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent,
                    std::size_t taken) {
  std::string out;
  std::size_t at = taken;
  for (const auto word : words_within(text, columns - std::min(columns, indent))) {
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
  for (const auto& option : page.options) {
    if (option.is_required && !option.is_argument) {
      line += " " + option.names.back() + " " + option.shape;
    }
  }
  line += " [OPTIONS]";
  for (const auto& option : page.options) {
    if (!option.is_argument) continue;
    const auto word = option.names.front() + (option.takes_several ? "…" : "");
    line += option.is_required ? " " + word : " [" + word + "]";
  }
  return line;
}

/// A footer as its parts.
struct Footer {
  std::vector<std::string> paragraphs;  ///< exit codes and remarks; one ends where a line ends a
                                        ///< sentence
  std::vector<std::string> examples;    ///< command lines, which stay as they are
};

Footer parts_of(std::string_view text) {
  Footer footer;
  bool is_open = false;
  for (auto line : split(text, '\n')) {
    if (line.empty()) continue;
    bool is_example = line.front() == ' ' && !footer.examples.empty();
    for (const std::string_view heading : {"Example: ", "Examples: "}) {
      if (!line.starts_with(heading)) continue;
      line.remove_prefix(heading.size());
      is_example = true;
    }
    if (is_example) {
      footer.examples.emplace_back(trim(line));
    } else if (is_open) {
      footer.paragraphs.back().append(" ").append(line);
    } else {
      footer.paragraphs.emplace_back(line);
    }
    is_open = !is_example && !line.ends_with('.');
  }
  return footer;
}

std::string footer_text(const Footer& footer, std::size_t columns) {
  std::string out;
  for (const auto& one : footer.paragraphs) out += wrapped(one, columns, 0, 0) + "\n";
  const std::string heading = footer.examples.size() == 1 ? "Example: " : "Examples: ";
  for (const auto& one : footer.examples) {
    out += (&one == &footer.examples.front() ? heading : std::string(heading.size(), ' ')) + one;
    out += "\n";
  }
  return out;
}

std::string to_upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

/// Groff takes a line that begins with a dot or an apostrophe for a request, and breaks paths.
std::string escaped_for_man(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '/' && (out.empty() || out.back() == ' ' || out.ends_with(" ["))) {
      out.insert(out.size() - (out.ends_with('[') ? 1 : 0), "\\%");
      out += c;
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
  return out + "\n" + footer_text(parts_of(page.footer), columns);
}

std::string to_markdown(const CommandPage& page) {
  constexpr std::size_t kColumns = 100;
  std::string out = "## " + page.name + "\n\n```\n" + help_text(page, kColumns) + "```\n";
  for (const auto& command : page.commands) out += "\n" + to_markdown(command);
  return out;
}

std::string to_man_page(const CommandPage& page, std::string_view version, std::string_view date) {
  std::string name = page.name;
  std::ranges::replace(name, ' ', '-');
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
  const auto footer = parts_of(page.footer);
  if (!footer.paragraphs.empty()) out += ".SH NOTES\n";
  for (const auto& one : footer.paragraphs) {
    if (&one != &footer.paragraphs.front()) out += ".PP\n";
    out += escaped_for_man(one) + "\n";
  }
  if (footer.examples.empty()) return out;
  return out + ".SH EXAMPLES\n.nf\n" + escaped_for_man(join(footer.examples, "\n")) + "\n.fi\n";
}

}  // namespace railhead::shell
