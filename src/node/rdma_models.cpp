// SPDX-License-Identifier: Apache-2.0
//
// Which PCI functions do RDMA, and by which kernel module: one table. Ids: the drivers' PCI tables
// in Linux 6.12 (below, "net" is drivers/net/ethernet, "rdma" is drivers/infiniband/hw), where it
// is said of a later one, and pci.ids 2026.08.22. Rates are the fastest port of the family's usual
// cards (ConnectX-6 Dx: the dual-port cards that servers carry); only differences within one
// machine matter, and the PCIe interface bounds them. Virtual functions have no rate: one id stands
// for every family.
#include "node/rdma_models.h"

#include <array>
#include <set>

#include "base/find.h"
#include "node/pci_reader.h"

namespace railhead::node {
namespace {

using enum RdmaPromise;

constexpr RdmaModel kModels[] = {
    // net/mellanox/mlx4/main.c: Hermon to ConnectX-3 Pro
    {0x15b3, 0x1003, 0x1003, "mlx4_core", "mlx4_ib", made_for_it, 40},  // ConnectX-3
    {0x15b3, 0x1007, 0x1007, "mlx4_core", "mlx4_ib", made_for_it, 40},  // ConnectX-3 Pro
    {0x15b3, 0x1002, 0x1010, "mlx4_core", "mlx4_ib", made_for_it},
    {0x15b3, 0x6340, 0x6778, "mlx4_core", "mlx4_ib", made_for_it},
    // rdma/mthca/mthca_main.c: InfiniHost
    {0x15b3, 0x5a44, 0x5a46, "ib_mthca", "ib_mthca", made_for_it},
    {0x15b3, 0x5e8c, 0x6282, "ib_mthca", "ib_mthca", made_for_it},
    // net/mellanox/mlx5/core/main.c
    {0x15b3, 0x1011, 0x1011, "mlx5_core", "mlx5_ib", made_for_it, 56},    // Connect-IB
    {0x15b3, 0x1013, 0x1013, "mlx5_core", "mlx5_ib", made_for_it, 100},   // ConnectX-4
    {0x15b3, 0x1015, 0x1015, "mlx5_core", "mlx5_ib", made_for_it, 25},    // ConnectX-4 Lx
    {0x15b3, 0x1017, 0x1017, "mlx5_core", "mlx5_ib", made_for_it, 100},   // ConnectX-5
    {0x15b3, 0x1019, 0x1019, "mlx5_core", "mlx5_ib", made_for_it, 100},   // ConnectX-5 Ex
    {0x15b3, 0x101b, 0x101b, "mlx5_core", "mlx5_ib", made_for_it, 200},   // ConnectX-6
    {0x15b3, 0x101d, 0x101d, "mlx5_core", "mlx5_ib", made_for_it, 100},   // ConnectX-6 Dx
    {0x15b3, 0x101f, 0x101f, "mlx5_core", "mlx5_ib", made_for_it, 25},    // ConnectX-6 Lx
    {0x15b3, 0x1021, 0x1021, "mlx5_core", "mlx5_ib", made_for_it, 400},   // ConnectX-7
    {0x15b3, 0x1023, 0x1023, "mlx5_core", "mlx5_ib", made_for_it, 800},   // ConnectX-8
    {0x15b3, 0x1025, 0x1025, "mlx5_core", "mlx5_ib", made_for_it, 1600},  // ConnectX-9
    {0x15b3, 0xa2d2, 0xa2d2, "mlx5_core", "mlx5_ib", made_for_it, 100},   // BlueField, ConnectX-5
    {0x15b3, 0xa2d6, 0xa2d6, "mlx5_core", "mlx5_ib", made_for_it, 200},   // BlueField-2, 6 Dx
    {0x15b3, 0xa2d9, 0xa2d9, "mlx5_core", "mlx5_ib", made_for_it, 200},   // BlueField-3 Lx, 7
    {0x15b3, 0xa2dc, 0xa2dc, "mlx5_core", "mlx5_ib", made_for_it, 400},   // BlueField-3, 7
    {0x15b3, 0xa2df, 0xa2df, "mlx5_core", "mlx5_ib", made_for_it, 800},   // BlueField-4, 8
    {0x15b3, 0x0000, 0xffff, "mlx5_core", "mlx5_ib", made_for_it},
    // rdma/efa/efa_main.c; further numbers of the same block are further generations
    {0x1d0f, 0xefa0, 0xefa0, "efa", "efa", made_for_it, 100},  // AWS p3dn and p4d
    {0x1d0f, 0xefa1, 0xefa1, "efa", "efa", made_for_it, 100},  // p5: 3200 Gb/s with 32 of them
    {0x1d0f, 0xefa2, 0xefa2, "efa", "efa", made_for_it, 200},  // p5en: 3200 with 16
    {0x1d0f, 0xefa3, 0xefa3, "efa", "efa", made_for_it, 400},  // p6-b200: 3200 with 8
    {0x1d0f, 0xefa4, 0xefaf, "efa", "efa", made_for_it},
    // rdma/erdma/erdma_main.c: elastic RDMA of Alibaba Cloud
    {0x1ded, 0x107f, 0x107f, "erdma", "erdma", made_for_it},
    // rdma/hfi1/init.c: Omni-Path
    {0x8086, 0x24f0, 0x24f1, "hfi1", "hfi1", made_for_it, 100},
    // rdma/vmw_pvrdma/pvrdma_main.c
    {0x15ad, 0x0820, 0x0820, "vmw_pvrdma", "vmw_pvrdma", made_for_it},
    // net/broadcom/bnxt/bnxt.c, without the NetXtreme-C (BCM573xx), which have no RoCE. Whether
    // there is RDMA, the firmware says (BNXT_FLAG_ROCE_CAP); NPAR functions share a port.
    {0x14e4, 0x16d7, 0x16d7, "bnxt_en", "bnxt_re", can, 25},   // BCM57414
    {0x14e4, 0x1750, 0x1750, "bnxt_en", "bnxt_re", can, 200},  // BCM57508, Thor
    {0x14e4, 0x1751, 0x1751, "bnxt_en", "bnxt_re", can, 100},  // BCM57504
    {0x14e4, 0x1752, 0x1752, "bnxt_en", "bnxt_re", can, 50},   // BCM57502
    {0x14e4, 0x1760, 0x1760, "bnxt_en", "bnxt_re", can, 400},  // BCM57608, Thor 2
    {0x14e4, 0x1761, 0x1763, "bnxt_en", "bnxt_re", can},       // BCM57604, 57602, 57601
    {0x14e4, 0x1614, 0x1614, "bnxt_en", "bnxt_re", can},       // BCM57454
    {0x14e4, 0x16f1, 0x16f1, "bnxt_en", "bnxt_re", can},       // BCM57452
    {0x14e4, 0x16d6, 0x16d6, "bnxt_en", "bnxt_re", can},       // BCM57412
    {0x14e4, 0x16d8, 0x16d9, "bnxt_en", "bnxt_re", can},       // BCM57416, 57417
    {0x14e4, 0x16e2, 0x16e3, "bnxt_en", "bnxt_re", can},       // the same with SFP
    {0x14e4, 0x1604, 0x1609, "bnxt_en", "bnxt_re", may},       // NPAR and virtual ones of BCM5745x
    {0x14e4, 0x16c0, 0x16c1, "bnxt_en", "bnxt_re", may},       // BCM57417 NPAR, a virtual one
    {0x14e4, 0x16cc, 0x16cc, "bnxt_en", "bnxt_re", may},       // BCM57417 NPAR
    {0x14e4, 0x16dc, 0x16dc, "bnxt_en", "bnxt_re", may},       // a virtual one
    {0x14e4, 0x16de, 0x16de, "bnxt_en", "bnxt_re", may},       // BCM57412 NPAR
    {0x14e4, 0x16eb, 0x16ef, "bnxt_en", "bnxt_re", may},       // NPAR of BCM57412 to 57416
    {0x14e4, 0x1800, 0x1809, "bnxt_en", "bnxt_re", may},       // NPAR, virtual ones of BCM575xx
    {0x14e4, 0x1819, 0x181b, "bnxt_en", "bnxt_re", may},       // virtual ones of BCM576xx
    // net/intel/ice/ice_devids.h. RDMA is a capability of the function (ICE_FLAG_RDMA_ENA).
    {0x8086, 0x1592, 0x1592, "ice", "irdma", can, 100},  // E810-C, QSFP
    {0x8086, 0x1593, 0x1593, "ice", "irdma", can, 100},  // E810-C, SFP
    {0x8086, 0x159b, 0x159b, "ice", "irdma", can, 25},   // E810-XXV
    {0x8086, 0x1591, 0x1591, "ice", "irdma", can},       // E810-C, backplane
    {0x8086, 0x1599, 0x159a, "ice", "irdma", can},       // E810-XXV, backplane and QSFP
    {0x8086, 0x12d2, 0x12d2, "ice", "irdma", may, 200},  // E830-CC, QSFP
    {0x8086, 0x12d1, 0x12de, "ice", "irdma", may},       // E830
    {0x8086, 0x124c, 0x124f, "ice", "irdma", may},       // E823-L
    {0x8086, 0x151d, 0x151d, "ice", "irdma", may},       // E823-L, QSFP
    {0x8086, 0x188a, 0x188e, "ice", "irdma", may},       // E823-C
    {0x8086, 0x1890, 0x189a, "ice", "irdma", may},       // E822
    {0x8086, 0x579c, 0x579f, "ice", "irdma", may},       // E825-C
    // net/intel/i40e/i40e_devids.h: of this family the X722 alone has RDMA, iWARP
    {0x8086, 0x37ce, 0x37d3, "i40e", "irdma", may},
    {0x8086, 0x0dda, 0x0dda, "i40e", "irdma", may},
    // net/intel/idpf/idpf_devids.h; its RDMA came with Linux 6.18
    {0x8086, 0x1452, 0x1452, "idpf", "irdma", may},
    {0x8086, 0x145c, 0x145c, "idpf", "irdma", may},
    // include/net/mana/gdma.h
    {0x1414, 0x00b9, 0x00ba, "mana", "mana_ib", may},
    // rdma/hns/hns_roce_hw_v2.c, net/hisilicon/hns3/hnae3.h
    {0x19e5, 0xa222, 0xa226, "hns3", "hns_roce_hw_v2", can},
    {0x19e5, 0xa228, 0xa228, "hns3", "hns_roce_hw_v2", can, 200},
    {0x19e5, 0xa22f, 0xa22f, "hns3", "hns_roce_hw_v2", may},
    // net/pensando/ionic/ionic_bus_pci.c; its RDMA came with Linux 6.18 (rdma/ionic)
    {0x1dd8, 0x1002, 0x1003, "ionic", "ionic_rdma", may},
    // net/qlogic/qede/qede_main.c
    {0x1077, 0x1634, 0x1634, "qede", "qedr", can, 40},
    {0x1077, 0x1644, 0x1644, "qede", "qedr", can, 100},
    {0x1077, 0x1654, 0x1654, "qede", "qedr", can, 50},
    {0x1077, 0x1656, 0x1656, "qede", "qedr", can, 25},
    {0x1077, 0x1666, 0x1666, "qede", "qedr", can, 10},
    {0x1077, 0x1636, 0x1636, "qede", "qedr", may},  // several functions on a port
    {0x1077, 0x1664, 0x1664, "qede", "qedr", may},  // a virtual one
    {0x1077, 0x8070, 0x8070, "qede", "qedr", can},
    {0x1077, 0x8090, 0x8090, "qede", "qedr", may},
    // net/chelsio/cxgb4/t4_pci_id_tbl.h: function 4 of T4, T5 and T6 has the network and iWARP
    {0x1425, 0x4400, 0x44ff, "cxgb4", "iw_cxgb4", can},
    {0x1425, 0x5400, 0x54ff, "cxgb4", "iw_cxgb4", can},
    {0x1425, 0x6400, 0x64ff, "cxgb4", "iw_cxgb4", can},
    // net/emulex/benet/be.h: OneConnect Skyhawk
    {0x10df, 0x0720, 0x0720, "be2net", "ocrdma", may},
    // HewlettPackard/shs-cxi-driver, drivers/net/ethernet/hpe/ss1/cass_core.h: Slingshot. Libfabric
    // goes by /dev/cxiN of cxi_user.
    {0x17db, 0x0501, 0x0501, "cxi_ss1", "cxi_user", without_verbs, 200},  // Cassini 1
    {0x1590, 0x0371, 0x0372, "cxi_ss1", "cxi_user", without_verbs, 400},  // Cassini 2
};

}  // namespace

std::span<const RdmaModel> rdma_models() {
  return kModels;
}

const RdmaModel* rdma_model_of(std::uint16_t vendor, std::uint16_t device) {
  return find_where(kModels, [&](const RdmaModel& model) {
    return model.vendor == vendor && model.first <= device && device <= model.last;
  });
}

const RdmaModel* rdma_model_of(const PciDevice& function) {
  return rdma_model_of(function.vendor, function.device);
}

std::string_view rdma_module_of(std::string_view driver) {
  const auto* model = find_by(kModels, &RdmaModel::driver, driver);
  return model == nullptr ? std::string_view() : model->module;
}

std::vector<const PciDevice*> rdma_candidates(const Node& node) {
  std::set<PciAddress> taken;
  for (const auto& nic : node.nics) {
    if (nic.pci) taken.insert(*nic.pci);
  }
  std::vector<const PciDevice*> found;
  for (const auto& function : node.pci) {
    const auto* model = rdma_model_of(function);
    const bool is_free = model != nullptr && model->promise != made_for_it && !function.is_vf() &&
                         is_network_class(function.class_code) && !taken.contains(function.address);
    if (is_free && function.driver.value_or(std::string(model->driver)) == model->driver) {
      found.push_back(&function);
    }
  }
  return found;
}

std::string_view to_string(RdmaPromise promise) {
  constexpr std::array<std::string_view, 4> kNames = {"made-for-it", "can", "may", "without-verbs"};
  return kNames[static_cast<std::size_t>(promise)];
}

std::string promise_text(const PciDevice& function) {
  const auto& model = *rdma_model_of(function);
  std::string text = function.address.str();
  switch (model.promise) {
    case made_for_it: text += " is for RDMA"; break;
    case can: text += " can do RDMA"; break;
    case may: text += " may do RDMA"; break;
    case without_verbs: text += " does RDMA without verbs"; break;
  }
  return text + " (" + function.driver.value_or("no driver") + "; its module is " +
         std::string(model.module) + ")";
}

}  // namespace railhead::node
