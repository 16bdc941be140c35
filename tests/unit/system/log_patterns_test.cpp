// SPDX-License-Identifier: Apache-2.0
#include "system/log_patterns.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "node/rdma_models.h"
#include "system/gather.h"
#include "system/kept_files.h"

namespace railhead::test {
namespace {

using enum system::LogCause;

struct Line {
  system::LogCause cause;
  const char* text;
};

// As kernels and drivers write them: published in the sources that log_patterns.cpp names, or made
// of the driver's own format there.
constexpr Line kLines[] = {
    {firmware_died,
     "mlx5_core 0000:18:00.0: poll_health:840:(pid 0): device's health compromised - reached miss "
     "count"},
    {firmware_died,
     "mlx5_core 0000:18:00.0: print_health_info:424:(pid 0): Health issue observed, firmware "
     "internal error, severity(3) ERROR:"},
    {firmware_died, "mlx5_core 0000:18:00.0: poll_health:785:(pid 0): Fatal error 1 detected"},
    {firmware_died,
     "mlx5_core 0000:18:00.0: mlx5_fw_fatal_reporter_err_work:641:(pid 9): Driver is in error "
     "state. Unloading"},
    {no_fatal_reporter,
     "mlx5_core 0000:18:00.0: mlx5_fw_reporters_create:711:(pid 9): Failed to create fw fatal "
     "reporter, err = -12"},
    {none,
     "mlx5_core 0000:18:00.0: print_health_info:424:(pid 0): Health issue observed, High "
     "temperature, severity(6) INFO:"},
    {firmware_silent,
     "mlx5_core 0000:00:06.0: wait_func:1151:(pid 1193): ENABLE_HCA(0x104) timeout. Will cause a "
     "leak of a command resource"},
    {firmware_silent,
     "mlx5_core 0000:18:00.0: wait_func_handle_exec_timeout:1156:(pid 9): cmd[0]: "
     "CREATE_MKEY(0x200) No done completion"},
    {command_queue_full,
     "mlx5_core 0000:18:00.0: cmd_work_handler:1010:(pid 9): failed to allocate command entry"},
    {none,
     "mlx5_core 0000:18:00.0: wait_func_handle_exec_timeout:1151:(pid 9): cmd[0]: QUERY_HCA(0x100) "
     "recovered after timeout"},
    {bad_module,
     "mlx5_core 0000:18:00.0: Port module event[error]: module 0, Cable error, High Temperature"},
    {none, "mlx5_core 0000:18:00.0: Port module event: module 0, Cable plugged"},
    {hot_device,
     "mlx5_core 0000:18:00.0: temp_warn:174:(pid 0): High temperature on sensors with bit set 0 1"},
    {little_power,
     "mlx5_core 0000:18:00.0: mlx5_pcie_event:301: Detected insufficient power on the PCIe slot "
     "(27W)."},
    {restricted_register,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:839: ACCESS_REG(0x805) op_mod(0x1) failed, status "
     "bad parameter(0x3)"},
    // Commands, by command and status.
    {no_memory_keys,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 41231): CREATE_MKEY(0x200) op_mod(0x0) "
     "failed, status no resources(0xf), syndrome (0x2aac7c), err(-11)"},
    {no_memory_keys,
     "mlx5_core 0000:18:00.0: mlx5_cmd_check:795:(pid 41231): CREATE_MKEY(0x200) op_mod(0x0) "
     "failed, status limits exceeded(0x8), syndrome (0x59c8a4)"},
    {device_full,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): CREATE_QP(0x500) op_mod(0x0) failed, "
     "status limits exceeded(0x8), syndrome (0x1), err(-12)"},
    {device_full,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): ALLOC_UAR(0x802) op_mod(0x0) failed, "
     "status no resources(0xf), syndrome (0x1), err(-11)"},
    {refused_command,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): CREATE_QP(0x500) op_mod(0x0) failed, "
     "status bad parameter(0x3), syndrome (0x1), err(-22)"},
    {firmware_fault,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): CREATE_CQ(0x400) op_mod(0x0) failed, "
     "status internal error(0x1), syndrome (0x1), err(-5)"},
    {refused_connection,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): INIT2RTR_QP(0x503) op_mod(0x0) failed, "
     "status bad parameter(0x3), syndrome (0x1), err(-22)"},
    {refused_connection,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): RTR2RTS_QP(0x504) op_mod(0x0) failed, "
     "status bad resource state(0x9), syndrome (0x1), err(-22)"},
    // Asked, taken away, or of Ethernet's steering: no program for RDMA fails by it.
    {none,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): QUERY_VPORT_COUNTER(0x770) op_mod(0x0) "
     "failed, status bad operation(0x2), syndrome (0x1), err(-22)"},
    {none,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): DESTROY_QP(0x501) op_mod(0x0) failed, "
     "status bad resource state(0x9), syndrome (0x1), err(-22)"},
    {none,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): 2RST_QP(0x50a) op_mod(0x0) failed, "
     "status bad resource(0x5), syndrome (0x1), err(-22)"},
    {none,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 9): CREATE_FLOW_GROUP(0x933) op_mod(0x0) "
     "failed, status bad parameter(0x3), syndrome (0x1), err(-22)"},
    {no_memory_keys,
     "infiniband mlx5_1: create_mkey_callback:131:(pid 41260): async reg mr failed. status -12"},
    {refused_command,
     "infiniband mlx5_1: create_mkey_callback:131:(pid 41260): async reg mr failed. status -110"},
    // Peermem modules.
    {peermem_symbols,
     "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client"},
    {peermem_symbols, "nvidia_peermem: Unknown symbol ib_unregister_peer_memory_client (err -22)"},
    {peermem_driver, "nv_peer_mem: Unknown symbol nvidia_p2p_get_pages (err -2)"},
    {peermem_driver, "nvidia_peermem: disagrees about version of symbol nvidia_p2p_put_pages"},
    {peermem_mitigation,
     "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further "
     "processing"},
    {refused_dmabuf,
     "NVRM: dma-buf attach failed: topology not supported for mapping type FORCE_PCIE"},
    // The IOMMU.
    {stopped_transfer, "AMD-Vi: Event logged [IO_PAGE_FAULT device=18:00.0 address=0x0]"},
    {stopped_transfer,
     "mlx5_core 0000:18:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 address=0xf0000 "
     "flags=0x0000]"},
    {stopped_transfer,
     "DMAR: [DMA Read NO_PASID] Request device [ca:08.2] fault addr 0x104ead000 [fault reason "
     "0x06] PTE Read access is not set"},
    {stopped_transfer,
     "arm-smmu-v3 arm-smmu-v3.9.auto: event: F_TRANSLATION client: 0000:01:00.0 sid: 0x100 ssid: "
     "0x0 iova: 0xf0000 ipa: 0x0"},
    {stopped_unnamed, "arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:"},
    {stopped_unnamed,
     "arm-smmu-v3 arm-smmu-v3.9.auto: event: F_TRANSLATION client: (unassigned sid) sid: 0x100"},
    // PCIe.
    {uncorrected_error,
     "mlx5_core 0000:40:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), "
     "type=Transaction Layer, (Requester ID)"},
    {uncorrected_error,
     "pcieport 0000:3d:01.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Physical Layer"},
    {uncorrected_error,
     "pcieport 0000:3d:01.0: AER: Uncorrected (Fatal) error received: 0000:40:00.0"},
    {uncorrected_error,
     "pcieport 0000:3d:01.0: AER: Multiple Uncorrectable (Non-Fatal) error message received from "
     "0000:40:00.0"},
    {none, "pcieport 0000:3d:01.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer"},
    {none, "pcieport 0000:3d:01.0: AER: Corrected error received: 0000:40:00.0"},
    {not_recovered, "pcieport 0000:3d:01.0: AER: device recovery failed"},
    // Drivers.
    {failed_function,
     "mlx5_core 0000:00:06.0: probe_one:1770:(pid 1193): mlx5_init_one failed with error code "
     "-110"},
    {failed_function, "mlx5_core: probe of 0000:00:06.0 failed with error -110"},
    {failed_function, "irdma.gen_2: probe of ice.roce.0 failed with error -95"},
    {failed_function, "ionic 0000:b1:00.0: probe with driver ionic failed with error -5"},
    {none, "nvme: probe of 0000:00:06.0 failed with error -110"},
    {failed_function,
     "mlx5_core 468b:00:02.0: mlx5_function_setup:1130:(pid 17): Firmware over 120000 MS in "
     "pre-initializing state, aborting"},
    {mixed_modules, "mlx5_ib: disagrees about version of symbol ib_register_device"},
    {mixed_modules, "bnxt_re: Unknown symbol ib_umem_find_best_pgsz (err -2)"},
    {mixed_modules, "rdma_ucm: Unknown symbol rdma_create_user_id (err -2)"},
    // Not of a NIC: file systems and targets over RDMA.
    {none, "ksmbd: Unknown symbol rdma_create_id (err -2)"},
    {none, "drbd_transport_rdma: Unknown symbol ib_alloc_cq (err -2)"},
    {none, "ib_srpt: disagrees about version of symbol ib_register_client"},
    {none, "ko2iblnd: disagrees about version of symbol rdma_connect"},
    {none, "beegfs: Unknown symbol rdma_destroy_id (err -2)"},
    {none, "ib_isert: Unknown symbol rdma_accept (err -2)"},
    {none, "nvme_rdma: Unknown symbol rdma_resolve_addr (err -2)"},
    {none, "smc: Unknown symbol ib_register_client (err -2)"},
    {stuck_queue,
     "mlx5_core 0000:18:00.0 ens1: NETDEV WATCHDOG: CPU: 12: transmit queue 3 timed out 5432 ms"},
    {stuck_queue, "NETDEV WATCHDOG: ens1 (mlx5_core): transmit queue 3 timed out"},
    {failed_port, "infiniband mlx5_0: Couldn't open port 1"},
    {failed_soft_device, "rdma_rxe: rxe_newlink: failed to add eth0"},
    // Memory, by errno.
    {not_pinned, "ib_umem_get: failed to get user pages, nr_pages=512, flags=1"},
    {no_memory_to_pin, "mlx5_0:mr_umem_get:712:(pid 1234): umem get failed (-12)"},
    {no_such_memory, "infiniband mlx5_0: mr_umem_get:712:(pid 1234): umem get failed (-14)"},
    {not_pinned, "infiniband mlx5_0: mr_umem_get:712:(pid 1234): umem get failed (-22)"},
    {no_such_memory,
     "bnxt_en 0000:18:00.0 bnxt_re0: bnxt_re_resize_cq: ib_umem_get failed! rc = -14"},
    // The other makers.
    {firmware_died, "bnxt_en 0000:18:00.0 ens1np0: Firmware not responding, status: 0x8000"},
    {firmware_silent,
     "bnxt_en 0000:18:00.0: __wait_for_resp: FW STALL Detected. cmdq[0x8]=0x3 waited (101 > 100) "
     "msec active 1 "},
    {hot_device,
     "bnxt_en 0000:18:00.0 ens1np0: Chip temperature has gone above the critical thermal "
     "threshold!"},
    {none,
     "bnxt_en 0000:18:00.0 ens1np0: Chip temperature has gone below the critical thermal "
     "threshold!"},
    {failed_function, "bnxt_en 0000:18:00.0 bnxt_re0: Failed to initialize RCFW: 0xfffffffb"},
    {none, "bnxt_en 0000:18:00.0 bnxt_re0: Failed to deinitialize RCFW: 0xfffffffb"},
    {large_region,
     "bnxt_en 0000:18:00.0 bnxt_re0: MR Size: 549755813889 > Max supported:549755813888"},
    {firmware_died, "ice 0000:18:00.0 rocep24s0f0: critical PE Error, GLPE_CRITERR=0x00010001"},
    {safe_mode,
     "ice 0000:18:00.0: The DDP package file was not found or could not be read. Entering Safe "
     "Mode"},
    {refused_module,
     "ice 0000:18:00.0 ens1: Rx/Tx is disabled on this device because an unsupported module type "
     "was detected."},
    {failed_function,
     "ice 0000:18:00.0: IRDMA hardware initialization FAILED init_state=4 status=-110"},
    {firmware_silent,
     "efa 0000:00:1d.0 rdmap0s29: The device didn't send any completion for admin cmd REG_MR(7) "
     "status 0 (ctx 0x1, sq producer: 1, sq consumer: 0, cq consumer: 0)"},
    {refused_command, "efa 0000:00:1d.0 rdmap0s29: Failed to register mr [-12]"},
    {refused_connection, "efa 0000:00:1d.0 rdmap0s29: Failed to create ah for fe80::1 [-22]"},
    {failed_function, "efa 0000:00:1d.0: EFA device init failed"},
    {large_region, "infiniband erdma_0: ERROR: Out of mr size: 0, max 68719476736"},
    {large_region, "erdma 0000:00:07.0 erdma_0: ERROR: Out of mr size: 0, max 68719476736"},
    {device_full, "erdma 0000:00:07.0: ERROR: Out of MRs: 131072, max 131072"},
    {failed_function, "erdma 0000:00:07.0: wait init done failed."},
    {firmware_silent, "hns3 0000:bd:00.0: [cmd] token 0x1 mailbox 0x13 timeout."},
    {failed_function, "hns3 0000:bd:00.0: RoCE instance init failed! ret = -110"},
    {firmware_died, "hns3 0000:bd:00.0: In reset process RoCE reinit failed -110."},
    {firmware_silent, "mana 7870:00:00.0: HWC: Request timed out!"},
    {failed_function, "mana 7870:00:00.0 mana_0: Failed to register device, ret -12"},
    {firmware_died, "mlx4_core 0000:03:00.0: Internal error detected:"},
    {firmware_silent, "mlx4_core 0000:03:00.0: command 0x4 timed out (go bit not cleared)"},
    // A function that is asked what it has not, at each start in a virtual machine.
    {none, "mlx4_core 0000:03:00.0: command 0xc failed: fw status = 0x40"},
    {firmware_died, "cxi_ss1 0000:21:00.0: cxi0[hsn0]: Disabling device. Reason: PCIe error"},
    {failed_function, "cxi_ss1 0000:21:00.0: cxi0: init_hw failed: -110"},
    {firmware_silent, "ionic 0000:b1:00.0 ionic_0: admin command timed out, aq 0 after: 2012ms"},
    {failed_function, "ionic_rdma.rdma ionic.rdma.0: error -EIO: Failed to register ibdev"},
    // GPUs.
    {gpu_fault,
     "NVRM: Xid (PCI:0003:00:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error "
     "detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"},
    {gpu_fault,
     "NVRM: Xid (PCI:0000:c6:00): 79, pid=1101234, name=nvc:[driver], GPU has fallen off the bus."},
    {none, "NVRM: Xid (PCI:0000:c6:00): 31, pid=74, name=python, Ch 00000008, MMU Fault"},
    {gpu_fault, "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 30 LTSSM Fault"},
    {none, "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 12028, Non-fatal, Link 30 egress"},
    {gpu_fault, "NVRM: GPU at PCI:0000:1b:00: GPU-6f2b has fallen off the bus."},
    {gpu_fault, "NVRM: Xid (PCI:0000:1b:00): 48, pid=1, An uncorrectable double bit error"},
    {gpu_fault, "NVRM: Xid (PCI:0000:1b:00): 95, pid=1, Uncontained: LTC TAG (0x2,0x0)"},
    {gpu_fault, "NVRM: Xid (PCI:0000:1b:00): 119, pid=1, Timeout after 6s of waiting for RPC"},
    {none, "NVRM: Xid (PCI:0000:1b:00): 94, pid=1, Contained: SM (0x1). RST: No, D-RST: No"},
    {none, "NVRM: Xid (PCI:0000:1b:00): 63, pid=1, Row Remapper: New row marked for remapping"},
    {none, "NVRM: Xid (PCI:0000:1b:00): 43, pid=1, name=python, Ch 00000008"},
    {gpu_fault, "amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!"},
    {none, "amdgpu 0000:c1:00.0: amdgpu: GPU reset(2) succeeded!"},
    // A device's name alone: dev_err(&ibdev->dev), as bnxt_re of Linux until 6.1 has it.
    {firmware_silent,
     "infiniband bnxt_re0: FW STALL Detected. cmdq[0xe]=0x3 waited (20102 > 20000) msec active 1"},
    {refused_command, "infiniband bnxt_re0: Failed to create HW QP"},
    {refused_connection, "infiniband rocep24s0f0: Failed to modify HW QP"},
    {no_memory_to_pin, "infiniband bnxt_re0: ib_umem_get failed! rc = -12"},
    {refused_command, "infiniband mlx5_0: create_qp:3206:(pid 1): Create QP type 2 failed"},
    {none, "infiniband mlx5_0: Failed to create HW QP"},
    {none, "infiniband rocep24s0f0: mlx5_poll_one:530:(pid 0): syndrome 0x5, aborting"},
    {none, "infiniband mlx5_0: dump_cqe:272:(pid 12): dump error cqe"},
    {failed_function,
     "bnxt_en 0000:18:00.0 bnxt_re0: Failed to register with Ethernet driver, rc -5"},
    {refused_command,
     "efa 0000:18:00.0 efa_0: Failed to process command REG_MR (opcode 7) err -12"},
    {failed_function, "ice 0000:18:00.0: Firmware recovery mode detected. Limiting functionality."},
    {uncorrected_error,
     "pcieport 0000:15:01.0: DPC: containment event, status:0x1f01 source:0x0000"},
    {firmware_died,
     "mlx5_core 0000:18:00.0: mlx5_health_try_recover:338:(pid 1): health recovery flow aborted, "
     "PCI reads still not working"},
    // Of others, in such words.
    {none, "systemd[1]: mlx5_core: device's health compromised - reached miss count"},
    {none, "containerd[123]: NVRM: Xid (PCI:0000:1b:00): 79 reported by the exporter"},
    {none, "audit: type=1400 apparmor=\"DENIED\" comm=\"mlx5_core failed with error\""},
    {none, "gpud[5]: mlx5_core 0000:18:00.0: Port module event[error]: module 0, Cable error"},
    {none, "nvme nvme0: I/O 5 QID 3 timeout, aborting"},
    {none, "usb 1-1: new high-speed USB device number 2 using xhci_hcd"},
    {none, ""},
};

