// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace railhead::metrics {
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

/// In the value of a label.
bool is_escaped(char c) {
  return c == '\\' || c == '"' || c == '\n';
}

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

std::string_view to_string(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return "counter";
    case MetricKind::gauge: return "gauge";
    case MetricKind::histogram: return "histogram";
  }
  return "untyped";
}

Metric::Metric(MetricRegistry& registry, MetricSpec row)
    : spec(std::move(row)),
      buckets_(spec.kind == MetricKind::histogram ? spec.bounds.size() + 1 : 0) {
  registry.all_.push_back(this);
}

std::string Metric::render(std::span<const LabelText> labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!value) continue;
    if (out.empty()) out.reserve(64);
    out += out.empty() ? '{' : ',';
    out += name;
    out += "=\"";
    if (std::ranges::none_of(*value, is_escaped)) {
      out += *value;
    } else {
      out += escaped(*value, "\"");
    }
    out += '"';
  }
  if (!out.empty()) out += '}';
  return out;
}

std::vector<std::string> Metric::keys_of(std::span<const MetricLabel> labels) {
  std::vector<std::vector<LabelText>> combinations(1);
  for (const auto& label : labels) {
    std::vector<std::vector<LabelText>> longer;
    for (const auto& shorter : combinations) {
      for (const auto value : label.values) {
        longer.push_back(shorter);
        longer.back().push_back({label.name, value});
      }
    }
    combinations = std::move(longer);
  }
  std::vector<std::string> keys;
  for (const auto& one : combinations) keys.push_back(render(one));
  return keys;
}

void Metric::begin_at(std::vector<std::string> keys) {
  const std::lock_guard lock(mutex_);
  for (auto& key : keys) samples_.try_emplace(std::move(key), 0);
}

void Metric::add_at(std::string key, double amount) {
  const std::lock_guard lock(mutex_);
  samples_[std::move(key)] += amount;
}

void Metric::set_at(std::string key, double value) {
  const std::lock_guard lock(mutex_);
  samples_[std::move(key)] = value;
}

void Metric::replace_all(Samples now) {
  const std::lock_guard lock(mutex_);
  samples_.swap(now);
}

void Metric::remove_beginning(std::string key) {
  key.pop_back();  // the brace
  const std::lock_guard lock(mutex_);
  for (auto at = samples_.lower_bound(key); at != samples_.end() && at->first.starts_with(key);) {
    const char next = at->first[key.size()];
    at = next == ',' || next == '}' ? samples_.erase(at) : std::next(at);
  }
}

void Metric::observe(double value) {
  const auto bound = std::ranges::lower_bound(spec.bounds, value);
  const std::lock_guard lock(mutex_);
  ++buckets_[static_cast<std::size_t>(bound - spec.bounds.begin())];
  sum_ += value;
}

double Metric::value_at(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto at = samples_.find(key);
  return at == samples_.end() ? 0 : at->second;
}

void Metric::expose(std::string& out) const {
  std::vector<std::pair<std::string, double>> samples;
  std::vector<std::uint64_t> buckets;
  double sum = 0;
  {
    const std::lock_guard lock(mutex_);
    samples.assign(samples_.begin(), samples_.end());
    buckets = buckets_;
    sum = sum_;
  }
  const std::string family(spec.name);
  out += "# HELP " + family + " " + escaped(spec.help, "") + "\n# TYPE " + family + " ";
  out += to_string(spec.kind);
  out += '\n';
  if (spec.kind == MetricKind::histogram) return expose_buckets(buckets, sum, out);
  for (const auto& [key, value] : samples) out += family + key + " " + number_text(value) + "\n";
}

/// Rising by bound, each with what the buckets below it have.
void Metric::expose_buckets(std::span<const std::uint64_t> buckets, double sum,
                            std::string& out) const {
  const std::string family(spec.name);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    count += buckets[i];
    const auto bound = i < spec.bounds.size() ? number_text(spec.bounds[i]) : "+Inf";
    out += family + "_bucket{le=\"" + bound + "\"} " + std::to_string(count) + "\n";
  }
  out += family + "_sum " + number_text(sum) + "\n";
  out += family + "_count " + std::to_string(count) + "\n";
}

std::string MetricRegistry::expose() const {
  std::string out;
  for (const auto* metric : all_) metric->expose(out);
  return out;
}

}  // namespace railhead::metrics
