// SPDX-License-Identifier: Apache-2.0
//
// What drivers of RDMA devices keep out of the kernel's lists: one table, a row a driver. Facts
// with their source:
//   * mlx5: objects that a process makes through DEVX are the firmware's, and the core of the
//     kernel does not know them (Linux drivers/infiniband/hw/mlx5/devx.c). UCX makes its RC and DC
//     queue pairs so (src/uct/ib/mlx5, UCX_IB_MLX5_DEVX_OBJECTS), NVSHMEM's IBGDA, too. Targets of
//     DC are out of the list by rdma_restrack_no_track (hw/mlx5/qp.c);
//   * efa: a queue pair of SRD is ready as soon as it is made and sends to address handles, which
//     are in no list (hw/efa/efa_verbs.c);
//   * bnxt_re: direct verbs make queue pairs over memory of the process
//     (BNXT_RE_METHOD_DV_CREATE_QP of Broadcom's driver, linux-rdma November 2025);
//   * hfi1, qib: PSM2 and OPX use /dev/hfi1_N and /dev/ipathN, not verbs (hw/hfi1/file_ops.c);
//   * usnic: its datagram queue pairs name no peer (hw/usnic/usnic_ib_verbs.c).
// Of the others all queue pairs of processes are in the list: they come from ib_uverbs_create_qp
// alone.
#pragma once

#include <array>
#include <string_view>

#include "node/node.h"

namespace railhead::proof {

struct DriverRow {
  std::string_view driver;   ///< of the PCI function
  std::string_view module;   ///< of RDMA: the kernel's name for the driver's own objects
  std::string_view hides{};  ///< "": nothing
};

inline constexpr std::string_view kDevxHides = "objects that are made through DEVX are in no list";

inline constexpr std::array kDriverRows = {
    DriverRow{"mlx5_core", "mlx5_ib", kDevxHides},
    DriverRow{"efa", "efa", "the peers of its SRD queue pairs are in no list"},
    DriverRow{"bnxt_en", "bnxt_re", "queue pairs of its direct verbs are in no list"},
    DriverRow{"hfi1", "hfi1", "what uses it through PSM2 or OPX is in no list"},
    DriverRow{"ib_qib", "ib_qib", "what uses it through PSM is in no list"},
    DriverRow{"enic", "usnic_verbs", "its datagram queue pairs name no peer"},
    DriverRow{"mlx4_core", "mlx4_ib"},
    DriverRow{"ib_mthca", "ib_mthca"},
    DriverRow{"ice", "irdma"},
    DriverRow{"i40e", "irdma"},
    DriverRow{"idpf", "irdma"},
    DriverRow{"cxgb4", "iw_cxgb4"},
    DriverRow{"hns3", "hns_roce_hw_v2"},
    DriverRow{"qede", "qedr"},
    DriverRow{"be2net", "ocrdma"},
    DriverRow{"erdma", "erdma"},
    DriverRow{"ionic", "ionic_rdma"},
    DriverRow{"mana", "mana_ib"},
    DriverRow{"vmw_pvrdma", "vmw_pvrdma"},
};

/// What the driver of a device may keep out of the lists; "" where it keeps nothing. A driver that
/// is not in the table may keep anything; devices without hardware keep nothing.
std::string_view hidden_by_driver(const node::Node& node, std::string_view device);

/// Whether the kernel's objects of this name are the core's or a driver's own, which every idle
/// device has.
bool is_of_every_device(std::string_view kernel_name);

}  // namespace railhead::proof
