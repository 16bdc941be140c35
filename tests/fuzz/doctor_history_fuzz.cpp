// SPDX-License-Identifier: Apache-2.0
//
// The agent's history, which lies in a file between two programs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "checks/history.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checks = railhead::checks;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto history = checks::parse_history(text);
  if (!history) return 0;
  const auto written = to_text(*history);
  if (written.size() > checks::kMaxHistoryBytes) std::abort();
  const auto again = checks::parse_history(written);
  if (!again || !(*again == *history)) std::abort();
  for (const auto since : {std::uint64_t{0}, history->first(), history->last()}) {
    (void)history->growth("/sys/class/infiniband/x/ports/1/counters/symbol_error", since);
  }
  return 0;
}
