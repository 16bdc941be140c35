// SPDX-License-Identifier: Apache-2.0
#include "lint/lint.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"

namespace railhead::lint {
namespace {

/// The visible list: every file of rules, in order.
constexpr std::array kRuleGroups = {
    manifest_rules, pod_rules,      resource_rules,   annotation_rules, environment_rules,
    plugin_rules,   operator_rules, nic_policy_rules, values_rules,     schema_rules,
    sriov_rules,    network_rules,  storage_rules,    daemon_rules};

/// Of one rule; a cluster may have thousands of the same.
constexpr std::size_t kMostOfOneRule = 64;

std::string place_of(const Finding& finding) {
  return finding.file.empty() ? finding.object : data::place_in(finding.file, finding.mark);
}

data::Json lint_finding_json(const Finding& finding) {
  const auto number = [](unsigned n) { return n == 0 ? data::Json(nullptr) : data::Json(n); };
  data::Json json = {{"id", finding.rule},
                     {"severity", to_string(finding.severity)},
                     {"object", finding.object},
                     {"file", report::text_or_null(finding.file)},
                     {"line", number(finding.mark.line)},
                     {"column", number(finding.mark.column)},
                     {"what", finding.what},
                     {"why", report::text_or_null(finding.why)},
                     {"remedy", report::text_or_null(finding.remedy)},
                     {"covers", data::Json::array()}};
  const auto* rule = find_rule(finding.rule);
  if (rule == nullptr) return json;
  for (const auto word : split_words(rule->covers)) json["covers"].push_back(word);
  return json;
}

data::Json rule_json(const Rule& rule) {
  data::Json json = {
      {"id", rule.id},   {"what", rule.what},     {"severity", to_string(rule.severity)},
      {"why", rule.why}, {"remedy", rule.remedy}, {"covers", data::Json::array()}};
  for (const auto word : split_words(rule.covers)) json["covers"].push_back(word);
  return json;
}

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [&](const Finding& one) { return one.severity == severity; }));
}

constexpr std::array kSeverities = {Severity::fail, Severity::unknown, Severity::warn,
                                    Severity::note};

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::fail: return "FAIL";
    case Severity::warn: return "WARN";
    case Severity::note: return "NOTE";
    case Severity::unknown: return "UNKNOWN";
  }
  return "?";
}

Finding& Found::add(const Object& object, data::Mark mark, std::string what) {
  const bool is_kept = ++count_ <= kMostOfOneRule;
  auto& finding = is_kept ? all_.emplace_back() : left_out_;
  finding = {rule_.id, rule_.severity,  object.label(),         object.file(),
             mark,     std::move(what), std::string(rule_.why), std::string(rule_.remedy)};
  return finding;
}

std::vector<Finding> Found::take() {
  if (count_ > all_.size()) {
    all_.back().what += " (and " + std::to_string(count_ - all_.size()) + " more of this rule)";
  }
  return std::move(all_);
}

Finding& Found::add(const Object& object, const data::Value* place, std::string what) {
  return add(object, place != nullptr ? place->mark : object.root.mark, std::move(what));
}

Finding& Found::add(const Object& object, const data::Value::Entry* place, std::string what) {
  return add(object, place != nullptr ? place->mark : object.root.mark, std::move(what));
}

const std::vector<const Rule*>& all_rules() {
  static const auto every = [] {
    std::vector<const Rule*> all;
    for (const auto group : kRuleGroups) {
      for (const auto& rule : group()) all.push_back(&rule);
    }
    return all;
  }();
  return every;
}

const Rule* find_rule(std::string_view id) {
  const auto& all = all_rules();
  const auto at = std::ranges::find_if(all, [&](const Rule* rule) { return rule->id == id; });
  return at == all.end() ? nullptr : *at;
}

std::vector<Finding> lint(const Given& given) {
  std::vector<Finding> all;
  for (const auto* rule : all_rules()) {
    Found found(*rule);
    rule->look(given, found);
    auto some = found.take();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  std::ranges::stable_sort(all, [](const Finding& a, const Finding& b) {
    return std::tie(a.file, a.mark.line, a.mark.column) <
           std::tie(b.file, b.mark.line, b.mark.column);
  });
  return all;
}

Outcome outcome_of(const std::vector<Finding>& findings, Severity fail_on) {
  if (count_of(findings, Severity::fail) > 0) return Outcome::problem;
  if (fail_on == Severity::warn && count_of(findings, Severity::warn) > 0) return Outcome::problem;
  return count_of(findings, Severity::unknown) > 0 ? Outcome::unknown : Outcome::good;
}

report::Report report_of(const std::vector<Finding>& findings, std::size_t objects) {
  report::Report report;
  report.json = report::make_document("LintReport");
  report.json["objects"] = objects;
  std::vector<std::string> counts;
  for (const auto severity : kSeverities) {
    const std::string word(to_string(severity));
    report.json["summary"][to_lower(word)] = count_of(findings, severity);
    counts.push_back(std::to_string(count_of(findings, severity)) + " " + word);
  }
  report.json["findings"] = data::json_list(findings, lint_finding_json);
  for (const auto& finding : findings) {
    std::vector<std::string> lines = {"  " + finding.object + ": " + finding.what};
    if (!finding.why.empty()) lines.push_back("  why  " + finding.why);
    if (!finding.remedy.empty()) lines.push_back("  fix  " + finding.remedy);
    report.add(std::string(to_string(finding.severity)) + "  " + std::string(finding.rule) + "  " +
                   place_of(finding),
               std::move(lines));
  }
  report.add("", {join(counts, ", ") + " in " + counted(objects, "object")});
  return report;
}

report::Report list_of_rules() {
  report::Report report;
  report.json = report::make_document("LintRules");
  report.json["rules"] =
      data::json_list(all_rules(), [](const Rule* rule) { return rule_json(*rule); });
  report::Table table;
  for (const auto* rule : all_rules()) {
    table.add({{"RULE", std::string(rule->id)},
               {"SEVERITY", std::string(to_string(rule->severity))},
               {"WHAT IS WRONG", std::string(rule->what)},
               {"COVERS", std::string(rule->covers), report::kWide}});
  }
  report.add(std::move(table), "there is no rule");
  return report;
}

report::Report explanation_of(const Rule& rule) {
  report::Report report;
  report.json = report::make_document("LintRule");
  report.json.update(rule_json(rule));
  std::vector<std::string> lines = {
      "wrong     " + std::string(rule.what), "severity  " + std::string(to_string(rule.severity)),
      "why       " + std::string(rule.why), "fix       " + std::string(rule.remedy)};
  if (!rule.covers.empty()) lines.push_back("covers    " + std::string(rule.covers));
  report.add(std::string(rule.id), std::move(lines));
  return report;
}

}  // namespace railhead::lint
