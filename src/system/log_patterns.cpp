// SPDX-License-Identifier: Apache-2.0
//
// Which lines of the kernel's log say that something is broken. The collections that were read for
// it: leptonai/gpud (kmsg matchers), NVIDIA/NVSentinel docs/nic-health-monitor.md, imbue-ai
// cluster-health. Below, "mlx5" is Linux drivers/net/ethernet/mellanox/mlx5/core/.
#include "system/log_patterns.h"

#include "base/find.h"

namespace railhead::system {
namespace {

constexpr LogPattern kPatterns[] = {
    // mlx5 health.c, cmd.c
    {LogTopic::firmware, {"device's health compromised", ""}},
    {LogTopic::firmware, {"unrecoverable hardware error", ""}},
    {LogTopic::firmware, {"Will cause a leak of a command resource", ""}},
    {LogTopic::firmware, {"Health issue observed", ") EMERGENCY"}},
    {LogTopic::firmware, {"Health issue observed", ") ALERT"}},
    {LogTopic::firmware, {"Health issue observed", ") CRITICAL"}},
    {LogTopic::firmware, {"Health issue observed", ") ERROR"}},
    // mlx5 events.c
    {LogTopic::optics, {"Port module event", "High Temperature"}},
    {LogTopic::optics, {"Port module event", "error"}},
    {LogTopic::power, {"Detected insufficient power on the PCIe slot", ""}},
    // mlx5 cmd.c, mlx5_cmd_out_err(); prometheus/node_exporter#3434
    {LogTopic::restricted, {"ACCESS_REG", "failed"}},
    // NVIDIA/open-gpu-kernel-modules nvidia-peermem.c; Linux kernel/module/main.c and version.c say
    // which symbol a module misses
    {LogTopic::peermem, {"nvidia-peermem", "invalid context"}},
    {LogTopic::peermem, {"ib_register_peer_memory_client", ""}},
    {LogTopic::peermem, {"nvidia_peermem: ", "symbol"}},
    // NVIDIA/open-gpu-kernel-modules nv-dmabuf.c
    {LogTopic::dmabuf, {"dma-buf attach failed", ""}},
    // Linux drivers/iommu/amd/iommu.c, intel/dmar.c, arm/arm-smmu-v3/arm-smmu-v3.c
    {LogTopic::iommu, {"IO_PAGE_FAULT", ""}},
    {LogTopic::iommu, {"DMAR:", "fault addr"}},
    {LogTopic::iommu, {"arm-smmu-v3", "event 0x10 received"}},
    {LogTopic::iommu, {"arm-smmu-v3", "event: F_TRANSLATION"}},
    // Linux drivers/pci/pcie/aer.c (severity=Uncorrected, later Uncorrectable) and err.c
    {LogTopic::aer, {"PCIe Bus Error", "severity=Uncorrect"}, true},
    {LogTopic::aer, {"AER: ", "device recovery failed"}, true},
    // mlx5 main.c: probe_one(), mlx5_function_setup(); Linux drivers/base/dd.c
    {LogTopic::driver, {"mlx5", "failed with error"}},
    {LogTopic::driver, {"mlx5", "enable hca failed"}},
    {LogTopic::driver, {"mlx5", "in pre-initializing state, aborting"}},
    {LogTopic::driver, {"disagrees about version of symbol ib_", ""}},
    {LogTopic::driver, {"disagrees about version of symbol rdma_", ""}},
    {LogTopic::driver, {"disagrees about version of symbol mlx5_", ""}},
    {LogTopic::driver, {"Unknown symbol ib_", ""}},
    {LogTopic::driver, {"Unknown symbol rdma_", ""}},
    {LogTopic::driver, {"Unknown symbol mlx5_", ""}},
    // Linux net/sched/sch_generic.c, dev_watchdog(); mlx5 en_main.c
    {LogTopic::driver, {"NETDEV WATCHDOG", "timed out"}, true},
    {LogTopic::driver, {"mlx5", "TX timeout detected"}},
    // Linux drivers/infiniband/core/mad.c, core/device.c; sw/rxe/rxe.c
    {LogTopic::driver, {"infiniband ", ": Couldn't open"}},
    {LogTopic::driver, {"infiniband ", ": Couldn't register"}},
    {LogTopic::driver, {"rdma_rxe: ", "failed"}},
    // MLNX_OFED drivers/infiniband/core/umem.c; Linux drivers/infiniband/hw/mlx5/mr.c
    {LogTopic::pinning, {"ib_umem_get", "failed"}},
    {LogTopic::pinning, {"mlx5_", "umem get failed"}},
    // NVIDIA, Xid catalog (docs.nvidia.com/deploy/xid-errors): 74 NVLink, 79 off the bus, 121 C2C,
    // 144 to 150 NVLink of Blackwell; SXid is an NVSwitch's (Fabric Manager user guide)
    {LogTopic::gpu, {"NVRM: Xid", "): 74,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 79,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 121,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 144,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 145,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 146,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 147,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 148,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 149,"}},
    {LogTopic::gpu, {"NVRM: Xid", "): 150,"}},
    {LogTopic::gpu, {"SXid (PCI:", ", Fatal,"}},
};

bool says(std::string_view line, std::string_view words) {
  return line.find(words) != std::string_view::npos;
}

}  // namespace

std::span<const LogPattern> log_patterns() {
  return kPatterns;
}

const LogPattern* pattern_of(std::string_view line) {
  return find_where(kPatterns, [&](const LogPattern& pattern) {
    return says(line, pattern.words[0]) && says(line, pattern.words[1]);
  });
}

/// Sources: mlx5 en_main.c; Linux drivers/net/ethernet/intel/ice/ice_main.c,
/// broadcom/bnxt/bnxt.c.
bool says_link_down(std::string_view line) {
  return says(line, ": Link down") || says(line, "Link is Down");
}

bool says_link_down(std::string_view line, const std::string& address) {
  return says(line, address) && says_link_down(line);
}

}  // namespace railhead::system
