// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"

namespace railhead::kubelet {

/// A channel to a kubelet's unix socket; nothing is connected before the first call. Answers have
/// at most 16 MiB.
std::shared_ptr<grpc::Channel> connect(const std::string& socket);

/// UNAVAILABLE and CANCELLED are `unavailable`, RESOURCE_EXHAUSTED `too_large`, DEADLINE_EXCEEDED
/// `timeout`, UNIMPLEMENTED `unsupported`, every other code `malformed`. The message is the
/// socket's path and the kubelet's words.
Error error_of(const grpc::Status& status, const std::string& socket);

/// Before anything else of gRPC. It writes to standard error by itself, in its own form, what our
/// errors say anyway: not any more. It stays until the process ends: who lets go its last object
/// would join its threads, one of which may poll for 10 s (grpc 1.51, tcp_posix.cc, run_poller).
/// Fails where descriptors are short, and may be called again then: gRPC would end the process.
/// From any thread.
Status start_library();

/// In so long from now, as gRPC's deadlines and alarms want it.
gpr_timespec timespec_in(std::chrono::nanoseconds time);

}  // namespace railhead::kubelet
