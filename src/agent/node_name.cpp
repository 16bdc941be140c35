// SPDX-License-Identifier: Apache-2.0
#include "agent/node_name.h"

#include "base/text.h"
#include "host/input_file.h"

namespace railhead::agent {

std::string kubernetes_node_name(const std::string& configured) {
  if (!configured.empty()) return configured;
  constexpr std::size_t kMaxBytes = 256;
  const auto text = host::read_file_at_once("/proc/sys/kernel/hostname", kMaxBytes);
  return text ? to_lower(trim(*text)) : "";
}

}  // namespace railhead::agent
