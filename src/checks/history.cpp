// SPDX-License-Identifier: Apache-2.0
#include "checks/history.h"

#include <algorithm>

#include "base/absent.h"
#include "base/text.h"
#include "data/json.h"
#include "data/value.h"
#include "host/boot_id.h"
#include "report/report.h"
#include "system/counters.h"
#include "usage/processes.h"

namespace railhead::checks {
namespace {

constexpr const char* kHistoryKind = "DoctorHistory";
constexpr std::size_t kMaxBootIdBytes = 64;
constexpr std::size_t kMaxPathBytes = 160;
constexpr std::uint64_t kShortestSlope = 60;

/// What a path of ours may be: nothing that a document has to escape.
bool is_plain(std::string_view path) {
  return path.size() <= kMaxPathBytes && std::ranges::all_of(path, [](char c) {
           return c > ' ' && c < 0x7f && c != '"' && c != '\\';
         });
}

/// The paths of all counters of a NIC that are followed.
std::vector<std::string> followed_of(const node::Nic& nic) {
  std::vector<std::string> paths;
  for (const auto& port : nic.ports) {
    const auto folder = node::port_folder(nic, port) + "/";
    for (const auto& counter : kFollowedCounters)
      paths.push_back(folder + std::string(counter.file));
  }
  for (const auto& netdev : nic.netdevs) {
    paths.push_back(("/sys/class/net/" + netdev + "/").append(kCarrierDowns));
  }
  return paths;
}

/// "100-100:7 400-700:120"
std::string steps_text(const std::vector<History::Step>& steps) {
  std::vector<std::string> words;
  for (const auto& step : steps) {
    words.push_back(std::to_string(step.after) + "-" + std::to_string(step.seen) + ":" +
                    std::to_string(step.value));
  }
  return join(words, " ");
}

Result<History::Step> step_in(std::string_view word) {
  const auto dash = word.find('-');
  const auto colon = word.find(':');
  if (dash == std::string_view::npos || colon == std::string_view::npos || colon < dash) {
    return Error{ErrorCode::malformed, in_quotes(word) + ": expected AFTER-SEEN:VALUE"};
  }
  History::Step step;
  step.after = TRY(parse_unsigned(word.substr(0, dash)));
  step.seen = TRY(parse_unsigned(word.substr(dash + 1, colon - dash - 1)));
  step.value = TRY(parse_unsigned(word.substr(colon + 1)));
  return step;
}

/// Each step was seen after the one before it; the first may stand for one look.
bool is_in_order(const History::Counter& counter, std::uint64_t last_look) {
  std::uint64_t before = 0;
  for (const auto& step : counter.steps) {
    const bool is_first = &step == &counter.steps.front();
    if (step.after < before || step.seen < step.after) return false;
    if (!is_first && step.seen == step.after) return false;
    before = step.seen;
  }
  return before <= counter.last && counter.last <= last_look;
}

Result<History::Counter> counter_of(const data::Value& value) {
  const auto malformed = [&](std::string_view what) { return data::error_at(value.mark, what); };
  const auto* last = value.find("last");
  const auto* steps = value.find("steps");
  if (last == nullptr || steps == nullptr) return malformed("a counter without last or steps");
  History::Counter counter;
  counter.last = TRY(last->as_unsigned());
  const auto text = TRY(steps->as_string());
  for (const auto word : split_words(text)) {
    auto step = TRY(step_in(word));
    counter.steps.push_back(step);
    if (counter.steps.size() > History::kMaxSteps) return malformed("too many steps");
  }
  if (counter.steps.empty()) return malformed("a counter without steps");
  return counter;
}

Result<std::uint64_t> number_at(const data::Value& root, std::string_view key) {
  const auto* value = root.find(key);
  if (value == nullptr) return Error{ErrorCode::malformed, "no " + std::string(key)};
  return value->as_unsigned();
}

}  // namespace

bool is_full(std::string_view path, std::uint64_t value) {
  const auto& all = system::kPmaCounters;
  return std::ranges::any_of(all, [&](const system::PmaCounter& counter) {
    return counter.full == value && path.ends_with("counters/" + std::string(counter.name)) &&
           !path.ends_with("hw_counters/" + std::string(counter.name));
  });
}

std::optional<double> uptime_in(const system::System& system) {
  const auto text = system.text("/proc/uptime");
  if (!text.value) return std::nullopt;
  const auto hundredths = usage::parse_uptime(*text.value);
  if (!hundredths) return std::nullopt;
  return static_cast<double>(*hundredths) / 100;
}

std::optional<std::uint64_t> counter_in(const system::System& system, const std::string& path) {
  const auto text = system.text(path);
  return text.value ? or_absent(parse_unsigned(*text.value)) : std::nullopt;
}

bool History::add(const node::Node& node, const system::System& system) {
  const auto uptime = uptime_in(system);
  const auto boot = system.text(host::kBootId).value;
  if (!uptime || !boot || boot->empty() || boot->size() > kMaxBootIdBytes || !is_plain(*boot)) {
    return false;
  }
  const auto now = static_cast<std::uint64_t>(*uptime);
  if (*boot != boot_id_) {
    *this = History();
    boot_id_ = *boot;
    first_ = now;
  } else if (now <= last_) {
    return false;
  }
  for (const auto& nic : node.nics) {
    if (!nic.registered || nic.elsewhere) continue;
    for (const auto& path : followed_of(nic)) {
      if (const auto value = counter_in(system, path)) see(path, *value, now);
    }
  }
  ++looks_;
  last_ = now;
  forget_old();
  return true;
}

void History::see(const std::string& path, std::uint64_t value, std::uint64_t now) {
  auto at = counters_.find(path);
  if (at == counters_.end()) {
    if (counters_.size() >= kMaxCounters || !is_plain(path)) return;
    counters_.emplace(path, Counter{now, {Step{now, now, value}}});
    return;
  }
  auto& counter = at->second;
  auto& steps = counter.steps;
  if (steps.back().value != value) {
    steps.push_back({counter.last, now, value});
    if (steps.size() > kMaxSteps) steps.erase(steps.begin());
  }
  counter.last = now;
}

/// What no look has seen for long, and of the others all but the last step before the window.
void History::forget_old() {
  const auto begin = last_ > kWindowSeconds ? last_ - kWindowSeconds : 0;
  std::erase_if(counters_, [&](const auto& one) { return one.second.last < begin; });
  for (auto& [path, counter] : counters_) {
    auto& steps = counter.steps;
    while (steps.size() > 1 && steps[1].seen < begin) steps.erase(steps.begin());
  }
}

std::optional<CounterGrowth> History::growth(std::string_view path, std::uint64_t since) const {
  const auto at = counters_.find(path);
  if (at == counters_.end()) return std::nullopt;
  const auto& steps = at->second.steps;
  CounterGrowth growth;
  const auto* before = &steps.front();
  growth.full = is_full(path, before->value);
  for (std::size_t i = 1; i < steps.size(); before = &steps[i], ++i) {
    const auto& step = steps[i];
    if (step.after < since) {
      growth.full = is_full(path, step.value);
      continue;
    }
    if (step.value < before->value) continue;  // it was set to 0, or went round
    const auto more = step.value - before->value;
    const auto seconds = step.seen - step.after;
    const auto rate =
        static_cast<double>(more) / static_cast<double>(std::max(seconds, kShortestSlope));
    growth.by += more;
    if (rate <= growth.per_second) continue;
    growth.per_second = rate;
    growth.steepest_from = before->value;
    growth.steepest_to = step.value;
    growth.steepest_seconds = seconds;
  }
  return growth;
}

std::string to_text(const History& history) {
  auto json = report::make_document(kHistoryKind);
  json["bootId"] = history.boot_id_;
  json["looks"] = history.looks_;
  json["firstLook"] = history.first_;
  json["lastLook"] = history.last_;
  json["counters"] = data::Json::object();
  for (const auto& [path, counter] : history.counters_) {
    json["counters"][path] = {{"last", counter.last}, {"steps", steps_text(counter.steps)}};
  }
  return data::to_json_text(json);
}

Result<History> parse_history(std::string_view text) {
  const data::ParseLimits limits{kMaxHistoryBytes, 4, 8 * History::kMaxCounters};
  const auto root = TRY(data::parse_json(text, limits));
  const auto* kind = root.find("kind");
  if (kind == nullptr || kind->scalar != kHistoryKind) {
    return Error{ErrorCode::malformed, "no document of kind DoctorHistory"};
  }
  History history;
  const auto* boot = root.find("bootId");
  if (boot != nullptr) history.boot_id_ = boot->scalar;
  if (history.boot_id_.empty() || history.boot_id_.size() > kMaxBootIdBytes ||
      !is_plain(history.boot_id_)) {
    return Error{ErrorCode::malformed, "bootId: none, or no identifier"};
  }
  history.looks_ = TRY(number_at(root, "looks"));
  history.first_ = TRY(number_at(root, "firstLook"));
  history.last_ = TRY(number_at(root, "lastLook"));
  const auto* counters = root.find("counters");
  if (counters == nullptr || counters->kind != data::Value::Kind::map ||
      counters->entries.size() > History::kMaxCounters || history.first_ > history.last_) {
    return Error{ErrorCode::malformed, "counters: none, or too many; or looks in no order"};
  }
  for (const auto& entry : counters->entries) {
    auto counter = TRY(counter_of(entry.value));
    if (!is_plain(entry.key) || !is_in_order(counter, history.last_)) {
      return data::error_at(entry.mark, "no path of a counter, or steps in no order");
    }
    history.counters_.emplace(entry.key, std::move(counter));
  }
  return history;
}

}  // namespace railhead::checks
