// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <algorithm>
#include <charconv>

namespace railhead {
namespace {

/// {a="b",c="d"} with the three escapes of the exposition format; "" without labels.
std::string render_labels(const Labels& labels) {
  if (labels.empty()) return "";
  std::string out = "{";
  for (const auto& [name, value] : labels) {
    if (out.size() > 1) out += ',';
    out += name + "=\"";
    for (const char c : value) {
      if (c == '\\' || c == '"') out += '\\';
      if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    out += '"';
  }
  return out + "}";
}

std::string render_number(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return {buffer, end};
}

}  // namespace

MetricRegistry::MetricRegistry(const std::vector<MetricSpec>& specs) {
  for (const auto& spec : specs) families_.push_back({spec, {}});
}

MetricRegistry::Family* MetricRegistry::find(std::string_view name) {
  const auto at = std::find_if(families_.begin(), families_.end(),
                               [&](const Family& family) { return family.spec.name == name; });
  return at == families_.end() ? nullptr : &*at;
}

void MetricRegistry::add(std::string_view name, const Labels& labels, double amount) {
  if (auto* family = find(name)) family->samples[render_labels(labels)] += amount;
}

void MetricRegistry::set(std::string_view name, double value, const Labels& labels) {
  if (auto* family = find(name)) family->samples[render_labels(labels)] = value;
}

void MetricRegistry::clear(std::string_view name) {
  if (auto* family = find(name)) family->samples.clear();
}

void MetricRegistry::remove(std::string_view name, const Labels& labels) {
  if (auto* family = find(name)) family->samples.erase(render_labels(labels));
}

double MetricRegistry::value(std::string_view name, const Labels& labels) const {
  for (const auto& family : families_) {
    if (family.spec.name != name) continue;
    const auto at = family.samples.find(render_labels(labels));
    return at == family.samples.end() ? 0 : at->second;
  }
  return 0;
}

std::string MetricRegistry::expose() const {
  std::string out;
  for (const auto& [spec, samples] : families_) {
    const std::string name(spec.name);
    out += "# HELP " + name + " " + std::string(spec.help) + "\n# TYPE " + name +
           (spec.kind == MetricKind::counter ? " counter\n" : " gauge\n");
    for (const auto& [labels, value] : samples) {
      out += name + labels + " " + render_number(value) + "\n";
    }
  }
  return out;
}

}  // namespace railhead
