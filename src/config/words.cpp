// SPDX-License-Identifier: Apache-2.0
#include "config/words.h"

#include <initializer_list>

#include "base/contains.h"
#include "base/duration.h"
#include "base/text.h"

namespace railhead::config {
namespace {

constexpr std::uint64_t kUnlimitedBytes = ~std::uint64_t{0};

Error malformed(std::string_view text, const std::string& why) {
  return {ErrorCode::malformed, in_quotes(text) + " " + why};
}

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};

template <typename Value>
Result<Value> one_of(std::string_view text, std::initializer_list<Word<Value>> words) {
  std::string allowed;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    allowed += (allowed.empty() ? "" : ", ") + std::string(word);
  }
  return malformed(text, "is none of " + allowed);
}

}  // namespace

Result<bool> parse_switch(std::string_view text) {
  const auto lower = to_lower(text);
  if (lower == "true" || lower == "1" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "0" || lower == "no" || lower == "off") return false;
  return malformed(text, "is neither true nor false");
}

Result<std::uint64_t> parse_byte_limit(std::string_view text) {
  if (text == "unlimited" || text == "-1") return kUnlimitedBytes;
  static constexpr std::string_view kSuffixes[] = {"Ki", "Mi", "Gi", "Ti"};
  std::string_view digits = text;
  unsigned shift = 0;
  for (std::size_t i = 0; i < std::size(kSuffixes); ++i) {
    if (text.ends_with(kSuffixes[i])) {
      shift = static_cast<unsigned>(10 * (i + 1));
      digits.remove_suffix(2);
    }
  }
  const auto number = parse_unsigned(digits);
  if (!number || *number > (kUnlimitedBytes >> shift)) {
    return malformed(text, "is neither \"unlimited\" nor a number of bytes such as 8Gi");
  }
  return *number << shift;
}

Result<std::string> parse_any_text(std::string_view text) {
  return std::string(text);
}

Result<std::string> parse_path(std::string_view text) {
  if (text.starts_with('/')) return std::string(text);
  return malformed(text, "is not an absolute path");
}

Result<std::string> parse_path_or_nothing(std::string_view text) {
  return text.empty() ? std::string() : parse_path(text);
}

/// nri: pkg/api/plugin.go: letters, digits and "_.+-".
Result<std::string> parse_plugin_name(std::string_view text) {
  static constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
  if (!text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos) {
    return std::string(text);
  }
  return malformed(text, "has other characters than letters, digits, _.+-");
}

/// nri: pkg/api/plugin.go: exactly two digits.
Result<std::string> parse_plugin_index(std::string_view text) {
  if (text.size() == 2 && is_digit(text[0]) && is_digit(text[1])) return std::string(text);
  return malformed(text, "is not two digits");
}

Result<std::vector<std::string>> parse_list(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : split(text, ',')) {
    if (!trim(word).empty()) words.emplace_back(trim(word));
  }
  return words;
}

Result<std::vector<std::string>> parse_device_classes(std::string_view text) {
  for (const auto word : split(text, ',')) {
    if (contains(kDeviceClasses, word)) {
      continue;
    }
    return malformed(word,
                     "is none of " + join({kDeviceClasses.begin(), kDeviceClasses.end()}, ", "));
  }
  return parse_list(text);
}

Result<std::vector<std::string>> parse_pod_patterns(std::string_view text) {
  auto patterns = TRY(parse_list(text));
  for (const std::string_view word : patterns) {
    const auto slash = word.find('/');
    const bool both = slash != std::string_view::npos && slash > 0 && slash + 1 < word.size() &&
                      word.find('/', slash + 1) == std::string_view::npos;
    if (!both) return malformed(word, "is not NAMESPACE/POD");
  }
  return patterns;
}

Result<std::chrono::seconds> parse_interval(std::string_view text) {
  const auto time = parse_duration(text, std::chrono::seconds(1));
  if (time && time->count() % 1000 == 0 && time->count() > 0 &&
      time->count() <= kMaxRescanSeconds * 1000) {
    return std::chrono::duration_cast<std::chrono::seconds>(*time);
  }
  return malformed(
      text, "is not 1 to " + std::to_string(kMaxRescanSeconds) + " seconds, such as 30, 30s or 5m");
}

Result<std::chrono::seconds> parse_interval_or_never(std::string_view text) {
  const auto time = parse_duration(text, std::chrono::seconds(1));
  if (time && time->count() == 0) return std::chrono::seconds(0);
  auto interval = parse_interval(text);
  if (interval) return interval;
  return malformed(text, "is neither 0 nor 1 to " + std::to_string(kMaxRescanSeconds) +
                             " seconds, such as 30, 30s or 5m");
}

Result<GpuPolicy> parse_gpu_policy(std::string_view text) {
  return one_of<GpuPolicy>(text, {{"closest", GpuPolicy::closest},
                                  {"numa", GpuPolicy::numa},
                                  {"all", GpuPolicy::all},
                                  {"none", GpuPolicy::none}});
}

Result<AnnotationPolicy> parse_annotation_policy(std::string_view text) {
  return one_of<AnnotationPolicy>(text, {{"narrow", AnnotationPolicy::narrow},
                                         {"allow", AnnotationPolicy::allow},
                                         {"deny", AnnotationPolicy::deny}});
}

Result<QueuePairChoice> parse_queue_pair_choice(std::string_view text) {
  return one_of<QueuePairChoice>(text, {{"auto", QueuePairChoice::automatic},
                                        {"always", QueuePairChoice::always},
                                        {"never", QueuePairChoice::never}});
}

Result<std::optional<HandOut>> parse_hand_out(std::string_view text) {
  return one_of<std::optional<HandOut>>(text, {{"auto", std::nullopt},
                                               {"nri", HandOut::nri},
                                               {"device-specs", HandOut::device_specs},
                                               {"cdi", HandOut::cdi}});
}

Result<Registration> parse_registration(std::string_view text) {
  return one_of<Registration>(text,
                              {{"enrol", Registration::enrol}, {"found", Registration::found}});
}

Result<LogLevel> parse_log_level(std::string_view text) {
  return one_of<LogLevel>(text, {{"debug", LogLevel::debug},
                                 {"info", LogLevel::info},
                                 {"warn", LogLevel::warn},
                                 {"error", LogLevel::error}});
}

Result<LogFormat> parse_log_format(std::string_view text) {
  return one_of<LogFormat>(text, {{"text", LogFormat::text}, {"json", LogFormat::json}});
}

}  // namespace railhead::config
