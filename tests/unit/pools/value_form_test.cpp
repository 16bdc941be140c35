// SPDX-License-Identifier: Apache-2.0
#include "pools/value_form.h"

#include <gtest/gtest.h>

namespace railhead::test {
namespace {

using pools::Fact;
using pools::why_nothing_has;

struct Value {
  Fact fact;
  std::string_view text;
};

TEST(ValueForm, what_no_function_can_have_is_said) {
  for (const auto& [fact, text] : {Value{Fact::vendor, "Mellanox"},
                                   {Fact::vendor, "0x15b3"},
                                   {Fact::vendor, "15B3"},
                                   {Fact::vendor, "15b3:101e"},
                                   {Fact::vendor, ""},
                                   {Fact::device, "0000:19:00.2"},
                                   {Fact::device, "19:00.2"},
                                   {Fact::device, "0x101b"},
                                   {Fact::device, "101E"},
                                   {Fact::device, "15b3:101e"},
                                   {Fact::device, "MT2910"},
                                   {Fact::device, "fc"},
                                   {Fact::driver, "mlx5_ib"},
                                   {Fact::driver, "mlx5"},
                                   {Fact::driver, "vfio_pci"},
                                   {Fact::driver, "bnxt_re"},
                                   {Fact::link_type, "IB"},
                                   {Fact::link_type, "InfiniBand"},
                                   {Fact::link_type, "ethernet"},
                                   {Fact::pci_address, "19:00.2"},
                                   {Fact::pci_address, "0000:AF:00.2"},
                                   {Fact::pci_address, "ens1f0"},
                                   {Fact::root_device, "19:00.0"},
                                   {Fact::root_device, "ens1f0#0-3"},
                                   {Fact::netdev, "mlx5_0"},
                                   {Fact::netdev, "rocep23s0f0"},
                                   {Fact::netdev, "ens*"},
                                   {Fact::netdev, "0000:19:00.0"},
                                   {Fact::netdev, "a/b"},
                                   {Fact::pf_name, "mlx5_0#0-3"},
                                   {Fact::pf_name, "0000:19:00.0#1"},
                                   {Fact::first_pkey, "8001"},
                                   {Fact::acpi_index, "0x5"},
                                   {Fact::vdpa_type, "vhost_vdpa"}}) {
    EXPECT_NE(why_nothing_has(fact, text), "") << text;
  }
}

TEST(ValueForm, what_a_function_may_have_is_not_spoken_of) {
  for (const auto& [fact, text] : {Value{Fact::vendor, "15b3"},
                                   {Fact::device, "101e"},
                                   {Fact::device, "1021"},
                                   {Fact::driver, "mlx5_core"},
                                   {Fact::driver, "vfio-pci"},
                                   {Fact::driver, "irdma.roce"},
                                   {Fact::link_type, "infiniband"},
                                   {Fact::link_type, "ether"},
                                   {Fact::pci_address, "0000:19:00.2"},
                                   {Fact::pci_address, "10000:19:00.2"},
                                   {Fact::root_device, "0000:AF:00.0#0-3"},
                                   {Fact::netdev, "ens1f0np0"},
                                   {Fact::netdev, "ibp23s0"},
                                   {Fact::netdev, "mlx5bond"},
                                   {Fact::pf_name, "ibs3f0#0,2-3"},
                                   {Fact::pf_name, "enp1s0f0np0-an-alternative-name"},
                                   {Fact::first_pkey, "0x8001"},
                                   {Fact::acpi_index, "5"},
                                   {Fact::vdpa_type, "vhost"}}) {
    EXPECT_EQ(why_nothing_has(fact, text), "") << text;
  }
}

TEST(ValueForm, what_was_meant_is_named) {
  EXPECT_NE(why_nothing_has(Fact::vendor, "NVIDIA").find("15b3"), std::string::npos);
  EXPECT_NE(why_nothing_has(Fact::vendor, "15b3:101e").find("15b3"), std::string::npos);
  EXPECT_NE(why_nothing_has(Fact::device, "0000:19:00.2").find("pciAddresses"), std::string::npos);
  EXPECT_NE(why_nothing_has(Fact::driver, "mlx5_ib").find("mlx5_core"), std::string::npos);
  EXPECT_NE(why_nothing_has(Fact::pci_address, "19:00.2").find("0000:19:00.2"), std::string::npos);
}

}  // namespace
}  // namespace railhead::test
