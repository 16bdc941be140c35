// SPDX-License-Identifier: Apache-2.0
#include "host/memory.h"

#include <csignal>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <thread>
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

TEST(Memory, a_program_that_gets_none_ends_with_a_code_and_a_word) {
  if (!test::kHasGlibcMalloc) GTEST_SKIP() << "another allocator, which ends the program itself";
  const auto ask_for_all = [] {
    end_without_memory();
    const std::size_t too_much = std::numeric_limits<std::ptrdiff_t>::max();
    (void)::operator delete(::operator new(too_much));
  };
  EXPECT_EXIT(ask_for_all(), testing::ExitedWithCode(2), "not enough memory");
}

TEST(Memory, a_program_that_gets_no_thread_ends_with_a_code_and_a_word) {
  const auto fail = [](std::errc why) {
    end_without_memory();
    std::thread([why] { throw std::system_error(std::make_error_code(why)); }).join();
  };
  EXPECT_EXIT(fail(std::errc::resource_unavailable_try_again), testing::ExitedWithCode(2),
              "no thread");
  EXPECT_EXIT(fail(std::errc::invalid_argument), testing::KilledBySignal(SIGABRT), "");
}

TEST(Memory, what_is_to_be_kept_is_left_out_of_a_range) {
  const auto is = [](const std::array<AddressRange, 2>& two,
                     const std::array<std::uintptr_t, 4>& wanted) {
    return std::array{two[0].begin, two[0].end, two[1].begin, two[1].end} == wanted;
  };
  EXPECT_TRUE(is(without({100, 200}, {120, 150}), {100, 120, 150, 200}));
  EXPECT_TRUE(is(without({100, 200}, {100, 150}), {100, 100, 150, 200}));
  EXPECT_TRUE(is(without({100, 200}, {0, 0}), {100, 100, 100, 200})) << "nothing is to be kept";
  EXPECT_TRUE(is(without({100, 200}, {300, 400}), {100, 200, 200, 200}));
}

TEST(Memory, only_whole_pages_of_the_kernels_size_are_given_back) {
  // The program of arm64 as it is linked: its code ends, and its data begins, within a page of 64
  // KiB.
  const AddressRange code{0x5500000000, 0x55010cc308};
  const auto of_4_kib = whole_pages(code, 0x1000);
  EXPECT_EQ(of_4_kib.begin, code.begin);
  EXPECT_EQ(of_4_kib.end, 0x55010cc000U);
  const auto of_64_kib = whole_pages(code, 0x10000);
  EXPECT_EQ(of_64_kib.begin, code.begin);
  EXPECT_EQ(of_64_kib.end, 0x55010c0000U);
  EXPECT_EQ(whole_pages({0x1001, 0x30000}, 0x10000).begin, 0x10000U);
  const auto none = whole_pages({0x11000, 0x1f000}, 0x10000);
  EXPECT_EQ(none.begin, none.end);
}

}  // namespace
}  // namespace railhead::host
