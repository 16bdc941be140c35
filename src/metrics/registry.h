// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace railhead {

using Labels = std::vector<std::pair<std::string, std::string>>;

enum class MetricKind : std::uint8_t { counter, gauge };

struct MetricLabel {
  std::string_view name;
  std::vector<std::string_view> values = {};  ///< all that there can be; none: no such list exists
};

/// One row of the visible list of metrics: everything the agent ever exposes is declared before it
/// is used, so that its help is written once, and a counter is there, as 0, before it first counts:
/// an increase from "no such sample" to 1 is none to increase() of Prometheus.
struct MetricSpec {
  std::string_view name;  ///< "railhead_…", counters end in _total, units in the name
  MetricKind kind;
  std::string_view help;
  std::vector<MetricLabel> labels = {};  ///< in the order of the samples
  /// The combinations of values that there can be; none: all.
  std::vector<Labels> combinations = {};
};

/// Named numbers in the Prometheus text exposition format 0.0.4. From any thread; a lock is held
/// for the change of a number or the copy of a family, never while text is made.
class MetricRegistry {
 public:
  /// Counters whose labels have known values begin as 0.
  explicit MetricRegistry(const std::vector<MetricSpec>& specs);

  /// The same for one thing of those that a counter's first label names: a pool, say.
  void begin(std::string_view name, const std::string& first);

  /// Adds to a counter. An undeclared name is ignored: metrics never fail the work they count.
  void add(std::string_view name, const Labels& labels = {}, double amount = 1);
  void set(std::string_view name, double value, const Labels& labels = {});

  /// One number of a gauge.
  struct Sample {
    Labels labels;
    double value = 0;
  };

  /// What exists now, in place of all samples of a gauge: whoever reads sees those before or these.
  void replace(std::string_view name, const std::vector<Sample>& now);

  /// Takes away the samples of something that is not any more: those that begin with these labels.
  void remove(std::string_view name, const Labels& labels);

  [[nodiscard]] double value(std::string_view name, const Labels& labels = {}) const;
  [[nodiscard]] std::string expose() const;

 private:
  using Samples = std::map<std::string, double>;  ///< by rendered labels

  void begin(std::string_view name, const std::vector<Labels>& combinations);

  /// Absent where the name is not declared.
  Samples* find(std::string_view name);

  const std::vector<MetricSpec> specs_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string_view, Samples> samples_;  ///< all of specs_, from the start
};

}  // namespace railhead
