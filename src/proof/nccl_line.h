// SPDX-License-Identifier: Apache-2.0
//
// What NCCL and RCCL print before a message: `host:pid:tid [gpu] NCCL INFO message`, and for a
// warning `host:pid:tid [gpu] file:line (function) NCCL WARN message` (ncclDebugLog, src/debug.cc,
// from 2.2 to 2.30). NCCL 2.1 printed "INFO" and "WARN" alone. Whatever collected the log has put
// its own in front of it:
//   torchrun    [rank0]:, [default0]:
//   MPI, srun   [1,0]<stdout>:, 0:
//   kubectl     2026-01-02T03:04:05.678Z, [pod/name/container]
// Several writers may have shared one line, and whoever published the log may have taken away the
// prefix, the words "NCCL INFO", or both.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace railhead::proof {

enum class NcclLevel : std::uint8_t { info, warn };

/// One message of one process. The views point into the line.
struct NcclRecord {
  std::string_view host;             ///< "" where the log does not say
  std::optional<std::uint32_t> pid;  ///< absent where the prefix was cut off or filtered away
  std::optional<std::uint32_t> gpu;  ///< the CUDA device that the thread had set, from 0
  NcclLevel level = NcclLevel::info;
  std::string_view place;  ///< of a warning: "transport/net_ib.cc:1295", "" where it was cut off
  std::string_view message;
};

/// The messages in one line, mostly none or one. The line is one of line_text.h: without
/// colours and ends of lines. A line without a level
/// is a message if it begins, behind a prefix or nothing, as NCCL's messages about networks do.
std::vector<NcclRecord> nccl_records(std::string_view line);

/// Whether a collector may have put the text in front of a message, and nobody else.
bool may_stand_before_message(std::string_view text);

}  // namespace railhead::proof
