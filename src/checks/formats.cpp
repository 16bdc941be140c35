// SPDX-License-Identifier: Apache-2.0
#include "checks/formats.h"

#include "base/text.h"
#include "data/xml.h"
#include "report/text_width.h"

namespace railhead::checks {
namespace {

/// Names and texts come from files: no control character of theirs reaches a document.
std::string text(std::string_view what) {
  return data::xml_escaped(report::printable(what));
}

/// What a finding says, a line each.
std::vector<std::string> lines_of(const Finding& finding) {
  std::vector<std::string> lines;
  const auto add = [&](std::string_view label, const std::string& what) {
    if (!what.empty()) lines.push_back(std::string(label) + what);
  };
  add("found: ", finding.observed);
  add("expected: ", finding.expected);
  add("reason: ", finding.reason);
  for (const auto& evidence : finding.evidence) add("see: ", evidence_text(evidence));
  add("so: ", finding.effect);
  if (!finding.remedy.empty()) {
    add("fix (" + std::string(to_string(finding.remedy_class)) + "): ", finding.remedy);
  }
  return lines;
}

std::string message_of(const Finding& finding) {
  return finding.observed.empty() ? finding.reason : finding.observed;
}

/// What JUnit has within a case.
std::string junit_outcome(const Finding& finding) {
  const auto body = text(join(lines_of(finding), "; "));
  const auto message = " message=\"" + text(message_of(finding)) + "\"";
  switch (finding.state) {
    case State::fail: return "<failure" + message + ">" + body + "</failure>";
    case State::unknown: return "<error" + message + ">" + body + "</error>";
    case State::skip: return "<skipped" + message + "/>";
    case State::warn: return "<system-out>WARN " + body + "</system-out>";
    case State::pass: break;
  }
  return "";
}

constexpr std::string_view kStyle =
    "body{font:15px/1.5 sans-serif;margin:2em auto;max-width:60em;padding:0 1em;color:#222}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}"
    ".state{display:inline-block;min-width:5.5em;font-weight:bold}"
    ".FAIL{color:#b00020}.WARN{color:#8a5a00}.UNKNOWN{color:#5a4a8a}.PASS{color:#1b6e3c}"
    ".SKIP{color:#666}details{border-bottom:1px solid #ddd;padding:.3em 0}"
    "summary{cursor:pointer}ul{margin:.3em 0 .6em 1em;padding-left:1em}"
    "code{overflow-wrap:anywhere}";

std::string html_of(const Finding& finding, bool open) {
  const std::string state(to_string(finding.state));
  std::string out = open ? "<details open>" : "<details>";
  out += "<summary><span class=\"state " + state + "\">" + state + "</span> <code>" +
         text(finding.id) + "</code> " + text(finding.subject) + ": " + text(message_of(finding)) +
         "</summary><ul>";
  for (const auto& line : lines_of(finding)) out += "<li>" + text(line) + "</li>";
  return out + "</ul></details>\n";
}

std::string html_section(const Diagnosis& diagnosis, State state, std::string_view title,
                         bool open) {
  std::string out;
  for (const auto& finding : diagnosis.findings) {
    if (finding.state == state) out += html_of(finding, open);
  }
  return out.empty() ? out : "<h2>" + std::string(title) + "</h2>\n" + out;
}

std::string number(std::size_t count) {
  return std::to_string(count);
}

}  // namespace

std::string evidence_text(const Evidence& evidence) {
  if (!evidence.error.empty()) return evidence.path + ": " + evidence.error;
  return evidence.path + (evidence.value.empty() ? " is not there" : " = " + evidence.value);
}

std::string to_junit(const Diagnosis& diagnosis) {
  const auto seconds = decimal_text(static_cast<double>(diagnosis.took.count()) / 1000);
  const auto counts = " tests=\"" + number(diagnosis.findings.size()) + "\" failures=\"" +
                      number(count_of(diagnosis, State::fail)) + "\" errors=\"" +
                      number(count_of(diagnosis, State::unknown)) + "\" skipped=\"" +
                      number(count_of(diagnosis, State::skip)) + "\" time=\"" + seconds + "\"";
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
                    ">\n<testsuite name=\"railhead doctor\" hostname=\"" + text(diagnosis.node) +
                    "\"" + counts + ">\n";
  for (const auto& finding : diagnosis.findings) {
    out += "<testcase classname=\"" + text(finding.id) + "\" name=\"" + text(finding.subject) +
           "\">" + junit_outcome(finding) + "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

std::string to_html(const Diagnosis& diagnosis) {
  const auto title = "railhead doctor: " + text(diagnosis.node);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                    title + "</title><style>" + std::string(kStyle) +
                    "</style></head><body>\n<h1>" + title + "</h1>\n<p>";
  for (const auto state : {State::fail, State::warn, State::unknown, State::pass, State::skip}) {
    const std::string name(to_string(state));
    out +=
        number(count_of(diagnosis, state)) + " <span class=\"" + name + "\">" + name + "</span> ";
  }
  out += "in " + std::to_string(diagnosis.took.count()) + " ms</p>\n";
  if (diagnosis.left_out > 0) {
    out += "<p>" + left_out_text(diagnosis) + ".</p>\n";
  }
  out += html_section(diagnosis, State::fail, "What is wrong", true);
  out += html_section(diagnosis, State::warn, "What is doubtful", true);
  out += html_section(diagnosis, State::unknown, "What is not known", false);
  out += html_section(diagnosis, State::pass, "What is right", false);
  out += html_section(diagnosis, State::skip, "What does not apply", false);
  return out + "</body></html>\n";
}

}  // namespace railhead::checks
