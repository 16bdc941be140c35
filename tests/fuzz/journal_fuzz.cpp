// SPDX-License-Identifier: Apache-2.0
// The journal of setup, which says what is done as root: no path leads anywhere but where it says.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "setup/journal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Kind = railhead::setup::JournalEntry::Kind;
  const auto journal =
      railhead::setup::Journal::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!journal) return 0;
  for (const auto& entry : journal->entries()) {
    const std::string_view subject = entry.subject;
    const bool is_path =
        entry.kind == Kind::file || entry.kind == Kind::folder || entry.kind == Kind::attribute;
    if (subject.empty() || subject.starts_with('/') != is_path) std::abort();
    if (subject.find('\0') != std::string_view::npos) std::abort();
  }
  return 0;
}
