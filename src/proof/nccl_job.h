// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "proof/nccl_log.h"
#include "proof/nccl_rank.h"

namespace railhead::proof {

/// What the log says of the job.
struct NcclJob {
  NcclVerdict verdict = NcclVerdict::unknown;
  NcclGpuPath gpu_path = NcclGpuPath::unknown;
  std::string why;
  std::vector<NcclRank> ranks;  ///< by rank, host, pid, GPU
  std::vector<std::string> warnings;
};

NcclJob judge(const NcclLog& log);

}  // namespace railhead::proof
