// SPDX-License-Identifier: Apache-2.0
#include "node/rdma_models.h"

#include <gmock/gmock.h>

#include "unit/sysfs_tree.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> nics_in(const node::Node& node) {
  std::vector<std::string> names;
  for (const auto& nic : node.nics) names.push_back(nic.name);
  return names;
}

std::vector<std::string> candidates(const node::Node& node) {
  std::vector<std::string> lines;
  for (const auto* one : node::rdma_candidates(node)) lines.push_back(node::promise_text(*one));
  return lines;
}

TEST(RdmaModels, a_module_is_named_for_every_maker) {
  const auto module = [](std::uint16_t vendor, std::uint16_t device) {
    const auto* model = node::rdma_model_of(vendor, device);
    return model == nullptr ? std::string_view() : model->module;
  };
  EXPECT_EQ(module(0x15b3, 0x1021), "mlx5_ib");
  EXPECT_EQ(module(0x15b3, 0x1003), "mlx4_ib");
  EXPECT_EQ(module(0x14e4, 0x1750), "bnxt_re");
  EXPECT_EQ(module(0x14e4, 0x1760), "bnxt_re");
  EXPECT_EQ(module(0x8086, 0x1592), "irdma");
  EXPECT_EQ(module(0x8086, 0x37d0), "irdma");
  EXPECT_EQ(module(0x1d0f, 0xefa3), "efa");
  EXPECT_EQ(module(0x1ded, 0x107f), "erdma");
  EXPECT_EQ(module(0x1414, 0x00ba), "mana_ib");
  EXPECT_EQ(module(0x19e5, 0xa222), "hns_roce_hw_v2");
  EXPECT_EQ(module(0x17db, 0x0501), "cxi_user");
  EXPECT_EQ(module(0x1dd8, 0x1002), "ionic_rdma");
  EXPECT_EQ(module(0x1077, 0x1644), "qedr");
  EXPECT_EQ(module(0x1425, 0x6401), "iw_cxgb4");
}

TEST(RdmaModels, leave_out_what_has_no_rdma) {
  EXPECT_EQ(node::rdma_model_of(0x8086, 0x1563), nullptr);  // X550
  EXPECT_EQ(node::rdma_model_of(0x8086, 0x1572), nullptr);  // X710
  EXPECT_EQ(node::rdma_model_of(0x14e4, 0x165f), nullptr);  // BCM5720
  EXPECT_EQ(node::rdma_model_of(0x14e4, 0x16c9), nullptr);  // BCM57302
  EXPECT_EQ(node::rdma_model_of(0x1d0f, 0xec20), nullptr);  // ENA
  EXPECT_EQ(node::rdma_model_of(0x19e5, 0xa221), nullptr);  // HNS without RDMA
  EXPECT_EQ(node::rdma_model_of(0x1425, 0x6001), nullptr);  // another function of a Chelsio
}

TEST(RdmaModels, a_made_for_it_function_is_a_nic_without_its_device) {
  SysfsTree tree;
  tree.pci("0000:18:00.0", "", "1DED:107F").pci("0000:19:00.0", "erdma", "1DED:107F");
  tree.pci("0000:1a:00.0", "efa", "1D0F:EFA1").pci("0000:1b:00.0", "vfio-pci", "1DED:107F");
  const auto node = tree.read();
  EXPECT_THAT(nics_in(node), ElementsAre("0000:18:00.0", "0000:19:00.0", "0000:1a:00.0"));
  EXPECT_THAT(candidates(node), IsEmpty());
}

TEST(RdmaModels, an_ethernet_nic_is_a_candidate_and_no_nic) {
  SysfsTree tree;
  tree.pci("0000:18:00.0", "bnxt_en", "14E4:1750").pci("0000:19:00.0", "", "8086:1592");
  tree.pci("0000:1a:00.0", "mana", "1414:00BA").pci("0000:1b:00.0", "cxi_ss1", "17DB:0501");
  tree.pci("0000:1c:00.0", "ixgbe", "8086:1563").pci("0000:1d:00.0", "vfio-pci", "14E4:1750");
  tree.pci("0000:1e:00.0", "bnxt_en", "14E4:1750").vf_of("0000:18:00.0");
  const auto node = tree.read();
  EXPECT_THAT(nics_in(node), IsEmpty());
  EXPECT_THAT(
      candidates(node),
      ElementsAre("0000:18:00.0 can do RDMA (bnxt_en; its module is bnxt_re)",
                  "0000:19:00.0 can do RDMA (no driver; its module is irdma)",
                  "0000:1a:00.0 may do RDMA (mana; its module is mana_ib)",
                  "0000:1b:00.0 does RDMA without verbs (cxi_ss1; its module is cxi_user)"));
}

TEST(RdmaModels, one_without_the_device_of_its_likes_is_a_nic_that_lacks_it) {
  SysfsTree tree;
  tree.pci("0000:18:00.0", "bnxt_en", "14E4:1760").rdma("bnxt_re0");
  tree.pci("0000:19:00.0", "bnxt_en", "14E4:1760").pci("0000:1a:00.0", "bnxt_en", "14E4:16D8");
  const auto node = tree.read();
  EXPECT_THAT(nics_in(node), ElementsAre("bnxt_re0", "0000:19:00.0"));
  EXPECT_THAT(candidates(node),
              ElementsAre("0000:1a:00.0 can do RDMA (bnxt_en; its module is bnxt_re)"));
}

}  // namespace
}  // namespace railhead::test
