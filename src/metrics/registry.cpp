// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace railhead {
namespace {

/// With a backslash before each backslash and each of `also`, and a line break as \n: the escapes
/// of the exposition format, of label values with a quote, of help texts without.
std::string escaped(std::string_view text, std::string_view also) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || also.find(c) != std::string_view::npos) out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

/// {a="b",c="d"}; "" without labels.
std::string render_labels(const Labels& labels) {
  if (labels.empty()) return "";
  std::string out = "{";
  out.reserve(64);
  for (const auto& [name, value] : labels) {
    if (out.size() > 1) out += ',';
    out += name;
    out += "=\"";
    if (value.find_first_of("\\\"\n") == std::string::npos) {
      out += value;
    } else {
      out += escaped(value, "\"");
    }
    out += '"';
  }
  out += '}';
  return out;
}

std::string render_number(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return {buffer, end};
}

/// Every combination of the labels' values; none where a label has no known values.
std::vector<Labels> combinations_of(const std::vector<MetricLabel>& labels) {
  std::vector<Labels> out(1);
  for (const auto& label : labels) {
    std::vector<Labels> longer;
    for (const auto& labels_before : out) {
      for (const auto value : label.values) {
        longer.push_back(labels_before);
        longer.back().emplace_back(label.name, value);
      }
    }
    out = std::move(longer);
  }
  return out;
}

}  // namespace

MetricRegistry::MetricRegistry(const std::vector<MetricSpec>& specs)
    : specs_(specs) {
  for (const auto& spec : specs_) {
    samples_.try_emplace(spec.name);
    if (spec.kind != MetricKind::counter) continue;
    begin(spec.name, spec.combinations.empty() ? combinations_of(spec.labels) : spec.combinations);
  }
}

void MetricRegistry::begin(std::string_view name, const std::string& first) {
  const auto spec = std::find_if(specs_.begin(), specs_.end(),
                                 [&](const MetricSpec& one) { return one.name == name; });
  if (spec == specs_.end() || spec->labels.empty()) return;
  auto labels = spec->labels;
  labels.front().values = {first};
  begin(name, combinations_of(labels));
}

void MetricRegistry::begin(std::string_view name, const std::vector<Labels>& combinations) {
  const std::lock_guard lock(mutex_);
  auto* samples = find(name);
  if (samples == nullptr) return;
  for (const auto& labels : combinations) samples->try_emplace(render_labels(labels), 0);
}

MetricRegistry::Samples* MetricRegistry::find(std::string_view name) {
  const auto at = samples_.find(name);
  return at == samples_.end() ? nullptr : &at->second;
}

void MetricRegistry::add(std::string_view name, const Labels& labels, double amount) {
  auto key = render_labels(labels);
  const std::lock_guard lock(mutex_);
  if (auto* samples = find(name)) (*samples)[std::move(key)] += amount;
}

void MetricRegistry::set(std::string_view name, double value, const Labels& labels) {
  auto key = render_labels(labels);
  const std::lock_guard lock(mutex_);
  if (auto* samples = find(name)) (*samples)[std::move(key)] = value;
}

void MetricRegistry::replace(std::string_view name, const std::vector<Sample>& now) {
  Samples fresh;
  for (const auto& [labels, value] : now) fresh[render_labels(labels)] += value;
  const std::lock_guard lock(mutex_);
  if (auto* samples = find(name)) samples->swap(fresh);
}

void MetricRegistry::remove(std::string_view name, const Labels& labels) {
  auto begin = render_labels(labels);
  begin.pop_back();  // the brace
  const std::lock_guard lock(mutex_);
  auto* samples = find(name);
  if (samples == nullptr) return;
  for (auto at = samples->lower_bound(begin);
       at != samples->end() && at->first.starts_with(begin);) {
    const char next = at->first[begin.size()];
    at = next == ',' || next == '}' ? samples->erase(at) : std::next(at);
  }
}

double MetricRegistry::value(std::string_view name, const Labels& labels) const {
  const auto key = render_labels(labels);
  const std::lock_guard lock(mutex_);
  const auto family = samples_.find(name);
  if (family == samples_.end()) return 0;
  const auto at = family->second.find(key);
  return at == family->second.end() ? 0 : at->second;
}

std::string MetricRegistry::expose() const {
  std::string out;
  std::vector<std::pair<std::string, double>> samples;
  for (const auto& spec : specs_) {
    {
      const std::lock_guard lock(mutex_);
      const auto& family = samples_.find(spec.name)->second;
      samples.assign(family.begin(), family.end());
    }
    const std::string name(spec.name);
    out += "# HELP " + name + " " + escaped(spec.help, "") + "\n# TYPE " + name +
           (spec.kind == MetricKind::counter ? " counter\n" : " gauge\n");
    for (const auto& [labels, value] : samples) {
      out += name + labels + " " + render_number(value) + "\n";
    }
  }
  return out;
}

}  // namespace railhead
