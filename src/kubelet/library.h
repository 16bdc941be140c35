// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace railhead::kubelet {

/// Before anything else of gRPC. It writes to standard error by itself, in its own form, what our
/// errors say anyway: not any more. It stays until the process ends: who lets go its last object
/// would join its threads, one of which may poll for 10 s (grpc 1.51, tcp_posix.cc, run_poller).
/// Fails where descriptors are short, and may be called again then: gRPC would end the process.
/// From any thread.
Status start_library();

}  // namespace railhead::kubelet
