// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace railhead {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::denied: return "denied";
    case ErrorCode::malformed: return "malformed";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::too_large: return "too large";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::usage: return "usage";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

}  // namespace railhead
