// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpc/grpc.h>
#include <grpc/support/log.h>

namespace railhead::kubelet {

/// Before anything else of gRPC. It writes to standard error by itself, in its own form, what our
/// errors say anyway: not any more. It stays until the process ends: who lets go its last object
/// would join its threads, one of which may poll for 10 s (grpc 1.51, tcp_posix.cc, run_poller).
inline void start_library() {
  static const bool is_started = [] {
    gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));
    grpc_init();
    return true;
  }();
  static_cast<void>(is_started);
}

}  // namespace railhead::kubelet
