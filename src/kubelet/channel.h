// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

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

}  // namespace railhead::kubelet
