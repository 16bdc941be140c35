// SPDX-License-Identifier: Apache-2.0
#include "agent/nfs_counts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "proof/nfs_use.h"

namespace railhead::agent {

void count_nfs(host::Host& host, Metrics& metrics) {
  using proof::NfsVerdict;
  decltype(Metrics::nfs_mounts)::Now now;
  const auto mounts = usage::read_nfs_mounts(host);
  if (mounts && *mounts && (*mounts)->of_machine) {
    std::vector<std::string> unknown;
    const auto declared = usage::read_nfs_declarations(host, unknown);
    const auto judged = proof::judge_all_nfs(**mounts, declared, {});
    for (const auto verdict : {NfsVerdict::rdma, NfsVerdict::tcp, NfsVerdict::fallback,
                               NfsVerdict::absent, NfsVerdict::unknown}) {
      const auto count = std::ranges::count_if(
          judged, [&](const auto& one) { return one.use.verdict == verdict; });
      now.add(static_cast<std::uint64_t>(count), label::NfsVerdict(to_lower(to_string(verdict))));
    }
  }
  metrics.nfs_mounts.replace(std::move(now));
}

}  // namespace railhead::agent
