// SPDX-License-Identifier: Apache-2.0
// The control messages and answers of NRI as bytes; the generated types stay in messages.cpp.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "container/adjustment.h"
#include "nri/session.h"

namespace railhead::nri {

inline constexpr std::string_view kPluginService = "nri.pkg.api.v1alpha1.Plugin";
inline constexpr std::string_view kRuntimeService = "nri.pkg.api.v1alpha1.Runtime";

/// What RegisterPlugin says we speak: containerd/nri's version whose messages api/nri.proto has.
inline constexpr std::string_view kNriVersion = "v0.12.5";

/// Event n is bit n - 1. RunPodSandbox and CreateContainer alone: each further event is one more
/// serialized round trip for every pod or container, fail_request covers whatever is subscribed, an
/// unknown bit ends the registration, and 0 would mean all.
inline constexpr std::int32_t kSubscribedEvents = 0x0009;

std::string encode_register_plugin(const SessionOptions& options);

/// Timeouts that are 0 or negative (NRI before 0.7) become NRI's defaults, 5 s and 2 s.
Result<RuntimePeer> decode_configure(std::string_view payload);

/// Always asks to be kept after a late answer (keep_connected).
std::string encode_configure_response(bool fail_request);

std::string encode_synchronize_response(bool more);

/// An empty adjustment is an empty response. Mode, uid and gid of a device are always present: runc
/// makes a node without a mode 0666 and root's.
std::string encode_create_response(const container::Adjustment& adjustment);

}  // namespace railhead::nri
