// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "bench/listener.h"
#include "host/unique_fd.h"

namespace railhead::bench {

/// Listening on this address alone. The error names it.
Result<host::UniqueFd> listen_tcp(const HostPort& where);

/// "10.0.0.1:40123" or "[fd00::1]:40123".
std::string local_address(int socket);

/// No delay for small messages; and a peer whose machine vanished is noticed within 20 s.
void prepare_connection(int socket);

}  // namespace railhead::bench
