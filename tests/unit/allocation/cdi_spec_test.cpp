// SPDX-License-Identifier: Apache-2.0
#include "allocation/cdi_spec.h"

#include <gmock/gmock.h>

#include <set>

#include "data/json.h"
#include "inject/cdi.h"
#include "unit/inject/pool_specs.h"

namespace railhead::allocation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using test::driver_pool;
using test::exclusive_pool;
using test::seed_with;
using test::shared_pool;
using test::vfio_with;

data::Json spec_of(const inject::DecisionTable& table) {
  const auto text = cdi_spec(table, table.pools().pools[0]);
  EXPECT_TRUE(text);
  return text ? data::Json::parse(*text) : data::Json();
}

std::vector<std::string> device_names(const data::Json& spec) {
  std::vector<std::string> names;
  for (const auto& device : spec["devices"]) names.push_back(device["name"]);
  return names;
}

TEST(CdiSpec, has_a_device_for_each_function_with_the_facts_of_its_nodes) {
  const auto table = seed_with({exclusive_pool("example.com/nic", {"mlx5_2"})});
  const auto& nic = table.node().nics[2];
  const auto spec = spec_of(table);
  EXPECT_EQ(spec["cdiVersion"], "0.3.0");
  EXPECT_EQ(spec["kind"], "railhead.io/resource");
  EXPECT_THAT(device_names(spec), ElementsAre("example.com:nic:" + nic.pci->str()));
  const auto& nodes = spec["devices"][0]["containerEdits"]["deviceNodes"];
  ASSERT_EQ(nodes.size(), 2U);
  const data::Json wanted{{"path", nic.uverbs[0].path},
                          {"type", "c"},
                          {"major", nic.uverbs[0].major},
                          {"minor", nic.uverbs[0].minor},
                          {"fileMode", 0666},
                          {"uid", 0},
                          {"gid", 0},
                          {"permissions", "rw"}};
  EXPECT_EQ(nodes[0], wanted);
  EXPECT_EQ(nodes[1]["path"], "/dev/infiniband/rdma_cm");
}

TEST(CdiSpec, says_nothing_but_device_nodes) {
  const auto spec = spec_of(seed_with({exclusive_pool("example.com/nic", {"*"})}));
  EXPECT_EQ(spec.size(), 3U);
  for (const auto& device : spec["devices"]) {
    EXPECT_EQ(device.size(), 2U);
    EXPECT_EQ(device["containerEdits"].size(), 1U);
  }
}

TEST(CdiSpec, is_one_device_where_slots_are_no_nics) {
  const auto spec = spec_of(seed_with({shared_pool("rdma/hca", {"mlx5_0", "mlx5_1"})}));
  EXPECT_THAT(device_names(spec), ElementsAre("rdma:hca"));
  EXPECT_EQ(spec["devices"][0]["containerEdits"]["deviceNodes"].size(), 3U);
}

TEST(CdiSpec, slots_of_a_nic_are_that_nics_device) {
  auto pool = shared_pool("rdma.io/rail", {"mlx5_0", "mlx5_1"});
  pool.slots_per_nic = 4;
  EXPECT_EQ(device_names(spec_of(seed_with({std::move(pool)}))).size(), 2U);
}

TEST(CdiSpec, vfio_nodes_are_left_to_the_runtime_to_look_up) {
  const auto spec = spec_of(vfio_with(driver_pool("intel.com/dpdk", "vfio-pci")));
  EXPECT_EQ(spec["cdiVersion"], "0.3.0");
  const data::Json wanted{{"path", "/dev/vfio/26"}, {"permissions", "rw"}};
  EXPECT_EQ(spec["devices"][0]["containerEdits"]["deviceNodes"][1], wanted);
}

TEST(CdiSpec, so_is_the_node_of_a_vdpa_device) {
  const auto spec =
      spec_of(vfio_with(test::vdpa_pool("nvidia.com/vhost", "vhost"), test::vdpa_node()));
  const auto wanted =
      data::Json::array({data::Json{{"path", "/dev/vhost-vdpa-7"}, {"permissions", "rw"}}});
  EXPECT_EQ(spec["devices"][0]["containerEdits"]["deviceNodes"], wanted);
}

