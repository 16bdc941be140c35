// SPDX-License-Identifier: Apache-2.0
//
// Which lines of the kernel's log say that something is broken, by who writes them. Read for it
// were the drivers of Linux 6.12 (below, "net" is drivers/net/ethernet, "rdma" is
// drivers/infiniband), those that it has not where it is said, and three collections:
// leptonai/gpud (kmsg matchers), NVIDIA/NVSentinel docs/nic-health-monitor.md, imbue-ai
// cluster-health.
#include "system/log_patterns.h"

#include <algorithm>
#include <array>

#include "base/find.h"
#include "base/text.h"

namespace railhead::system {
namespace {

constexpr std::string_view kMlx5 = "mlx5*";

/// What a module calls its RDMA devices, until udev or a person renames them.
struct DeviceNames {
  std::string_view beginning;
  std::string_view module;
};

/// Source: ib_register_device() and ib_set_device_ops()'s callers in drivers/infiniband.
constexpr DeviceNames kDeviceNames[] = {{"mlx5_", "mlx5_ib"},
                                        {"mlx4_", "mlx4_ib"},
                                        {"bnxt_re", "bnxt_re"},
                                        {"irdma", "irdma"},
                                        {"efa_", "efa"},
                                        {"erdma_", "erdma"},
                                        {"mana_", "mana_ib"},
                                        {"hns_", "hns_roce_hw_v2"},
                                        {"ionic_", "ionic_rdma"},
                                        {"qedr", "qedr"},
                                        {"cxgb4_", "iw_cxgb4"},
                                        {"rxe", "rdma_rxe"},
                                        {"siw", "siw"}};

constexpr std::string_view kPeermem = "nvidia_peermem nvidia-peermem nv_peer_mem";

/// The drivers of RDMA NICs and their RDMA modules, as the kernel names them.
constexpr std::string_view kNicModules =
    "mlx5_* mlx4_* ib_mthca bnxt_en bnxt_re ice i40e idpf irdma efa erdma mana mana_ib hns3 "
    "hns_roce_hw_v2 ionic ionic_rdma cxi_ss1 cxi_user qede qedr cxgb4 iw_cxgb4 be2net ocrdma "
    "vmw_pvrdma hfi1 ib_qib usnic_verbs";
/// And what each of these modules needs.
constexpr std::string_view kRdmaModules =
    "mlx5_* mlx4_* ib_mthca bnxt_re irdma efa erdma mana_ib hns_roce_hw_v2 ionic_rdma cxi_user "
    "qedr iw_cxgb4 ocrdma vmw_pvrdma hfi1 ib_qib usnic_verbs "
    "ib_core ib_uverbs ib_umad ib_cm iw_cm rdma_cm rdma_ucm ib_ipoib";

/// What is made or started, as opposed to what is asked, changed or taken away.
constexpr std::string_view kMaking = "CREATE_* ALLOC_* ENABLE_HCA INIT_HCA";
constexpr std::string_view kMakingForRdma =
    "CREATE_MKEY CREATE_QP CREATE_CQ CREATE_EQ CREATE_SRQ CREATE_XRC_SRQ CREATE_XRQ CREATE_DCT "
    "CREATE_RMP CREATE_PSV ALLOC_UAR ALLOC_PD ALLOC_XRCD ENABLE_HCA INIT_HCA";
constexpr std::string_view kConnecting =
    "RST2INIT_QP INIT2RTR_QP RTR2RTS_QP RTS2RTS_QP INIT2INIT_QP";
constexpr std::string_view kUsedUp = "no resources,limits exceeded";

using enum LogCause;

constexpr LogPattern kPatterns[] = {
    // net/mellanox/mlx5/core/health.c, cmd.c
    {firmware_died, kMlx5, "device's health compromised"},
    {firmware_died, kMlx5, "unrecoverable hardware error"},
    {firmware_died, kMlx5, "Fatal error ", " detected"},
    {firmware_died, kMlx5, "FW fatal error reported"},
    {firmware_died, kMlx5, "mlx5_fw_fatal_reporter_"},
    {firmware_died, kMlx5, "health recovery failed"},
    {firmware_died, kMlx5, "health recovery flow aborted"},
    {firmware_died, kMlx5, "Health issue observed", ") EMERGENCY"},
    {firmware_died, kMlx5, "Health issue observed", ") ALERT"},
    {firmware_died, kMlx5, "Health issue observed", ") CRITICAL"},
    {firmware_died, kMlx5, "Health issue observed", ") ERROR"},
    {firmware_silent, kMlx5, "Will cause a leak of a command resource"},
    {firmware_silent, kMlx5, "No done completion"},
    {command_queue_full, kMlx5, "failed to allocate command entry"},
    {command_queue_full, kMlx5, "timed out while waiting for a slot"},
    {command_queue_full, kMlx5, "timeout while waiting for command semaphore"},
    {no_fatal_reporter, kMlx5, "Failed to create fw fatal reporter"},
    // prometheus/node_exporter#3434
    {restricted_register, kMlx5, "ACCESS_REG", "failed"},
    {no_memory_keys, kMlx5, "", "", "CREATE_MKEY", kUsedUp},
    {device_full, kMlx5, "", "", kMaking, kUsedUp},
    {firmware_fault, kMlx5, "", "", "CREATE_* ALLOC_* *2*_QP ENABLE_HCA INIT_HCA",
     "internal error"},
    {refused_connection, kMlx5, "", "", kConnecting},
    {refused_command, kMlx5, "", "", kMakingForRdma},
    // rdma/hw/mlx5/mr.c, create_mkey_status(): the errno is cmd_status_to_err()'s, where no
    // resources are -11 and limits exceeded are -12, and ETIMEDOUT is none of its own
    {refused_command, kMlx5, "async reg mr failed. status -110"},
    {no_memory_keys, kMlx5, "async reg mr failed. status -11"},
    {no_memory_keys, kMlx5, "async reg mr failed. status -12"},
    {refused_command, kMlx5, "async reg mr failed"},
    // net/mellanox/mlx5/core/events.c
    {hot_device, kMlx5, "High temperature on sensors"},
    {bad_module, kMlx5, "Port module event", "High Temperature"},
    {bad_module, kMlx5, "Port module event", "error"},
    {little_power, kMlx5, "Detected insufficient power on the PCIe slot"},
    // net/mellanox/mlx5/core/main.c: probe_one(), mlx5_function_setup()
    {failed_function, kMlx5, "failed with error"},
    {failed_function, kMlx5, "enable hca failed"},
    {failed_function, kMlx5, "in pre-initializing state, aborting"},
    {failed_function, kMlx5, "failed to allocate boot pages"},
    {failed_function, kMlx5, "failed to allocate init pages"},
    {failed_function, kMlx5, "init hca failed"},
    // rdma/hw/mlx5/qp.c
    {refused_command, kMlx5, "Create QP type ", " failed"},
    // net/mellanox/mlx5/core/en_main.c
    {stuck_queue, kMlx5, "TX timeout detected"},
    // net/mellanox/mlx4/catas.c, cmd.c, main.c
    {firmware_died, "mlx4_*", "Internal error detected"},
    {firmware_died, "mlx4_*", "Internal error mark was detected"},
    {firmware_silent, "mlx4_*", "timed out (go bit not cleared)"},
    {failed_function, "mlx4_*", "aborting"},
    // net/broadcom/bnxt/bnxt.c, bnxt_hwrm.c; rdma/hw/bnxt_re/qplib_rcfw.c, main.c, ib_verbs.c
    {firmware_died, "bnxt_*", "Firmware not responding"},
    {firmware_died, "bnxt_*", "Detected firmware fatal condition"},
    {firmware_died, "bnxt_*", "Firmware reset aborted"},
    {firmware_died, "bnxt_*", "Firmware fatal reset event received"},
    {firmware_silent, "bnxt_*", "FW STALL Detected"},
    {firmware_silent, "bnxt_*", "Error (timeout: ", ") msg {0x"},
    {hot_device, "bnxt_*", "Chip temperature has gone above"},
    {refused_module, "bnxt_*", "Unqualified SFP+ module"},
    {refused_module, "bnxt_*", "SFP+ module is shutdown"},
    {failed_function, "bnxt_*", "Failed to register with IB"},
    {failed_function, "bnxt_*", "Failed to register with Ethernet driver"},
    {failed_function, "bnxt_*", "RoCE requires minimum 2 MSI-X vectors"},
    {failed_function, "bnxt_*", "Failed to allocate RCFW"},
    {failed_function, "bnxt_*", "Failed to enable RCFW"},
    {failed_function, "bnxt_*", "Failed to initialize RCFW"},
    {failed_function, "bnxt_*", "Failed to initialize resources"},
    {failed_function, "bnxt_*", ", aborting"},
    {failed_function, "bnxt_*", "Firmware init phase ", " failed"},
    {failed_function, "bnxt_*", "Firmware not ready"},
    {stuck_queue, "bnxt_*", "TX timeout detected"},
    {large_region, "bnxt_*", "MR Size: ", "Max supported"},
    {device_full, "bnxt_*", "max exceeded"},
    {no_such_memory, "bnxt_*", "ib_umem_get failed! rc = -14"},
    {no_memory_to_pin, "bnxt_*", "ib_umem_get failed! rc = -12"},
    {not_pinned, "bnxt_*", "ib_umem_get failed!"},
    {refused_command, "bnxt_*", "Failed to register user MR"},
    {refused_command, "bnxt_*", "Failed to create HW QP"},
    {refused_command, "bnxt_*", "Failed to create HW CQ"},
    {refused_connection, "bnxt_*", "Failed to modify HW QP"},
    {refused_connection, "bnxt_*", "Failed to allocate HW AH"},
    // net/intel/ice/ice_main.c; rdma/hw/irdma/main.c, hw.c
    {firmware_died, "ice irdma", "critical PE Error"},
    {firmware_died, "ice irdma", "HMC Error"},
    {firmware_died, "ice irdma", "PE Push Error"},
    {firmware_died, "ice irdma", "device is unrecoverable"},
    {firmware_died, "ice irdma", "unrecoverable device error"},
    {refused_module, "ice", "unsupported module type was detected"},
    {refused_module, "ice", "module is incompatible with the device's NVM"},
    {refused_module, "ice", "power requirements exceed the device's power supply"},
    {failed_function, "ice i40e", "Firmware recovery mode detected"},
    {failed_function, "ice", "Rebuild failed, unload and reload driver"},
    {failed_function, "ice", "probe failed due to"},
    {safe_mode, "ice", "Entering Safe Mode"},
    {safe_mode, "ice", "Entering safe mode"},
    {failed_function, "ice i40e idpf irdma", "hardware initialization FAILED"},
    {failed_function, "ice i40e idpf irdma", "HW runtime init FAIL"},
    {failed_function, "ice", "ice_init_", " failed"},
    // rdma/hw/efa/efa_com.c, efa_com_cmd.c, efa_main.c
    {firmware_silent, "efa", "didn't send any completion for admin cmd"},
    {firmware_silent, "efa", "Wait for completion (polling) timeout"},
    {firmware_silent, "efa", "Reading register timed out"},
    {firmware_silent, "efa", "Admin queue is closed"},
    {failed_function, "efa", "EFA device init failed"},
    {failed_function, "efa", "EFA version is lower than"},
    {failed_function, "efa", "EFA ctrl version is lower than"},
    {failed_function, "efa", "BARs unavailable"},
    {failed_function, "efa", "Failed to enable MSI-X"},
    {failed_function, "efa", "Failed to remap register bar"},
    {failed_function, "efa", "pci_enable_device_mem() failed"},
    {refused_command, "efa", "Failed to process command CREATE_"},
    {refused_command, "efa", "Failed to process command REG_MR"},
    {refused_command, "efa", "Failed to register mr ["},
    {refused_command, "efa", "Failed to create qp ["},
    {refused_command, "efa", "Failed to create cq["},
    {refused_connection, "efa", "Failed to create ah for"},
    // rdma/hw/erdma/erdma_main.c; the sizes: Alibaba's driver outside of Linux, erdma_verbs.c, as
    // kvcache-ai/Mooncake docs/source/troubleshooting has its line
    {large_region, "erdma", "Out of mr size"},
    {device_full, "erdma", "ERROR: Out of "},
    {failed_function, "erdma", "wait init done failed"},
    {failed_function, "erdma", "ib_register_device failed"},
    {failed_function, "erdma", "pci_enable_device failed"},
    {failed_function, "erdma", "devm_ioremap failed"},
    // rdma/hw/hns/hns_roce_cmd.c, hns_roce_hw_v2.c, hns_roce_main.c
    {firmware_silent, "hns3 hns_roce_hw_v2", "mailbox 0x", " timeout"},
    {firmware_silent, "hns3 hns_roce_hw_v2", "Cmdq IO error"},
    {firmware_died, "hns3 hns_roce_hw_v2", "AEQ overflow"},
    {firmware_died, "hns3 hns_roce_hw_v2", "RoCE reinit failed"},
    {failed_function, "hns3 hns_roce_hw_v2", "RoCE Engine init failed"},
    {failed_function, "hns3 hns_roce_hw_v2", "RoCE instance init failed"},
    {failed_function, "hns3 hns_roce_hw_v2", "ib_register_device failed"},
    {device_full, "hns3 hns_roce_hw_v2", "failed to check CQ count"},
    {refused_connection, "hns3 hns_roce_hw_v2", "failed to modify QP, ret"},
    // net/microsoft/mana/hw_channel.c, gdma_main.c, mana_en.c; rdma/hw/mana/
    {firmware_silent, "mana*", "HWC: Request timed out"},
    {firmware_silent, "mana*", "test_eq timed out"},
    {failed_function, "mana*", "gdma probe failed"},
    {failed_function, "mana*", "Failed to establish HWC"},
    {failed_function, "mana*", "Failed to initialize HWC"},
    {failed_function, "mana*", "Failed to register device"},
    {failed_function, "mana*", "Failed to create RNIC adapter"},
    {failed_function, "mana*", "Probe Failed for port"},
    {refused_command, "mana*", "Failed to create rc qp"},
    {refused_connection, "mana*", "Failed modify qp"},
    // HewlettPackard/shs-cxi-driver 1.x, drivers/net/ethernet/hpe/ss1/cass_core.c, cass_cable.c
    {firmware_died, "cxi_*", "Disabling device"},
    {firmware_silent, "cxi_*", "chip not ready"},
    {bad_module, "cxi_*", "headshell ", "failed ["},
    {failed_function, "cxi_*", "init_hw failed"},
    {failed_function, "cxi_*", "cass_irq_init failed"},
    {failed_function, "cxi_*", "Cannot register the uC"},
    {failed_function, "cxi_*", "pci_enable_device() failed"},
    {failed_function, "cxi_*", "device ", " is not supported"},
    // net/pensando/ionic/ionic_main.c, ionic_bus_pci.c, ionic_fw.c; Linux 6.18
    // rdma/hw/ionic/ionic_admin.c, ionic_ibdev.c
    {firmware_silent, "ionic*", "admin command timed out"},
    {firmware_silent, "ionic*", "DEVCMD ", " timeout after"},
    {firmware_died, "ionic*", "interrupted - FW is down"},
    {firmware_died, "ionic*", "LIFs restart failed"},
    {failed_function, "ionic*", "aborting"},
    {failed_function, "ionic*", "Failed to register ibdev"},
    // Linux drivers/base/dd.c, until 6.10 and since
    {failed_function, kNicModules, "probe of ", "failed with error"},
    {failed_function, kNicModules, "probe with driver ", "failed with error"},
    // Linux kernel/module/main.c and version.c; NVIDIA/open-gpu-kernel-modules nvidia-peermem.c
    {peermem_driver, kPeermem, "symbol nvidia_p2p_"},
    {peermem_symbols, kPeermem, "symbol "},
    // NVIDIA/gdrcopy#306: the driver, until R560, ends a registration twice, and this is the way
    // around it
    {peermem_mitigation, kPeermem, "detected invalid context, skipping"},
    {mixed_modules, kRdmaModules, "disagrees about version of symbol"},
    {mixed_modules, kRdmaModules, "Unknown symbol"},
    // NVIDIA/open-gpu-kernel-modules nv-dmabuf.c
    {refused_dmabuf, "NVRM", "dma-buf attach failed"},
    // Linux drivers/iommu/amd/iommu.c, intel/dmar.c, arm/arm-smmu-v3/arm-smmu-v3.c
    {stopped_transfer, "", "IO_PAGE_FAULT", "", "", "", Named::endpoint},
    {stopped_transfer, "DMAR", "fault addr", "", "", "", Named::endpoint},
    {stopped_unnamed, "arm-smmu-v3", "event: F_", "client: (unassigned"},
    {stopped_transfer, "arm-smmu-v3", "event: F_", "client: ", "", "", Named::endpoint},
    {stopped_unnamed, "arm-smmu-v3", "event: F_"},
    {stopped_unnamed, "arm-smmu-v3", "event 0x10 received"},
    // Linux drivers/pci/pcie/aer.c (severity=Uncorrected, later Uncorrectable) and err.c
    {uncorrected_error, "", "PCIe Bus Error", "severity=Uncorrect", "", "", Named::path},
    {uncorrected_error, "", "AER: ", "Uncorrect", "", "", Named::path, "error "},
    // Linux drivers/pci/pcie/dpc.c: the port took what is below it off the bus
    {uncorrected_error, "pcieport", "DPC: containment event", "", "", "", Named::path},
    {not_recovered, "", "AER: ", "device recovery failed", "", "", Named::path},
    // Linux net/sched/sch_generic.c, dev_watchdog()
    {stuck_queue, "", "NETDEV WATCHDOG", "timed out", "", "", Named::endpoint},
    // Linux drivers/infiniband/core/mad.c, core/device.c; sw/rxe/rxe.c
    {failed_port, "infiniband", ": Couldn't open"},
    {failed_port, "infiniband", ": Couldn't register"},
    {failed_soft_device, "rdma_rxe", "failed"},
    // MLNX_OFED drivers/infiniband/core/umem.c; rdma/hw/mlx5/mr.c before 5.11
    {not_pinned, "ib_umem_get ib_core ib_uverbs", "ib_umem_get", "failed"},
    {no_such_memory, kMlx5, "umem get failed (-14)"},
    {no_memory_to_pin, kMlx5, "umem get failed (-12)"},
    {not_pinned, kMlx5, "umem get failed"},
    // NVIDIA, Xid catalog (docs.nvidia.com/deploy/xid-errors): 48 and 140 memory errors, 64 a row
    // that could not be remapped, 74 NVLink, 79 off the bus, 95 an uncontained error, 119 and 120
    // its processor does not answer, 121 C2C, 144 to 150 NVLink of Blackwell; SXid is an NVSwitch's
    // (Fabric Manager user guide). 13, 31, 43, 63 and 94 end a program or wait for a reset.
    {gpu_fault, "NVRM", "has fallen off the bus"},
    {gpu_fault, "NVRM", "Xid", "): 48,"},
    {gpu_fault, "NVRM", "Xid", "): 64,"},
    {gpu_fault, "NVRM", "Xid", "): 74,"},
    {gpu_fault, "NVRM", "Xid", "): 79,"},
    {gpu_fault, "NVRM", "Xid", "): 95,"},
    {gpu_fault, "NVRM", "Xid", "): 119,"},
    {gpu_fault, "NVRM", "Xid", "): 120,"},
    {gpu_fault, "NVRM", "Xid", "): 121,"},
    {gpu_fault, "NVRM", "Xid", "): 140,"},
    {gpu_fault, "NVRM", "Xid", "): 144,"},
    {gpu_fault, "NVRM", "Xid", "): 145,"},
    {gpu_fault, "NVRM", "Xid", "): 146,"},
    {gpu_fault, "NVRM", "Xid", "): 147,"},
    {gpu_fault, "NVRM", "Xid", "): 148,"},
    {gpu_fault, "NVRM", "Xid", "): 149,"},
    {gpu_fault, "NVRM", "Xid", "): 150,"},
    // Linux drivers/gpu/drm/amd/amdgpu/amdgpu_device.c
    {gpu_fault, "amdgpu", "GPU reset begin!"},
    {gpu_fault, "amdgpu", "device lost from bus!"},
    {gpu_fault, "nvidia-nvswitch*", "SXid (PCI:", ", Fatal,"},
};

bool says(std::string_view line, std::string_view words) {
  return line.find(words) != std::string_view::npos;
}

/// A log has twenty thousand lines: nothing is allocated for a glob.
bool fits_any(std::string_view globs, std::string_view word) {
  while (!globs.empty()) {
    const auto glob = globs.substr(0, globs.find(' '));
    if (glob_match(glob, word)) return true;
    globs.remove_prefix(std::min(globs.size(), glob.size() + 1));
  }
  return false;
}

/// The module that made the device of a line "infiniband NAME: …"; "" where the name is not one
/// that a module gives.
std::string_view maker_of(std::string_view line) {
  line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  const auto* names = find_where(
      kDeviceNames, [&](const DeviceNames& one) { return line.starts_with(one.beginning); });
  return names != nullptr ? names->module : std::string_view();
}

/// Whether a driver's words are believed of a line that names a device of the class "infiniband"
/// alone: those of its maker, of a device with another name those of any but "did not start".
bool is_of_device(const LogPattern& pattern, std::string_view maker) {
  if (!is_of_one_driver(pattern)) return false;
  return maker.empty() ? pattern.cause != failed_function : is_of(pattern, maker);
}

bool fits_command(const LogPattern& pattern, const std::optional<FailedCommand>& failed) {
  if (pattern.commands.empty()) return true;
  if (!failed || !fits_any(pattern.commands, failed->command)) return false;
  return pattern.statuses.empty() ||
         std::ranges::any_of(split(pattern.statuses, ','),
                             [&](std::string_view status) { return status == failed->status; });
}

}  // namespace

std::span<const LogPattern> log_patterns() {
  return kPatterns;
}

std::string_view writer_of(std::string_view line) {
  return line.substr(0, line.find_first_of(" :."));
}

bool is_of(const LogPattern& pattern, std::string_view writer) {
  return fits_any(pattern.writers, writer);
}

bool is_of_one_driver(const LogPattern& pattern) {
  return !pattern.writers.empty() && pattern.writers != kNicModules &&
         pattern.writers != kRdmaModules;
}

std::optional<FailedCommand> failed_command(std::string_view line) {
  constexpr std::string_view kAfterCommand = ") op_mod(";
  constexpr std::string_view kBeforeStatus = " failed, status ";
  const auto end = line.find(kAfterCommand);
  const auto failed = line.find(kBeforeStatus);
  if (end == std::string_view::npos || failed == std::string_view::npos || failed < end) {
    return std::nullopt;
  }
  const auto number = line.rfind('(', end);
  if (number == std::string_view::npos) return std::nullopt;
  const auto space = line.rfind(' ', number);
  const auto begin = space == std::string_view::npos ? 0 : space + 1;
  const auto status = line.substr(failed + kBeforeStatus.size());
  return FailedCommand{line.substr(begin, number - begin), status.substr(0, status.find("(0x"))};
}

const LogPattern* pattern_of(std::string_view line) {
  const auto writer = writer_of(line);
  const auto failed = failed_command(line);
  const bool names_device = writer == "infiniband";
  const auto maker = names_device ? maker_of(line) : std::string_view();
  return find_where(kPatterns, [&](const LogPattern& pattern) {
    const bool is_writers = pattern.writers.empty() || is_of(pattern, writer) ||
                            (names_device && is_of_device(pattern, maker));
    return is_writers && says(line, pattern.first) && says(line, pattern.second) &&
           fits_command(pattern, failed);
  });
}

std::vector<node::PciAddress> addresses_in(std::string_view line) {
  // "[0x18:0x00.0]" is DMAR's of Linux 5.13 to 5.15.
  std::string without_0x;
  for (auto at = line.find("0x"); at != std::string_view::npos; at = line.find("0x")) {
    without_0x += line.substr(0, at);
    line.remove_prefix(at + 2);
  }
  without_0x += line;
  std::string_view text = without_0x;
  constexpr std::string_view kAddress = "0123456789abcdefABCDEF:.";
  std::vector<node::PciAddress> found;
  while (true) {
    const auto begin = text.find_first_of(kAddress);
    if (begin == std::string_view::npos) return found;
    text.remove_prefix(begin);
    auto word = text.substr(0, text.find_first_not_of(kAddress));
    text.remove_prefix(word.size());
    while (word.ends_with(':') || word.ends_with('.')) word.remove_suffix(1);
    if (const auto address = node::pci_address_of(word)) found.push_back(*address);
  }
}

/// Sources: net/mellanox/mlx5/core/en_main.c, net/intel/ice/ice_main.c, net/broadcom/bnxt/bnxt.c.
bool says_link_down(std::string_view line) {
  return says(line, ": Link down") || says(line, "Link is Down");
}

bool says_link_down(std::string_view line, const std::string& address) {
  return says(line, address) && says_link_down(line);
}

}  // namespace railhead::system
