// SPDX-License-Identifier: Apache-2.0
//
// Named numbers in the Prometheus text exposition format 0.0.4. A program has one struct of metrics
// (agent/metrics.h): a metric is a member of it, one row with name, help and labels. So a name that
// does not exist, a label too many and a value that is not listed do not compile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/contains.h"

namespace railhead::metrics {

/// A string literal as a template argument.
template <std::size_t N>
struct Literal {
  char text[N] = {};

  // Not explicit: the argument is written as the bare literal.
  consteval Literal(const char (&from)[N]) { std::copy_n(from, N, text); }  // NOLINT

  constexpr operator std::string_view() const { return {text, N - 1}; }  // NOLINT
};

/// One label of a metric: its name and all values that it can have; no values: any.
template <Literal name, Literal... values>
struct Label {
  static constexpr std::string_view kName = name;
  static constexpr std::array<std::string_view, sizeof...(values)> kValues{
      std::string_view(values)...};

  static constexpr bool is_known(std::string_view value) {
    return kValues.empty() || contains(kValues, value);
  }

  /// A sample without this label.
  constexpr Label() = default;

  /// A literal that is none of the known values does not compile. Not explicit: a call shows the
  /// value alone.
  template <std::size_t N>
  consteval Label(const char (&literal)[N])  // NOLINT
      : value(std::string_view(literal, N - 1)) {
    if (!is_known(*value)) throw "not one of the values of this label";
  }

  /// The caller's text must be there until the call returns.
  constexpr explicit Label(std::string_view text)
      : value(text) {}

  std::optional<std::string_view> value;
};

class Metric;

/// The metrics of a program, in the order of their declaration.
class MetricRegistry {
 public:
  MetricRegistry() = default;
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  [[nodiscard]] std::span<const Metric* const> all() const { return all_; }

  [[nodiscard]] std::string expose() const;

 protected:
  ~MetricRegistry() = default;

 private:
  friend class Metric;
  std::vector<const Metric*> all_;
};

enum class MetricKind : std::uint8_t { counter, gauge, histogram };

/// As in the format's TYPE line: "counter".
std::string_view to_string(MetricKind kind);

struct MetricLabel {
  std::string_view name;
  std::span<const std::string_view> values;  ///< all that there can be; none: no such list exists
};

struct MetricSpec {
  std::string_view name;  ///< "railhead_…", counters end in _total, units in the name
  MetricKind kind;
  std::string_view help;
  std::vector<MetricLabel> labels;  ///< in the order of the samples
  /// Of a histogram: the upper bounds of its buckets but the last, +Inf, rising.
  std::span<const double> bounds = {};
};

/// What all kinds have in common. From any thread; a lock is held for the change of a
/// number or the copy of the samples, never while text is made.
class Metric {
 public:
  const MetricSpec spec;

 protected:
  using Samples = std::map<std::string, double>;  ///< by rendered labels

  struct LabelText {
    std::string_view name;
    std::optional<std::string_view> value;
  };

  Metric(MetricRegistry& registry, MetricSpec row);
  ~Metric() = default;

  /// {a="b",c="d"}; "" without labels.
  static std::string render(std::span<const LabelText> labels);

  template <typename... L>
  static std::string key_of(const L&... labels) {
    const std::array<LabelText, sizeof...(L)> texts{LabelText{L::kName, labels.value}...};
    return render(texts);
  }

  /// Every combination of the values of these labels; none where a label has no known values.
  static std::vector<std::string> keys_of(std::span<const MetricLabel> labels);

  void add_at(std::string key, double amount);
  void set_at(std::string key, double value);
  /// As 0 what is not there yet.
  void begin_at(std::vector<std::string> keys);
  void replace_all(Samples now);
  /// One more in the bucket of a value, and the value in the sum.
  void observe(double value);
  void remove_beginning(std::string key);
  [[nodiscard]] double value_at(const std::string& key) const;

 private:
  friend class MetricRegistry;
  void expose(std::string& out) const;
  void expose_buckets(std::span<const std::uint64_t> buckets, double sum, std::string& out) const;

