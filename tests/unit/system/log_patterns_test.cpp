// SPDX-License-Identifier: Apache-2.0
#include "system/log_patterns.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "system/gather.h"
#include "system/shorten.h"

namespace railhead::test {
namespace {

using system::LogTopic;

struct Line {
  LogTopic topic;
  const char* text;
};

// As kernels and drivers write them; published in the sources that log_patterns.cpp names.
constexpr Line kLines[] = {
    {LogTopic::firmware,
     "mlx5_core 0000:18:00.0: poll_health:840:(pid 0): device's health compromised - reached miss "
     "count"},
    {LogTopic::firmware,
     "mlx5_core 0000:18:00.0: print_health_info:424:(pid 0): Health issue observed, firmware "
     "internal error, severity(3) ERROR:"},
    {LogTopic::none,
     "mlx5_core 0000:18:00.0: print_health_info:424:(pid 0): Health issue observed, High "
     "temperature, severity(6) INFO:"},
    {LogTopic::firmware,
     "mlx5_core 0000:00:06.0: wait_func:1151:(pid 1193): ENABLE_HCA(0x104) timeout. Will cause a "
     "leak of a command resource"},
    {LogTopic::optics,
     "mlx5_core 0000:18:00.0: Port module event[error]: module 0, Cable error, High Temperature"},
    {LogTopic::none, "mlx5_core 0000:18:00.0: Port module event: module 0, Cable plugged"},
    {LogTopic::power,
     "mlx5_core 0000:18:00.0: mlx5_pcie_event:301: Detected insufficient power on the PCIe slot "
     "(27W)."},
    {LogTopic::restricted,
     "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:839: ACCESS_REG(0x805) op_mod(0x1) failed, status "
     "bad parameter(0x3)"},
    {LogTopic::peermem,
     "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client"},
    {LogTopic::peermem,
     "nvidia_peermem: Unknown symbol ib_unregister_peer_memory_client (err -22)"},
    {LogTopic::peermem,
     "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further "
     "processing"},
    {LogTopic::dmabuf,
     "NVRM: dma-buf attach failed: topology not supported for mapping type FORCE_PCIE"},
    {LogTopic::iommu, "AMD-Vi: Event logged [IO_PAGE_FAULT device=18:00.0 address=0x0]"},
    {LogTopic::iommu,
     "DMAR: [DMA Read NO_PASID] Request device [ca:08.2] fault addr 0x104ead000 [fault reason "
     "0x06] PTE Read access is not set"},
    {LogTopic::iommu, "arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:"},
    {LogTopic::aer,
     "mlx5_core 0000:40:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), "
     "type=Transaction Layer, (Requester ID)"},
    {LogTopic::aer,
     "pcieport 0000:3d:01.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Physical Layer"},
    {LogTopic::none,
     "pcieport 0000:3d:01.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer"},
    {LogTopic::aer, "pcieport 0000:3d:01.0: AER: device recovery failed"},
    {LogTopic::driver,
     "mlx5_core 0000:00:06.0: probe_one:1770:(pid 1193): mlx5_init_one failed with error code "
     "-110"},
    {LogTopic::driver, "mlx5_core: probe of 0000:00:06.0 failed with error -110"},
    {LogTopic::driver,
     "mlx5_core 468b:00:02.0: mlx5_function_setup:1130:(pid 17): Firmware over 120000 MS in "
     "pre-initializing state, aborting"},
    {LogTopic::driver, "mlx5_ib: disagrees about version of symbol ib_register_device"},
    {LogTopic::driver, "rpcrdma: Unknown symbol rdma_create_id (err -2)"},
    {LogTopic::driver,
     "mlx5_core 0000:18:00.0 ens1: NETDEV WATCHDOG: CPU: 12: transmit queue 3 timed out 5432 ms"},
    {LogTopic::driver, "NETDEV WATCHDOG: ens1 (mlx5_core): transmit queue 3 timed out"},
    {LogTopic::driver, "infiniband mlx5_0: Couldn't open port 1"},
    {LogTopic::driver, "rdma_rxe: rxe_newlink: failed to add eth0"},
    {LogTopic::pinning, "ib_umem_get: failed to get user pages, nr_pages=512, flags=1"},
    {LogTopic::gpu,
     "NVRM: Xid (PCI:0003:00:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error "
     "detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"},
    {LogTopic::gpu,
     "NVRM: Xid (PCI:0000:c6:00): 79, pid=1101234, name=nvc:[driver], GPU has fallen off the bus."},
    {LogTopic::none, "NVRM: Xid (PCI:0000:c6:00): 31, pid=74, name=python, Ch 00000008, MMU Fault"},
    {LogTopic::gpu, "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 30 LTSSM Fault"},
    {LogTopic::none, "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 12028, Non-fatal, Link 30 egress"},
    {LogTopic::none, "usb 1-1: new high-speed USB device number 2 using xhci_hcd"},
    {LogTopic::none, ""},
};

LogTopic topic_of(std::string_view line) {
  const auto* pattern = system::pattern_of(line);
  return pattern == nullptr ? LogTopic::none : pattern->topic;
}

TEST(LogPatterns, know_what_a_line_is_about) {
  for (const auto& line : kLines) EXPECT_EQ(topic_of(line.text), line.topic) << line.text;
}

TEST(LogPatterns, every_topic_has_a_line_here) {
  std::set<LogTopic> shown;
  for (const auto& line : kLines) shown.insert(line.topic);
  for (const auto& pattern : system::log_patterns()) {
    EXPECT_TRUE(shown.contains(pattern.topic)) << pattern.words[0];
    EXPECT_FALSE(pattern.words[0].empty());
  }
}

TEST(LogPatterns, a_link_that_goes_down_is_said_in_the_words_of_its_driver) {
  EXPECT_TRUE(system::says_link_down("mlx5_core 0000:18:00.0 ens1: Link down", "0000:18:00.0"));
  EXPECT_TRUE(system::says_link_down("ice 0000:18:00.0 ens1: NIC Link is Down", "0000:18:00.0"));
  EXPECT_FALSE(system::says_link_down("ice 0000:18:00.0 ens1: NIC Link is Down", "0000:19:00.0"));
  EXPECT_FALSE(system::says_link_down("mlx5_core 0000:18:00.0 ens1: Link up", "0000:18:00.0"));
}

TEST(LogPatterns, a_snapshot_keeps_each_line_that_a_check_would_see) {
  for (const auto& line : kLines) {
    if (line.topic == LogTopic::none) continue;
    const auto record = "4,1,1,-;" + std::string(line.text) + "\n";
    EXPECT_EQ(system::shortened_file("/dev/kmsg", record), record);
  }
  const std::string down = "4,1,1,-;ice 0000:18:00.0 ens1: NIC Link is Down\n";
  EXPECT_EQ(system::shortened_file("/dev/kmsg", down + "6,2,2,-;audit: user=alice\n"), down);
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
