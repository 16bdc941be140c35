// SPDX-License-Identifier: Apache-2.0
#include "host/boot_id.h"

#include "base/text.h"

namespace railhead::host {

std::string boot_id(Host& host) {
  const auto text = host.read(kBootId);
  return text && *text ? std::string(trim(**text)) : "";
}

}  // namespace railhead::host
