// SPDX-License-Identifier: Apache-2.0
#include "checks/report.h"
#include "base/contains.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "checks/formats.h"
#include "report/text_width.h"

namespace railhead::checks {
namespace {

constexpr std::array kStates = {State::pass, State::warn, State::fail, State::unknown, State::skip};

data::Json evidence_json(const Evidence& evidence) {
  data::Json json = {{"path", evidence.path}, {"value", report::text_or_null(evidence.value)}};
  if (!evidence.error.empty()) json["error"] = evidence.error;
  return json;
}

data::Json words_json(std::string_view text) {
  auto words = data::Json::array();
  for (const auto word : split_words(text)) words.push_back(word);
  return words;
}

data::Json finding_json(const Finding& finding) {
  data::Json json = {{"id", finding.id},
                     {"subject", finding.subject},
                     {"state", to_string(finding.state)},
                     {"observed", report::text_or_null(finding.observed)},
                     {"expected", report::text_or_null(finding.expected)},
                     {"evidence", data::json_list(finding.evidence, evidence_json)},
                     {"reason", report::text_or_null(finding.reason)},
                     {"effect", report::text_or_null(finding.effect)},
                     {"remedy", report::text_or_null(finding.remedy)}};
  json["remedyClass"] =
      finding.remedy.empty() ? data::Json(nullptr) : data::Json(to_string(finding.remedy_class));
  json["covers"] = words_json(finding.covers);
  if (!finding.since.empty()) json["since"] = finding.since;
  return json;
}

/// What is SKIP because of this failure: "link.rate, link.sm".
std::string blocked_text(const Diagnosis& diagnosis, const Finding& failure) {
  const auto reason = std::string(failure.id) + " failed for " + failure.subject;
  std::vector<std::string> ids;
  for (const auto& finding : diagnosis.findings) {
    if (finding.state != State::skip || finding.reason != reason) continue;
    const std::string id(finding.id);
    if (!contains(ids, id)) ids.push_back(id);
  }
  return join(ids, ", ");
}

void add_problem(const Diagnosis& diagnosis, const Finding& finding, report::Report& report) {
  std::vector<std::string> lines = {"  found     " + finding.observed,
                                    "  expected  " + finding.expected};
  for (const auto& evidence : finding.evidence)
    lines.push_back("  see       " + evidence_text(evidence));
  if (!finding.effect.empty()) lines.push_back("  so        " + finding.effect);
  const auto blocked = blocked_text(diagnosis, finding);
  if (!blocked.empty()) lines.push_back("  not made  " + blocked);
  if (!finding.remedy.empty()) {
    lines.push_back("  fix (" + std::string(to_string(finding.remedy_class)) + ")  " +
                    finding.remedy);
  }
  report.add(std::string(to_string(finding.state)) + "  " + std::string(finding.id) + "  " +
                 finding.subject,
             std::move(lines));
}

std::string summary_line(const Diagnosis& diagnosis) {
  std::vector<std::string> parts;
  for (const auto state : {State::fail, State::warn, State::unknown, State::pass, State::skip}) {
    parts.push_back(std::to_string(count_of(diagnosis, state)) + " " +
                    std::string(to_string(state)));
  }
  return join(parts, ", ") + " in " + std::to_string(diagnosis.took.count()) + " ms";
}

/// What is not known, and why: in a line each reason, whatever it keeps from being known.
void add_unknown(const Diagnosis& diagnosis, report::Report& report) {
  struct Line {
    std::vector<std::string> ids;
    std::string reason;
    std::size_t subjects = 0;
  };

  std::vector<Line> lines;
  for (const auto& finding : diagnosis.findings) {
    if (finding.state != State::unknown) continue;
    const std::string id(finding.id);
    const auto at = std::ranges::find_if(lines, [&](const Line& line) {
      return line.reason == finding.reason || line.ids.back() == id;
    });
    auto& line = at == lines.end() ? lines.emplace_back(Line{{}, finding.reason}) : *at;
    if (line.ids.empty() || line.ids.back() != id) line.ids.push_back(id);
    ++line.subjects;
  }
  std::vector<std::string> texts;
  for (const auto& line : lines) {
    const auto more = line.subjects - line.ids.size();
    texts.push_back("  " + join(line.ids, ", ") + ": " + line.reason +
                    (more == 0 ? "" : " (and " + std::to_string(more) + " more)"));
  }
  report.add("UNKNOWN", std::move(texts));
}

std::string observed_text(const Finding& finding) {
  return finding.observed.empty() ? finding.reason : finding.observed;
}

report::Table table_of(const Diagnosis& diagnosis) {
  report::Table table;
  for (const auto& finding : diagnosis.findings) {
    const auto evidence = finding.evidence.empty() ? "" : evidence_text(finding.evidence.front());
    table.add({{"STATE", std::string(to_string(finding.state))},
               {"CHECK", std::string(finding.id)},
               {"SUBJECT", finding.subject},
               {"FOUND", observed_text(finding)},
               {"EVIDENCE", evidence, report::kWide}});
  }
  return table;
}

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::node: return "node";
    case Scope::pod: return "pod";
    case Scope::cluster: break;
  }
  return "cluster";
}

