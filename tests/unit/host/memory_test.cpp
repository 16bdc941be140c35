// SPDX-License-Identifier: Apache-2.0
#include "host/memory.h"

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RAILHEAD_OTHER_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define RAILHEAD_OTHER_MALLOC
#endif

namespace railhead {
namespace {

std::size_t resident_pages() {
  std::size_t whole = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return resident;
}

TEST(Memory, what_was_freed_below_what_is_still_held_goes_back_to_the_system) {
#ifdef RAILHEAD_OTHER_MALLOC
  GTEST_SKIP() << "another allocator";
#endif
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kPages = 8192;
  std::vector<std::unique_ptr<char[]>> small(4 * kPages);
  for (auto& one : small) one = std::make_unique<char[]>(kPage / 4);
  const auto held =
      std::make_unique<char[]>(kPage / 4);  // so that freeing alone gives nothing back
  small.clear();
  const auto before = resident_pages();
  give_back_free_memory();
  EXPECT_LT(resident_pages() + kPages / 2, before);
  EXPECT_EQ(held[0], 0);
}

TEST(Memory, code_that_was_given_back_still_runs) {
  const auto before = resident_pages();
  give_back_code_pages();
  EXPECT_LT(resident_pages(), before);
  EXPECT_EQ(std::to_string(before), std::to_string(before));
}

}  // namespace
}  // namespace railhead
