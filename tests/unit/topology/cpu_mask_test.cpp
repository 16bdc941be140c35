// SPDX-License-Identifier: Apache-2.0
#include "topology/cpu_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuMask, the_last_word_holds_the_lowest_cpus) {
  EXPECT_THAT(cpus_of_mask("0001,00000000,8000000f"), ElementsAre(0, 1, 2, 3, 31, 64));
}

TEST(CpuMask, what_is_no_mask_has_no_cpus) {
  for (const auto* text : {"", ",", "0-3", "100000000", "1,,1", "0x"}) {
    EXPECT_THAT(cpus_of_mask(text), IsEmpty()) << text;
  }
}

TEST(CpuMask, is_written_in_words_of_eight_digits) {
  EXPECT_EQ(mask_of_cpus({0, 1, 2, 3, 31, 64}), "00000001,00000000,8000000f");
  EXPECT_EQ(mask_of_cpus({}), "");
}

TEST(CpuMask, comes_back_as_it_went) {
  const std::vector<unsigned> cpus{3, 32, 95, 96, 255};
  EXPECT_EQ(cpus_of_mask(mask_of_cpus(cpus)), cpus);
}

}  // namespace
}  // namespace railhead::topology
