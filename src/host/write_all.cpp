// SPDX-License-Identifier: Apache-2.0
#include "host/write_all.h"

#include <unistd.h>

#include <cerrno>

#include "host/host_error.h"

namespace railhead::host {

Status write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return host_error(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace railhead::host