data::Json check_json(const Check& check) {
  data::Json json = {{"id", check.id},     {"what", check.what},     {"source", check.source},
                     {"rule", check.rule}, {"effect", check.effect}, {"remedy", check.remedy}};
  json["remedyClass"] = to_string(check.remedy_class);
  json["scope"] = name_of(check.scope);
  json["covers"] = words_json(check.covers);
  json["after"] = words_json(check.after);
  return json;
}

const Finding* worst(const Diagnosis& diagnosis) {
  for (const auto state : {State::fail, State::unknown, State::warn}) {
    for (const auto& finding : diagnosis.findings) {
      if (finding.state == state) return &finding;
    }
  }
  return nullptr;
}

}  // namespace

std::size_t count_of(const Diagnosis& diagnosis, State state) {
  return static_cast<std::size_t>(std::ranges::count_if(
      diagnosis.findings, [&](const Finding& finding) { return finding.state == state; }));
}

Outcome outcome_of(const Diagnosis& diagnosis, State fail_on) {
  if (count_of(diagnosis, State::fail) > 0) return Outcome::problem;
  if (fail_on == State::warn && count_of(diagnosis, State::warn) > 0) return Outcome::problem;
  return count_of(diagnosis, State::unknown) > 0 ? Outcome::unknown : Outcome::good;
}

std::string left_out_text(const Diagnosis& diagnosis) {
  auto text = counted(diagnosis.left_out, "reading") + " left out";
  // A server that does not answer, and nodes beyond the first, are left out at once.
  if (diagnosis.took < diagnosis.limit) return text;
  return text + " after " + std::to_string(diagnosis.limit.count()) + " ms";
}

report::Report report_of(const Diagnosis& diagnosis, bool all) {
  report::Report report;
  report.json = report::make_document("DoctorReport");
  report.json["node"] = diagnosis.node;
  if (!diagnosis.time.empty()) report.json["time"] = diagnosis.time;
  if (!diagnosis.boot_id.empty()) report.json["bootId"] = diagnosis.boot_id;
  for (const auto state : kStates) {
    report.json["summary"][to_lower(to_string(state))] = count_of(diagnosis, state);
  }
  report.json["milliseconds"] = diagnosis.took.count();
  report.json["limitMilliseconds"] = diagnosis.limit.count();
  report.json["leftOut"] = diagnosis.left_out;
  report.json["findings"] = data::json_list(diagnosis.findings, finding_json);
  for (const auto state : {State::fail, State::warn}) {
    for (const auto& finding : diagnosis.findings) {
      if (finding.state == state) add_problem(diagnosis, finding, report);
    }
  }
  add_unknown(diagnosis, report);
  if (all) report.add(table_of(diagnosis), "nothing was looked at");
  std::vector<std::string> last = {summary_line(diagnosis)};
  if (diagnosis.left_out > 0) last.push_back(left_out_text(diagnosis));
  report.add("", std::move(last));
  return report;
}

std::string headline(const Diagnosis& diagnosis) {
  constexpr std::size_t kMost = 79;
  const auto* finding = worst(diagnosis);
  const auto passed = count_of(diagnosis, State::pass);
  const auto skipped = count_of(diagnosis, State::skip);
  if (finding == nullptr && passed == 0 && skipped > 0) {
    return std::to_string(skipped) + " SKIP, nothing was judged";
  }
  if (finding == nullptr) {
    return std::to_string(passed) + " PASS, nothing is wrong";
  }
  const auto text = std::string(to_string(finding->state)) + " " + std::string(finding->id) + " " +
                    finding->subject + ": " + observed_text(*finding);
  const auto more = count_of(diagnosis, finding->state) - 1;
  const auto end = more == 0 ? "" : " (+" + std::to_string(more) + ")";
  // A pod's author writes some of it: a variable, a container's name.
  return std::string(whole_characters(report::printable(text), kMost - end.size())) + end;
}

report::Report list_of_checks(const std::vector<const Check*>& checks) {
  report::Report report;
  report.json = report::make_document("DoctorChecks");
  report.json["checks"] =
      data::json_list(checks, [](const Check* check) { return check_json(*check); });
  report::Table table;
  for (const auto* check : checks) {
    table.add({{"CHECK", std::string(check->id)},
               {"WHAT IS RIGHT", std::string(check->what)},
               {"SOURCE", std::string(check->source), report::kWide},
               {"COVERS", std::string(check->covers), report::kWide}});
  }
  report.add(std::move(table), "there is no check");
  return report;
}

report::Report explanation_of(const Check& check) {
  report::Report report;
  report.json = report::make_document("DoctorCheck");
  report.json.update(check_json(check));
  std::vector<std::string> lines = {"right     " + std::string(check.what),
                                    "source    " + std::string(check.source),
                                    "rule      " + std::string(check.rule)};
  if (!check.effect.empty()) lines.push_back("effect    " + std::string(check.effect));
  if (!check.remedy.empty()) {
    lines.push_back("fix (" + std::string(to_string(check.remedy_class)) + ")  " +
                    std::string(check.remedy));
  }
  if (!check.after.empty()) lines.push_back("after     " + std::string(check.after));
  if (!check.covers.empty()) lines.push_back("covers    " + std::string(check.covers));
  report.add(std::string(check.id), std::move(lines));
  return report;
}

}  // namespace railhead::checks
