// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpc/support/log.h>

namespace railhead::kubelet {

/// gRPC writes to standard error by itself, in its own form, what our errors say anyway. Once is
/// enough; more often does no harm.
inline void silence_library_log() {
  gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));
}

}  // namespace railhead::kubelet
