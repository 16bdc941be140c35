// SPDX-License-Identifier: Apache-2.0
#include "host/memory.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/this_program.h"

namespace railhead::host {
namespace {

using test::resident_bytes;

TEST(Memory, what_was_freed_below_held_memory_goes_back_to_the_system) {
  if (!test::kHasGlibcMalloc) GTEST_SKIP() << "another allocator";
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kPages = 8192;
  std::vector<std::unique_ptr<char[]>> small(4 * kPages);
  for (auto& one : small) one = std::make_unique<char[]>(kPage / 4);
  const auto held =
      std::make_unique<char[]>(kPage / 4);  // so that freeing alone gives nothing back
  small.clear();
  const auto before = resident_bytes();
  give_back_free_memory();
  EXPECT_LT(resident_bytes() + kPages / 2 * kPage, before);
  EXPECT_EQ(held[0], 0);
}

TEST(Memory, code_that_was_given_back_still_runs) {
  const auto before = resident_bytes();
  give_back_code_pages();
  EXPECT_LT(resident_bytes(), before);
  EXPECT_EQ(std::to_string(before), std::to_string(before));
}

}  // namespace
}  // namespace railhead::host
