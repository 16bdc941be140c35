// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <charconv>

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

}  // namespace

MetricRegistry::MetricRegistry(const std::vector<MetricSpec>& specs)
    : specs_(specs) {
  for (const auto& spec : specs_) samples_.try_emplace(spec.name);
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
  const auto key = render_labels(labels);
  const std::lock_guard lock(mutex_);
  if (auto* samples = find(name)) samples->erase(key);
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
