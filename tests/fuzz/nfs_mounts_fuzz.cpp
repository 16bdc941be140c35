// SPDX-License-Identifier: Apache-2.0
//
// The kernel's mount statistics, the tables that add to them, and what declares mounts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "proof/nfs_use.h"
#include "usage/nfs_mounts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto mounts = railhead::usage::parse_mountstats(text);
  railhead::usage::add_mountinfo(mounts, text, "nothing else is known");
  auto declared = railhead::usage::parse_fstab(text);
  if (auto unit = railhead::usage::parse_mount_unit("unit", "a.mount", text))
    declared.push_back(*unit);
  if (auto found = railhead::usage::parse_nfs_manifests("file", text)) {
    declared.insert(declared.end(), found->begin(), found->end());
  }
  for (const auto& [mount, use] :
       railhead::proof::judge_all_nfs({mounts, true}, declared, {"/*"})) {
    // No verdict of RDMA without a connection that is.
    if (use.verdict == railhead::proof::NfsVerdict::rdma && mount.transports.empty()) std::abort();
  }
  // What a snapshot keeps is kept of that, too.
  for (const auto keep : {railhead::usage::kept_mountstats, railhead::usage::kept_mountinfo,
                          railhead::usage::kept_fstab, railhead::usage::kept_mount_unit}) {
    const auto kept = keep(text);
    if (keep(kept) != kept) std::abort();
  }
  return 0;
}