system::LogCause cause_of(std::string_view line) {
  const auto* pattern = system::pattern_of(line);
  return pattern == nullptr ? none : pattern->cause;
}

TEST(LogPatterns, know_what_a_line_tells_of) {
  for (const auto& line : kLines) EXPECT_EQ(cause_of(line.text), line.cause) << line.text;
}

TEST(LogPatterns, every_cause_has_a_line_here) {
  std::set<system::LogCause> shown;
  for (const auto& line : kLines) shown.insert(line.cause);
  for (const auto& pattern : system::log_patterns()) {
    EXPECT_TRUE(shown.contains(pattern.cause)) << pattern.first << pattern.commands;
  }
}

TEST(LogPatterns, every_driver_of_the_nic_table_but_these_has_a_row) {
  const std::set<std::string_view> without = {"ib_mthca", "hfi1",  "vmw_pvrdma",
                                              "qede",     "cxgb4", "be2net"};
  for (const auto& model : node::rdma_models()) {
    const bool known = std::ranges::any_of(system::log_patterns(), [&](const auto& pattern) {
      return system::is_of_one_driver(pattern) && system::is_of(pattern, model.driver);
    });
    EXPECT_EQ(known, !without.contains(model.driver)) << model.driver;
  }
}

TEST(LogPatterns, a_writer_is_the_driver_or_module_that_a_line_begins_with) {
  EXPECT_EQ(system::writer_of("mlx5_core 0000:18:00.0 ens1: Link down"), "mlx5_core");
  EXPECT_EQ(system::writer_of("ionic_rdma.rdma ionic.rdma.0: x"), "ionic_rdma");
  EXPECT_EQ(system::writer_of("nvidia_peermem: x"), "nvidia_peermem");
  EXPECT_EQ(system::writer_of("word"), "word");
  EXPECT_EQ(system::writer_of(""), "");
}

