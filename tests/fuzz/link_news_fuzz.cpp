// SPDX-License-Identifier: Apache-2.0
//
// What the kernel's routing netlink tells of links: any bytes, and the answer depends on nothing
// but what came before.
#include <cstdlib>
#include <string_view>

#include "host/link_news.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  railhead::host::LinkNews once;
  (void)once.take(bytes);
  railhead::host::LinkNews again = once;
  const auto first = once.take(bytes);
  if (first != again.take(bytes)) std::abort();
  return 0;
}
