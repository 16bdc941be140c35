// SPDX-License-Identifier: Apache-2.0
#include "kubelet/channel.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include <mutex>

#include "host/descriptors.h"
#include "host/threads.h"

namespace railhead::kubelet {
namespace {

/// A node with 1,000 slots and its pods is above gRPC's default of 4 MiB.
constexpr int kMaxAnswerBytes = 16 << 20;
/// A kubelet that was stopped accepts a connection and then says nothing: the deadline of a call
/// ends that, as `timeout`. gRPC's own 20 s would end it as if nobody were there.
constexpr int kConnectTimeoutMs = 3'600'000;

/// gRPC 1.51 needs four for its event loops, and one for a connection.
constexpr int kDescriptors = 8;

/// And a thread for each of its timers, resolvers and executors, and two for its event engine.
constexpr int kThreads = 8;

}  // namespace

std::shared_ptr<grpc::Channel> connect(const std::string& socket) {
  grpc::ChannelArguments arguments;
  // Newer gRPC would send the socket's path, which kubelets refuse (grpc/grpc#38142).
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  // Each of these costs system calls or memory for something that a local socket does not need.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

Error error_of(const grpc::Status& status, const std::string& socket) {
  ErrorCode code = ErrorCode::malformed;
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED: code = ErrorCode::unavailable; break;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: code = ErrorCode::too_large; break;
    case grpc::StatusCode::DEADLINE_EXCEEDED: code = ErrorCode::timeout; break;
    case grpc::StatusCode::UNIMPLEMENTED: code = ErrorCode::unsupported; break;
    default: break;
  }
  return {code, socket + ": " + status.error_message()};
}

Status start_library() {
  static std::mutex mutex;
  static bool is_started = false;
  const std::lock_guard lock(mutex);
  if (is_started) return {};
  TRY_STATUS(host::has_descriptors_left(kDescriptors));
  TRY_STATUS(host::has_threads_left(kThreads));
  gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));
  grpc_init();
  // Every channel shares one event engine, which ends with the last. Its end waits for threads that
  // it has counted and could not start (grpc 1.51, event_engine/thread_pool.cc), so it never comes.
  [[maybe_unused]] static const auto* keeps_event_engine = new std::shared_ptr(connect("/"));
  is_started = true;
  return {};
}

gpr_timespec timespec_in(std::chrono::nanoseconds time) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(time.count(), GPR_TIMESPAN));
}

}  // namespace railhead::kubelet
