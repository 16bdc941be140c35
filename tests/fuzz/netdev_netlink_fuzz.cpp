// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says of a netdev's virtual functions and flow control, and the library of a
// container in which the ending of providers is looked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "host/netdev_netlink.h"
#include "system/container.h"

namespace {

using railhead::host::NetdevQuestion;

void require(bool holds) {
  if (!holds) std::abort();
}

/// What is kept says the same as the whole, holds nothing else, and stays as it is.
void fuzz_answer(NetdevQuestion question, std::string_view bytes) {
  const auto kept = railhead::host::kept_of_netdev(question, bytes);
  (void)railhead::host::take_netdev_reply(question, bytes, 1);
  const auto functions = railhead::host::parse_vf_settings(bytes);
  const auto settings = railhead::host::parse_dcb_settings(bytes);
  if (kept.empty()) {
    require(question == NetdevQuestion::vfs ? !functions : !settings);
    return;
  }
  require(railhead::host::kept_of_netdev(question, kept) == kept);
  if (question == NetdevQuestion::dcb) {
    require(settings && railhead::host::parse_dcb_settings(kept).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzz_answer(NetdevQuestion::vfs, bytes);
  fuzz_answer(NetdevQuestion::dcb, bytes);
  const auto suffix = railhead::system::provider_suffix_in(bytes);
  require(!suffix ||
          (suffix->starts_with("-rdmav") && suffix->ends_with(".so") && suffix->size() <= 13));
  return 0;
}
