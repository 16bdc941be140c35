// SPDX-License-Identifier: Apache-2.0
#include "host/boot_id.h"

#include "base/text.h"
#include "host/keep.h"

namespace railhead::host {

std::string boot_id(Host& host) {
  const auto text = host.read_keeping(kBootId, keep_line);
  return text && *text ? std::string(trim(**text)) : "";
}

}  // namespace railhead::host
