// SPDX-License-Identifier: Apache-2.0
#include "node/ddp_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/devlink_builder.h"
#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::device_info;
using test::DevlinkHost;
using testing::ElementsAre;
using testing::IsEmpty;

PciDevice function(const std::string& address, const std::string& driver) {
  PciDevice device;
  device.address = PciAddress::parse(address).value();
  device.driver = driver;
  return device;
}

/// The only function of a machine whose kernel gives this answer.
struct Single {
  explicit Single(DevlinkHost::Answer answer)
      : host({{"0000:3b:00.0", std::move(answer)}}),
        reader(host),
        pci{function("0000:3b:00.0", "ice")} {
    DdpPackages().fill(reader, pci, {});
  }

  DevlinkHost host;
  Reader reader;
  std::vector<PciDevice> pci;
};

DevlinkHost::Answer said(std::string bytes) {
  return std::optional(std::move(bytes));
}

TEST(DdpReader, a_physical_function_has_the_package_that_its_driver_names) {
  Single machine(said(device_info("ICE OS Default Package")));
  EXPECT_EQ(machine.pci[0].ddp_package, "ICE OS Default Package");
  EXPECT_THAT(machine.reader.take_problems(), IsEmpty());
}

TEST(DdpReader, nobody_but_physical_functions_of_intel_drivers_is_asked) {
  DevlinkHost host({});
  Reader reader(host);
  std::vector<PciDevice> pci{
      function("0000:3b:00.0", "ice"),       function("0000:3c:00.0", "i40e"),
      function("0000:3d:00.0", "mlx5_core"), function("0000:3e:00.0", "vfio-pci"),
      function("0000:3b:01.0", "iavf"),      function("0000:3b:01.1", "ice"),
      function("0000:3f:00.0", "")};
  pci[4].physfn = pci[5].physfn = pci[0].address;
  pci[6].driver.reset();
  DdpPackages().fill(reader, pci, {});
  EXPECT_THAT(host.asked(), ElementsAre("0000:3b:00.0", "0000:3c:00.0"));
  EXPECT_THAT(reader.take_problems(), IsEmpty());
}

TEST(DdpReader, without_devlink_no_package_is_known_and_nothing_is_wrong) {
  Single machine(std::optional<std::string>{});
  EXPECT_EQ(machine.pci[0].ddp_package, std::nullopt);
  EXPECT_THAT(machine.reader.take_problems(), IsEmpty());
}

TEST(DdpReader, a_kernel_that_refuses_is_a_problem) {
  Single machine(
      Error{ErrorCode::denied, "/.netlink/devlink/pci.0000:3b:00.0: operation not permitted"});
  EXPECT_EQ(machine.pci[0].ddp_package, std::nullopt);
  EXPECT_THAT(machine.reader.take_problems(),
              ElementsAre(Problem{Problem::Kind::unreadable, "/.netlink/devlink/pci.0000:3b:00.0",
                                  "operation not permitted"}));
}

TEST(DdpReader, a_name_that_is_no_text_or_too_long_is_a_problem) {
  for (const auto& name : {std::string("a\nb"), std::string(257, 'x')}) {
    Single machine(said(device_info(name)));
    EXPECT_EQ(machine.pci[0].ddp_package, std::nullopt);
    EXPECT_EQ(machine.reader.take_problems().size(), 1U);
  }
  EXPECT_EQ(Single(said("garbage")).reader.take_problems().at(0).what, "not a message of devlink");
}

TEST(DdpReader, a_snapshot_has_what_was_recorded) {
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      text += kDigits[static_cast<unsigned char>(c) >> 4U];
      text += kDigits[static_cast<unsigned char>(c) & 0xfU];
    }
    return text;
  };
  const auto node = test::node_of(
      test::SysfsTree().pci("0000:3b:00.0", "ice", "8086:1592").entries() +
      "t /.netlink/devlink/pci.0000:3b:00.0/0000 " + hex(device_info("ICE COMMS Package")) + "\n");
  ASSERT_EQ(node.pci.size(), 1U);
  EXPECT_EQ(node.pci[0].ddp_package, "ICE COMMS Package");
}

}  // namespace
}  // namespace railhead::node
