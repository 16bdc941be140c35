// SPDX-License-Identifier: Apache-2.0
#include "allocation/device_info.h"

#include <gmock/gmock.h>

#include "unit/inject/pool_specs.h"

namespace railhead::allocation {
namespace {

using test::driver_pool;
using test::exclusive_pool;
using test::seed_with;
using test::shared_pool;
using test::vfio_with;

std::string info_of(const inject::DecisionTable& table, std::size_t member = 0) {
  return device_info(table, table.pools().pools[0], member).value_or("none");
}

TEST(DeviceInfo, names_the_function_and_its_rdma_device) {
  const auto table = seed_with({exclusive_pool("example.com/nic", {"mlx5_1"})});
  const auto address = table.node().nics[1].pci->str();
  EXPECT_EQ(info_of(table), R"({"type":"pci","version":"1.1.0","pci":{"pci-address":")" + address +
                                R"(","rdma-device":"mlx5_1"}})" + "\n");
}

TEST(DeviceInfo, of_a_virtual_function_also_the_physical_one) {
  EXPECT_EQ(info_of(vfio_with(driver_pool("intel.com/dpdk", "vfio-pci")), 1),
            R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:11:01.1",)"
            R"("pf-pci-address":"0000:11:00.0"}})"
            "\n");
}

TEST(DeviceInfo, of_a_function_taken_by_vdpa_type_is_about_its_vdpa_device) {
  EXPECT_EQ(info_of(vfio_with(test::vdpa_pool("nvidia.com/vhost", "vhost"), test::vdpa_node())),
            R"({"type":"vdpa","version":"1.1.0","vdpa":{"parent-device":"vdpa0","driver":"vhost",)"
            R"("path":"/dev/vhost-vdpa-7","pci-address":"0000:11:01.0",)"
            R"("pf-pci-address":"0000:11:00.0"}})"
            "\n");
  EXPECT_EQ(info_of(vfio_with(test::vdpa_pool("nvidia.com/virtio", "virtio"), test::vdpa_node())),
            R"({"type":"vdpa","version":"1.1.0","vdpa":{"parent-device":"vdpa1","driver":"virtio",)"
            R"("pci-address":"0000:11:01.1","pf-pci-address":"0000:11:00.0"}})"
            "\n");
}

TEST(DeviceInfo, a_pool_that_is_not_about_rdma_names_no_rdma_device) {
  auto pool = exclusive_pool("example.com/net", {"*"});
  pool.include[0].rdma = false;
  EXPECT_EQ(info_of(seed_with({std::move(pool)})).find("rdma-device"), std::string::npos);
}

TEST(DeviceInfo, shared_pools_and_sub_functions_have_none) {
  EXPECT_EQ(info_of(seed_with({shared_pool("rdma.io/hca", {"*"})})), "none");
  auto node = test::seed_node();
  node.nics[1].sub_function = "mlx5_core.sf.4";
  auto pool = exclusive_pool("nvidia.com/sf", {"mlx5_1"});
  pool.kinds = {pools::FunctionKind::scalable};
  EXPECT_EQ(info_of(vfio_with(std::move(pool), std::move(node))), "none");
}

TEST(DeviceInfo, a_file_is_found_by_resource_and_device) {
  EXPECT_EQ(device_info_file_name("intel.com/vf_a", "0000:18:00.1"),
            "intel.com-vf_a-0000:18:00.1-device.json");
}

TEST(DeviceInfo, a_file_name_tells_its_device_and_no_other_resources) {
  const auto id = [](const char* name) {
    return id_in_device_info_file("intel.com/vf", name).value_or("none");
  };
  EXPECT_EQ(id("intel.com-vf-0000:18:00.1-device.json"), "0000:18:00.1");
  for (const char* other :
       {"intel.com-vf-a-0000:18:00.1-device.json", "intel.com-vf-device.json",
        "intel.com-vf--device.json", "intel.com-vf-0000:18:00.1-device.json.aB3dE6",
        "intel.com-vf-18:00.1-device.json", "intel.com-vf-../../x-device.json", "", "intel.com-vf-",
        "intel.com-0000:18:00.1-device.json"}) {
    EXPECT_EQ(id(other), "none") << other;
  }
}

}  // namespace
}  // namespace railhead::allocation
