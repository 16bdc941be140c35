// SPDX-License-Identifier: Apache-2.0
//
// The kernel's mount statistics, and the tables that add to them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "proof/nfs_use.h"
#include "usage/nfs_mounts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto mounts = railhead::usage::parse_mountstats(text);
  if (!mounts) return 0;
  railhead::usage::add_addresses(*mounts, text);
  railhead::usage::add_declarations(*mounts, text);
  for (const auto& [mount, use] :
       railhead::proof::judge_all_nfs(*mounts, railhead::usage::parse_fstab(text), {"/*"})) {
    // No verdict of RDMA without a connection that is.
    if (use.verdict == railhead::proof::NfsVerdict::rdma && mount.transports.empty()) std::abort();
  }
  return 0;
}