TEST(LogPatterns, a_failed_command_is_its_name_and_its_status) {
  const auto failed = system::failed_command(
      "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 1): CREATE_QP(0x500) op_mod(0x0) failed, "
      "status bad resource state(0x9), syndrome (0x1), err(-22)");
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->command, "CREATE_QP");
  EXPECT_EQ(failed->status, "bad resource state");
  for (const auto* other : {"", ") op_mod(", " failed, status ", " failed, status ) op_mod(",
                            "CREATE_QP op_mod(0x0) failed, status x"}) {
    EXPECT_FALSE(system::failed_command(other).has_value()) << other;
  }
}

TEST(LogPatterns, addresses_are_found_wherever_they_stand) {
  using node::PciAddress;
  EXPECT_THAT(system::addresses_in("DMAR: [DMA Read] Request device [ca:08.2] fault addr 0x1"),
              testing::ElementsAre(PciAddress{0, 0xca, 8, 2}));
  EXPECT_THAT(system::addresses_in("DMAR: Request device [0x18:0x00.0] fault addr ffe00000"),
              testing::ElementsAre(PciAddress{0, 0x18, 0, 0}));
  EXPECT_THAT(system::addresses_in("mlx5_core 0000:18:00.0: AER: received: 0001:19:00.1"),
              testing::ElementsAre(PciAddress{0, 0x18, 0, 0}, PciAddress{1, 0x19, 0, 1}));
  EXPECT_THAT(system::addresses_in("at 12:34:56.789, 1.2.3.4, :::"), testing::IsEmpty());
}