TEST(CdiSpec, a_path_of_the_host_needs_the_version_that_has_it) {
  auto node = test::vfio_node();
  for (auto& device : node.pci) device.no_iommu = true;
  const auto spec = spec_of(vfio_with(driver_pool("intel.com/dpdk", "vfio-pci"), std::move(node)));
  EXPECT_EQ(spec["cdiVersion"], "0.5.0");
  EXPECT_EQ(spec["devices"][0]["containerEdits"]["deviceNodes"][1]["hostPath"],
            "/dev/vfio/noiommu-26");
}

TEST(CdiSpec, a_name_that_begins_with_a_digit_needs_version_0_5_0) {
  EXPECT_EQ(spec_of(seed_with({shared_pool("3com.com/nic", {"*"})}))["cdiVersion"], "0.5.0");
}

TEST(CdiSpec, is_absent_where_nothing_could_be_handed_out) {
  const auto empty = seed_with({exclusive_pool("example.com/nic", {"nothing"})});
  EXPECT_FALSE(cdi_spec(empty, empty.pools().pools[0]));
  auto pool = exclusive_pool("example.com/net", {"*"});
  pool.include[0].rdma = false;
  const auto without_nodes = seed_with({std::move(pool)});
  EXPECT_FALSE(cdi_spec(without_nodes, without_nodes.pools().pools[0]));
  const auto names = cdi_names(without_nodes, without_nodes.pools().pools[0], {0});
  ASSERT_TRUE(names);
  EXPECT_TRUE(names->empty());
}

TEST(CdiSpec, what_names_say_is_what_the_spec_says) {
  for (const auto& table : {seed_with({exclusive_pool("example.com/nic", {"*"})}),
                            seed_with({shared_pool("rdma.io/hca", {"*"})})}) {
    const pools::Pool& pool = table.pools().pools[0];
    std::vector<std::string> wanted;
    for (const auto& name : device_names(spec_of(table))) {
      wanted.push_back("railhead.io/resource=" + name);
    }
    const auto names = cdi_names(table, pool, {0, 1, 2, 3});
    ASSERT_TRUE(names);
    EXPECT_EQ(*names, wanted);
    std::vector<node::Problem> problems;
    const auto registry =
        inject::CdiRegistry::from_files({{"spec.json", *cdi_spec(table, pool)}}, problems);
    EXPECT_TRUE(problems.empty());
    for (const auto& name : *names) EXPECT_NE(registry.device_paths(name), nullptr) << name;
  }
}

TEST(CdiSpec, names_and_files_of_two_resources_never_meet) {
  const std::vector<std::string> resources{"a.b/c-d", "a-b/c.d", "a.b/c_d", "a.b/c.d", "a/b_c"};
  std::set<std::string> files;
  std::set<std::string> names;
  for (const auto& resource : resources) {
    files.insert(cdi_file_name(resource));
    const auto table = seed_with({shared_pool(resource, {"*"})});
    names.insert(cdi_names(table, table.pools().pools[0], {0})->front());
  }
  EXPECT_EQ(files.size(), resources.size());
  EXPECT_EQ(names.size(), resources.size());
  EXPECT_EQ(cdi_file_name("rdma.io/hca"), "railhead.io-resource-rdma.io_hca.json");
}

TEST(CdiSpec, a_device_whose_name_no_spec_may_have_is_refused_by_name) {
  auto node = test::seed_node();
  node.nics[0].pci.reset();
  node.nics[0].name = "rxe_";
  auto pool = shared_pool("rdma.io/soft", {"rxe_"});
  pool.kinds = {pools::FunctionKind::soft};
  pool.slots_per_nic = 1;
  const auto table = vfio_with(std::move(pool), std::move(node));
  EXPECT_FALSE(cdi_spec(table, table.pools().pools[0]));
  const auto names = cdi_names(table, table.pools().pools[0], {0});
  ASSERT_FALSE(names);
  EXPECT_THAT(names.error().message, HasSubstr("\"rdma.io:soft:rxe_\""));
}

}  // namespace
}  // namespace railhead::allocation