  mutable std::mutex mutex_;
  Samples samples_;
  std::vector<std::uint64_t> buckets_;  ///< of a histogram, the last one without a bound
  double sum_ = 0;                      ///< likewise
};

template <MetricKind metric_kind, typename... L>
class TypedMetric : public Metric {
 public:
  template <typename Number>
  void set(Number value, const L&... labels) {
    set_at(key_of(labels...), static_cast<double>(value));
  }

  [[nodiscard]] double value(const L&... labels) const { return value_at(key_of(labels...)); }

  /// Removes the samples of something that is gone: those that begin with these labels.
  template <typename... First>
  void remove(const First&... first) {
    static_assert(sizeof...(First) > 0 &&
                  begins_with<First...>(std::index_sequence_for<First...>()));
    remove_beginning(key_of(first...));
  }

 protected:
  TypedMetric(MetricRegistry& registry, std::string_view name, std::string_view help)
      : Metric(registry, {name, metric_kind, help, {MetricLabel{L::kName, L::kValues}...}}) {}

  ~TypedMetric() = default;

  template <typename... First, std::size_t... i>
  static consteval bool begins_with(std::index_sequence<i...>) {
    return (std::is_same_v<First, std::tuple_element_t<i, std::tuple<L...>>> && ...);
  }
};

/// A number that only grows. Where the values of its labels are known, it is there, as 0, before it
/// first counts: an increase from "no such sample" to 1 is none to increase() of Prometheus.
template <typename... L>
class Counter final : public TypedMetric<MetricKind::counter, L...> {
 public:
  using Combination = std::tuple<L...>;

  Counter(MetricRegistry& registry, std::string_view name, std::string_view help)
      : TypedMetric<MetricKind::counter, L...>(registry, name, help) {
    this->begin_at(this->keys_of(this->spec.labels));
  }

  /// Where only some combinations can be, or the values are listed elsewhere.
  Counter(MetricRegistry& registry, std::string_view name, std::string_view help,
          const std::vector<Combination>& combinations)
      : TypedMetric<MetricKind::counter, L...>(registry, name, help) {
    std::vector<std::string> keys;
    for (const auto& one : combinations) {
      keys.push_back(
          std::apply([](const L&... labels) { return Counter::key_of(labels...); }, one));
    }
    this->begin_at(std::move(keys));
  }

  void add(const L&... labels) { this->add_at(this->key_of(labels...), 1); }

  /// The same beginning for one of the things that the first label names: a pool, say.
  template <typename First>
  void begin(const First& first) {
    static_assert(Counter::template begins_with<First>(std::index_sequence_for<First>()));
    auto labels = this->spec.labels;
    const std::string_view name = first.value.value_or("");
    labels.front().values = {&name, 1};
    this->begin_at(this->keys_of(labels));
  }
};

/// How often a value was at most so large, without labels. Source of the samples: the exposition
/// format 0.0.4, "Histograms and summaries". `bounds` must live as long.
class Histogram final : public Metric {
 public:
  Histogram(MetricRegistry& registry, std::string_view name, std::string_view help,
            std::span<const double> bounds)
      : Metric(registry, {name, MetricKind::histogram, help, {}, bounds}) {}

  using Metric::observe;
};

/// A number that goes up and down.
template <typename... L>
class Gauge final : public TypedMetric<MetricKind::gauge, L...> {
 public:
  Gauge(MetricRegistry& registry, std::string_view name, std::string_view help)
      : TypedMetric<MetricKind::gauge, L...>(registry, name, help) {}

  /// What exists now.
  class Now {
   public:
    template <typename Number>
    void add(Number value, const L&... labels) {
      samples_[Gauge::key_of(labels...)] += static_cast<double>(value);
    }

   private:
    friend class Gauge;
    std::map<std::string, double> samples_;
  };

  /// In place of all samples: whoever reads sees those before or these.
  void replace(Now now) { this->replace_all(std::move(now.samples_)); }
};

}  // namespace railhead::metrics