TEST(LogPatterns, a_link_that_goes_down_is_said_in_the_words_of_its_driver) {
  EXPECT_TRUE(system::says_link_down("mlx5_core 0000:18:00.0 ens1: Link down", "0000:18:00.0"));
  EXPECT_TRUE(system::says_link_down("ice 0000:18:00.0 ens1: NIC Link is Down", "0000:18:00.0"));
  EXPECT_FALSE(system::says_link_down("ice 0000:18:00.0 ens1: NIC Link is Down", "0000:19:00.0"));
  EXPECT_FALSE(system::says_link_down("mlx5_core 0000:18:00.0 ens1: Link up", "0000:18:00.0"));
}

TEST(LogPatterns, a_snapshot_keeps_each_line_that_a_check_would_see) {
  for (const auto& line : kLines) {
    if (line.cause == none) continue;
    const auto record = "4,1,1,-;" + std::string(line.text) + "\n";
    const auto kept = system::parse_kernel_log(system::kept_kernel_log(record));
    ASSERT_EQ(kept.size(), 1U) << line.text;
    EXPECT_EQ(kept[0].pattern, system::pattern_of(line.text)) << kept[0].text;
  }
  const std::string down = "4,1,1,-;ice 0000:18:00.0 ens1: NIC Link is Down\n";
  EXPECT_EQ(system::kept_kernel_log(down + "6,2,2,-;audit: user=alice\n"), down + "6,2,2,-;\n");
}

TEST(KernelLog, of_endless_lines_only_the_beginning_counts) {
  std::string garbage = "4,1,1,-;";
  garbage.append(100'000, 'x');
  garbage += "device's health compromised\n";
  const auto lines = system::parse_kernel_log(garbage + std::string("\xff\x00;,\x01\n", 5) + "\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].pattern, nullptr);
  EXPECT_LE(lines[0].text.size(), 2048U);
}

}  // namespace
}  // namespace railhead::test
