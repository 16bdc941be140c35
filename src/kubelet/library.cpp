// SPDX-License-Identifier: Apache-2.0
#include "kubelet/library.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include <mutex>

#include "host/descriptors.h"

namespace railhead::kubelet {
namespace {

/// gRPC 1.51 needs four for its event loops, and one for a connection.
constexpr int kDescriptors = 8;

}  // namespace

Status start_library() {
  static std::mutex mutex;
  static bool is_started = false;
  const std::lock_guard lock(mutex);
  if (is_started) return {};
  TRY_STATUS(host::has_descriptors_left(kDescriptors));
  gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));
  grpc_init();
  is_started = true;
  return {};
}

}  // namespace railhead::kubelet
