// SPDX-License-Identifier: Apache-2.0
//
// What the words of settings mean. A text becomes a value here, once, and nobody reads the word
// again; an error quotes the text and says what is allowed.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::config {

enum class GpuPolicy : std::uint8_t { closest, numa, all, none };
enum class AnnotationPolicy : std::uint8_t { narrow, allow, deny };

/// Whether the kernel is asked to list queue pairs.
enum class QueuePairChoice : std::uint8_t { automatic, always, never };

/// Who puts the device nodes of an allocation into the container.
enum class HandOut : std::uint8_t {
  nri,           ///< the agent itself, at creation
  device_specs,  ///< the kubelet, by the answer to Allocate
  cdi,           ///< the runtime, by names in the answer to Allocate and our spec files
};

/// How the kubelet learns of the resources.
enum class Registration : std::uint8_t { enrol, found };

/// Who should read it: error: somebody must act; warn: somebody should look; info: what happened,
/// one line an event; debug: for us.
enum class LogLevel : std::uint8_t { debug, info, warn, error };
enum class LogFormat : std::uint8_t { text, json };

inline constexpr std::int64_t kMaxRescanSeconds = 86400;

/// What a NIC's device nodes are called in configurations.
inline constexpr std::array<std::string_view, 4> kDeviceClasses{"uverbs", "rdma_cm", "umad",
                                                                "issm"};

Result<bool> parse_switch(std::string_view text);

/// "unlimited" (or "-1") or a number of bytes, with an optional Ki, Mi, Gi, Ti.
Result<std::uint64_t> parse_byte_limit(std::string_view text);

Result<std::string> parse_any_text(std::string_view text);
Result<std::string> parse_path(std::string_view text);
Result<std::string> parse_path_or_nothing(std::string_view text);
Result<std::string> parse_plugin_name(std::string_view text);
Result<std::string> parse_plugin_index(std::string_view text);

/// Separated by commas, without what is empty.
Result<std::vector<std::string>> parse_list(std::string_view text);
Result<std::vector<std::string>> parse_device_classes(std::string_view text);
Result<std::vector<std::string>> parse_pod_patterns(std::string_view text);

/// Whole seconds, as a number alone or a time of base/duration.h: "90", "30s", "5m".
Result<std::chrono::seconds> parse_interval(std::string_view text);
Result<std::chrono::seconds> parse_interval_or_never(std::string_view text);  ///< never: 0

Result<GpuPolicy> parse_gpu_policy(std::string_view text);
Result<AnnotationPolicy> parse_annotation_policy(std::string_view text);
Result<QueuePairChoice> parse_queue_pair_choice(std::string_view text);
Result<std::optional<HandOut>> parse_hand_out(std::string_view text);  ///< absent: "auto"
Result<Registration> parse_registration(std::string_view text);
Result<LogLevel> parse_log_level(std::string_view text);
Result<LogFormat> parse_log_format(std::string_view text);

}  // namespace railhead::config
