// SPDX-License-Identifier: Apache-2.0
#include "node/pci.h"

#include <gtest/gtest.h>

namespace railhead::node {
namespace {

PciAddress parsed(std::string_view text) {
  return PciAddress::parse(text).value();
}

TEST(PciAddress, the_forms_of_kernel_lspci_and_nvml_are_one_address) {
  EXPECT_EQ(parsed("0000:18:00.0"), (PciAddress{0, 0x18, 0, 0}));
  EXPECT_EQ(parsed("18:00.0"), parsed("0000:18:00.0"));
  EXPECT_EQ(parsed("00000000:18:00.0"), parsed("0000:18:00.0"));
  EXPECT_EQ(parsed("0000:C3:1F.7"), (PciAddress{0, 0xc3, 0x1f, 7}));
}

TEST(PciAddress, domains_may_have_more_than_four_digits) {
  EXPECT_EQ(parsed("10000:00:04.0"), (PciAddress{0x10000, 0, 4, 0}));
  EXPECT_EQ(parsed("10000:00:04.0").str(), "10000:00:04.0");
  EXPECT_EQ(parsed("ffffffff:00:00.0").domain, 0xffffffffU);
}

TEST(PciAddress, is_printed_as_the_kernel_prints_it) {
  EXPECT_EQ(parsed("C3:00.1").str(), "0000:c3:00.1");
}

TEST(PciAddress, sorts_as_lspci_does) {
  EXPECT_LT(parsed("0000:ff:1f.7"), parsed("0001:00:00.0"));
  EXPECT_LT(parsed("0000:18:00.1"), parsed("0000:18:01.0"));
  EXPECT_LT(parsed("0009:00:00.0"), parsed("10000:00:00.0"));
}

TEST(PciAddress, what_is_no_address_is_refused) {
  for (const std::string_view text : {"",
                                      ":",
                                      "18",
                                      "18:00",
                                      "18:00.",
                                      "18:00.8",
                                      "18:20.0",
                                      "1:00.0",
                                      "118:00.0",
                                      "0000:18:00.0 ",
                                      " 0000:18:00.0",
                                      "0000:18:00.0\n",
                                      "0x00:18:00.0",
                                      "0000:0x:00.0",
                                      "123456789:00:00.0",
                                      "0000:00:18:00.0",
                                      "pci0000:00",
                                      "0000:18:-1.0",
                                      "0000:18:00.0.0",
                                      ":18:00.0"}) {
    const auto result = PciAddress::parse(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::malformed);
  }
}

}  // namespace
}  // namespace railhead::node
