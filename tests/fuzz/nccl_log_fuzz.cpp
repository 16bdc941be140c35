// SPDX-License-Identifier: Apache-2.0
//
// Whatever a log holds, and wherever its chunks end, the answer is the same; every rank has a
// verdict that its evidence allows, and quotes are printable and short.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proof/nccl_job.h"
#include "proof/nccl_log.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

railhead::proof::NcclLog read(std::string_view text, std::size_t chunk) {
  railhead::proof::NcclLogReader reader;
  while (!text.empty()) {
    reader.feed(text.substr(0, chunk));
    text.remove_prefix(std::min(chunk, text.size()));
  }
  return reader.finish();
}

void check_quote(const railhead::proof::NcclQuote& quote, const railhead::proof::NcclLog& log) {
  require(quote.place.file < log.files.size());
  require(quote.place.line >= 1 && quote.place.line <= log.lines);
  require(quote.text.size() < 300);
  for (const char c : quote.text) require(static_cast<unsigned char>(c) >= 0x20);
}

void check_rank(const railhead::proof::NcclRank& rank, const railhead::proof::NcclLog& log) {
  require(!rank.why.empty());
  for (const auto& quote : rank.evidence) check_quote(quote, log);
  for (const auto& device : rank.devices) {
    require(device.use.gpu_direct <= device.use.sends + device.use.receives);
  }
  using enum railhead::proof::NcclVerdict;
  if (rank.verdict == rdma_chosen) require(!rank.transport.empty());
  if (rank.devices.empty()) require(rank.gpu_path == railhead::proof::NcclGpuPath::unknown);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = read(text, SIZE_MAX);
  const auto parts = read(text, 1 + (size > 0 ? data[0] : 0) % 64);
  require(whole.lines == parts.lines && whole.records == parts.records);
  require(whole.workers.size() == parts.workers.size());
  const auto job = railhead::proof::judge(whole);
  require(job.verdict == railhead::proof::judge(parts).verdict);
  for (const auto& rank : job.ranks) check_rank(rank, whole);
  for (const auto& problem : whole.problems) check_quote(problem.first, whole);
  return 0;
}
