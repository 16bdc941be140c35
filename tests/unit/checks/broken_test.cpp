// SPDX-License-Identifier: Apache-2.0
//
// One fault at a time in a healthy machine: exactly the checks that are to notice it do.
#include <gmock/gmock.h>

#include "base/contains.h"
#include "unit/checks/page.h"
#include "unit/checks/patients.h"
#include "unit/link_builder.h"

namespace railhead::test {
namespace {

using Lines = std::vector<std::string>;

/// What is worse than before: WARN, FAIL and UNKNOWN that are new, and SKIP because of a failure.
Lines complaints_by(const std::vector<checks::Finding>& before,
                    const std::vector<checks::Finding>& after) {
  auto lines = differences(before, after);
  std::erase_if(lines, [&](const std::string& line) {
    if (line.starts_with("PASS") || line.starts_with("gone")) return true;
    if (!line.starts_with("SKIP")) return false;
    return std::ranges::none_of(after, [&](const checks::Finding& finding) {
      return line == "SKIP " + std::string(finding.id) + " " + finding.subject &&
             finding.reason.find(" failed for ") != std::string::npos;
    });
  });
  return lines;
}

/// The Ethernet netdevs of the compute NICs, with the NICs that they are of.
const std::vector<std::pair<std::string, std::string>>& all_rails() {
  static const std::vector<std::pair<std::string, std::string>> kRails = {
      {"mlx5_0", "enp26s0np0"},  {"mlx5_10", "enp204s0np0"}, {"mlx5_11", "enp220s0np0"},
      {"mlx5_3", "enp60s0np0"},  {"mlx5_4", "enp77s0np0"},   {"mlx5_5", "enp94s0np0"},
      {"mlx5_6", "enp156s0np0"}, {"mlx5_9", "enp188s0np0"}};
  return kRails;
}

std::vector<std::string> netdevs_of_rails() {
  std::vector<std::string> netdevs;
  for (const auto& rail : all_rails()) netdevs.push_back(rail.second);
  return netdevs;
}

Lines rails(const std::string& begin) {
  Lines lines;
  for (const auto& rail : all_rails()) lines.push_back(begin + rail.first + "/1/" + rail.second);
  return lines;
}

/// Every look at the kernel's log, which is closed.
Lines unknown_log() {
  Lines lines;
  for (const auto* what : {"aer", "dmabuf", "driver", "firmware", "flood", "gpu", "iommu", "optics",
                           "peermem", "pinning", "power", "refused"}) {
    lines.push_back("UNKNOWN log." + std::string(what) + " node");
  }
  return lines;
}

/// The same, and every link whose changes stand there.
Lines unknown_log_and_flaps() {
  Lines lines;
  for (const auto& rail : all_rails()) lines.push_back("UNKNOWN link.flap " + rail.first);
  const auto log = unknown_log();
  lines.insert(lines.end(), log.begin(), log.end());
  return lines;
}

/// Every NIC of a DGX, where nobody may see which of them have an RDMA device.
Lines unknown_nics() {
  Lines lines = {"UNKNOWN host.readable /sys/class/infiniband"};
  for (const auto* address : {"18:00.0", "29:00.0", "29:00.1", "40:00.0", "4f:00.0", "5e:00.0",
                              "9a:00.0", "aa:00.0", "aa:00.1", "c0:00.0", "ce:00.0", "dc:00.0"}) {
    lines.push_back("UNKNOWN pci.nic-driver 0000:" + std::string(address));
  }
  lines.emplace_back("UNKNOWN pci.nic-present node");
  lines.emplace_back("UNKNOWN topo.missing-nic node");
  return lines;
}

struct Fault {
  const char* name;
  void (*make)(Patient& patient);
  Lines expected;
  const char* machine = "dgx-h100";
  Patient (*healthy_one)() = nullptr;  ///< where healthy(machine) is not yet what it takes

  [[nodiscard]] Patient before() const { return healthy_one ? healthy_one() : healthy(machine); }
};

constexpr const char* kNic3 =
    "/sys/devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0/0000:3f:00.0/0000:40:00.0";

std::string at_nic3(const std::string& file) {
  return std::string(kNic3) + "/" + file;
}

/// Where nobody may look into its folder.
Lines unread_nic3() {
  Lines lines = {"UNKNOWN host.readable /sys/bus/pci/devices/0000:40:00.0",
                 "UNKNOWN host.readable /sys/class/infiniband/mlx5_3",
                 "UNKNOWN host.readable " + std::string(kNic3)};
  for (const auto* file :
       {"class", "infiniband/mlx5_3", "infiniband/mlx5_3/node_type", "infiniband_mad/issm3/ibdev",
        "infiniband_mad/umad3/ibdev", "infiniband_verbs/uverbs3/ibdev", "net/ibp64s0/flags",
        "net/ibp64s0/master", "net/ibp64s0/operstate", "uevent"}) {
    lines.push_back("UNKNOWN host.readable " + at_nic3(file));
  }
  lines.emplace_back("UNKNOWN pci.nic-present node");
  lines.emplace_back("UNKNOWN topo.missing-nic node");
  return lines;
}

/// Its bridges, from the root port down.
std::vector<std::string> bridges_of_nic3() {
  std::vector<std::string> folders;
  std::string folder(kNic3);
  for (folder.resize(folder.rfind('/')); bridge_at(folder) != Express::root;
       folder.resize(folder.rfind('/'))) {
    folders.insert(folders.begin(), folder);
  }
  folders.insert(folders.begin(), folder);
  return folders;
}

std::string port3(const std::string& file) {
  return at_nic3("infiniband/mlx5_3/ports/1/" + file);
}

void forget_module(Patient& patient, const std::string& name) {
  patient.replace("/proc/modules", "\n" + name + " ", "\nsomething_else ");
  patient.drop("/sys/module/" + name);
}

void load_nvidia_fs(Patient& patient) {
  patient.replace("/proc/modules", "nvidia ",
                  "nvidia_fs 32768 0 - Live 0x0000000000000000\nnvidia ");
}

void load_gdrcopy(Patient& patient) {
  patient.replace("/proc/modules", "nvidia ", "gdrdrv 32768 0 - Live 0x0000000000000000\nnvidia ");
  patient.text("/sys/module/gdrdrv/version", "2.4.1");
  patient.text("/proc/devices", "Character devices:\n  1 mem\n240 gdrdrv");
}

void add_lines(Patient& patient, const std::string& lines) {
  patient.text("/dev/kmsg", lines);
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"a port is down",
       [](Patient& p) { p.text(port3("state"), "1: DOWN"); },
       {"FAIL link.port-state mlx5_3/1", "SKIP link.rate mlx5_3/1", "SKIP link.sm mlx5_3/1"}},
      {"a port waits for the subnet manager",
       [](Patient& p) { p.text(port3("state"), "2: INIT"); },
       {"FAIL link.port-state mlx5_3/1", "SKIP link.rate mlx5_3/1", "SKIP link.sm mlx5_3/1"}},
      {"a port is armed",
       [](Patient& p) { p.text(port3("state"), "3: ARMED"); },
       {"FAIL link.port-state mlx5_3/1", "SKIP link.rate mlx5_3/1", "SKIP link.sm mlx5_3/1"}},
      {"a port has the LID of none",
       [](Patient& p) { p.text(port3("lid"), "0xffff"); },
       {"FAIL link.sm mlx5_3/1"}},
      {"the subnet manager has the LID of none",
       [](Patient& p) { p.text(port3("sm_lid"), "0xffff"); },
       {"FAIL link.sm mlx5_3/1"}},
      {"a NIC without a folder of ports",
       [](Patient& p) { p.drop(at_nic3("infiniband/mlx5_3/ports")); },
       {"UNKNOWN link.port-state mlx5_3"}},
      {"ports that cannot be listed",
       [](Patient& p) {
         const auto ports = at_nic3("infiniband/mlx5_3/ports");
         p.drop(ports).unreadable(ports, "EACCES");
       },
       {"UNKNOWN host.readable " + at_nic3("infiniband/mlx5_3/ports"),
        "UNKNOWN link.port-state mlx5_3"}},
      {"a NIC whose folder is not there",
       [](Patient& p) { p.drop(kNic3); },
       {"UNKNOWN host.readable /sys/bus/pci/devices/0000:40:00.0",
        "UNKNOWN host.readable /sys/class/infiniband/mlx5_3", "UNKNOWN pci.nic-present node",
        "UNKNOWN topo.missing-nic node"}},
      {"a NIC whose folder cannot be read",
       [](Patient& p) { p.drop(kNic3).unreadable(kNic3, "EACCES"); }, unread_nic3()},
      {"a port does not tell its state",
       [](Patient& p) { p.unreadable(port3("state"), "EIO"); },
       {"UNKNOWN host.readable " + port3("state"), "UNKNOWN link.port-state mlx5_3/1"}},
      {"a port is slower than the others",
       [](Patient& p) { p.text(port3("rate"), "200 Gb/sec (2X NDR)"); },
       {"WARN link.rate mlx5_3/1"}},
      {"no subnet manager",
       [](Patient& p) { p.text(port3("sm_lid"), "0x0"); },
       {"FAIL link.sm mlx5_3/1"}},
      {"no full member of a partition",
       [](Patient& p) { p.text(port3("pkeys/0"), "0x7fff"); },
       {"WARN link.sm mlx5_3/1"}},
      {"a GUID of zeros",
       [](Patient& p) { p.text(at_nic3("infiniband/mlx5_3/node_guid"), "0000:0000:0000:0000"); },
       {"FAIL link.guid mlx5_3"}},
      {"two cards with one GUID",
       [](Patient& p) {
         const auto guid = p.paths("infiniband/mlx5_4/node_guid").at(0);
         p.text(at_nic3("infiniband/mlx5_3/node_guid"), "a088:c203:00aa:0001");
         p.text(guid, "a088:c203:00aa:0001");
       },
       {"WARN link.guid mlx5_3", "WARN link.guid mlx5_4"}},
      {"a counter is full",
       [](Patient& p) { p.text(port3("counters/link_downed"), "255"); },
       {"WARN link.counters mlx5_3/1"}},
      {"counters cannot be read",
       [](Patient& p) {
         for (const auto* name :
              {"link_downed", "symbol_error", "excessive_buffer_overrun_errors"}) {
           p.unreadable(port3("counters/" + std::string(name)), "EINVAL");
         }
       },
       {"UNKNOWN link.counters mlx5_3/1"}},
      {"half the lanes of a slot",
       [](Patient& p) { p.text(at_nic3("current_link_width"), "8"); },
       {"FAIL pci.link mlx5_3"}},
      {"a slower generation of PCIe",
       [](Patient& p) { p.text(at_nic3("current_link_speed"), "16.0 GT/s PCIe"); },
       {"FAIL pci.link mlx5_3"}},
      {"reads of 512 bytes",
       [](Patient& p) { p.bytes(at_nic3("config"), config_space(0x2930)); },
       {"WARN pci.max-read-request mlx5_3"}},
      {"no relaxed ordering",
       [](Patient& p) { p.bytes(at_nic3("config"), config_space(0x5920)); },
       {"WARN pci.relaxed-ordering mlx5_3"}},
      {"64 bytes of configuration space",
       [](Patient& p) {
         p.bytes(at_nic3("config"), config_space(kGoodDeviceControl).substr(0, 64));
       },
       {"UNKNOWN pci.extended-tags mlx5_3", "UNKNOWN pci.max-payload mlx5_3",
        "UNKNOWN pci.max-read-request mlx5_3", "UNKNOWN pci.relaxed-ordering mlx5_3"}},
      {"five bits of tags",
       [](Patient& p) { p.bytes(at_nic3("config"), config_space(0x5830)); },
       {"WARN pci.extended-tags mlx5_3"}},
      {"a payload of 128 bytes on all the way",
       [](Patient& p) {
         p.bytes(at_nic3("config"), config_space(0x5910));
         for (const auto& folder : bridges_of_nic3()) {
           auto space = good_bridge(folder);
           space.device_control = 0x5910;
           p.bytes(folder + "/config", space.bytes());
         }
       },
       {"WARN pci.max-payload mlx5_3"}},
      {"a slot with another payload",
       [](Patient& p) {
         auto space = good_bridge(bridges_of_nic3().back());
         space.device_control = 0x5950;
         p.bytes(bridges_of_nic3().back() + "/config", space.bytes());
       },
       {"WARN pci.max-payload mlx5_3"}},
      {"a switch that trained to half its lanes",
       [](Patient& p) {
         auto space = good_bridge(bridges_of_nic3().at(1));
         space.link_status = 0x0085;
         p.bytes(bridges_of_nic3().at(1) + "/config", space.bytes());
       },
       {"FAIL pci.link switch 0000:3e:00.0"}},
      {"ACS redirects below the switch",
       [](Patient& p) {
         auto space = good_bridge(bridges_of_nic3().back());
         space.acs_control = 0x001d;
         p.bytes(bridges_of_nic3().back() + "/config", space.bytes());
       },
       {"WARN pci.acs mlx5_3"}},
      {"an uncorrected error",
       [](Patient& p) { p.text(at_nic3("aer_dev_nonfatal"), "TLP 2\nTOTAL_ERR_NONFATAL 2"); },
       {"WARN pci.aer mlx5_3"}},
      {"a NIC fell off the bus of a machine of no known type",
       [](Patient& p) { p.unplug("0000:40:00.0"); },
       {"WARN topo.missing-nic 0000:43:00.0"}},
      {"a NIC without a driver",
       [](Patient& p) {
         p.drop(at_nic3("infiniband")).drop(at_nic3("infiniband_verbs"));
         p.drop(at_nic3("infiniband_mad")).drop(at_nic3("driver"));
         p.drop("/sys/class/infiniband/mlx5_3");
         p.replace(at_nic3("uevent"), "DRIVER=mlx5_core\n", "");
       },
       {"FAIL pci.nic-driver 0000:40:00.0", "SKIP link.port-state 0000:40:00.0",
        "SKIP pci.extended-tags 0000:40:00.0", "SKIP pci.max-payload 0000:40:00.0",
        "SKIP pci.max-read-request 0000:40:00.0", "SKIP pci.relaxed-ordering 0000:40:00.0"}},
      {"no uverbs node",
       [](Patient& p) { p.drop("/dev/infiniband/uverbs3"); },
       {"FAIL dev.uverbs mlx5_3"}},
      {"a stale uverbs node",
       [](Patient& p) {
         p.device("/dev/infiniband/uverbs3", {'c', 231, 0, 0666, 0, 0});
       },
       {"FAIL dev.uverbs mlx5_3", "UNKNOWN host.readable /dev/infiniband/uverbs3"}},
      {"a uverbs node for root only",
       [](Patient& p) {
         p.device("/dev/infiniband/uverbs3", {'c', 231, 195, 0600, 0, 0});
       },
       {"WARN dev.uverbs mlx5_3"}},
      {"umad for everybody",
       [](Patient& p) {
         p.device("/dev/infiniband/umad3", {'c', 231, 3, 0666, 0, 0});
       },
       {"WARN dev.umad mlx5_3"}},
      {"no rdma_cm node",
       [](Patient& p) { p.drop("/dev/infiniband/rdma_cm"); },
       {"FAIL dev.rdma-cm rdma_cm"}},
      {"module rdma_ucm is missing",
       [](Patient& p) {
         forget_module(p, "rdma_ucm");
         p.drop("/dev/infiniband/rdma_cm").drop_all("misc/rdma_cm/dev");
       },
       {"FAIL drv.modules rdma_ucm", "SKIP dev.rdma-cm node"}},
      {"module ib_umad is missing",
       [](Patient& p) {
         forget_module(p, "ib_umad");
         for (int n = 0; n < 12; ++n) {
           for (const auto* kind : {"umad", "issm"}) {
             p.drop("/dev/infiniband/" + std::string(kind) + std::to_string(n));
             for (const auto& path :
                  p.paths("/infiniband_mad/" + std::string(kind) + std::to_string(n) + "/dev")) {
               p.drop(path.substr(0, path.rfind('/')));
             }
             p.drop("/sys/class/infiniband_mad/" + std::string(kind) + std::to_string(n));
           }
         }
       },
       {"FAIL drv.modules ib_umad"}},
      {"a module that is in no list",
       [](Patient& p) { p.text("/etc/modules-load.d/rdma.conf", "rdma_ucm"); },
       {"WARN drv.persist ib_umad"}},
      {"RDMA namespaces are exclusive",
       [](Patient& p) { p.text("/sys/module/ib_core/parameters/netns_mode", "N"); },
       {"WARN dev.netns-mode node"}},
      {"an old kernel",
       [](Patient& p) { p.text("/proc/sys/kernel/osrelease", "5.4.0-190-generic"); },
       {"WARN host.kernel node"}},
      {"the IOMMU translates",
       [](Patient& p) {
         p.link(at_nic3("iommu_group"), "../../../../../../kernel/iommu_groups/7");
         p.text("/sys/kernel/iommu_groups/7/type", "DMA-FQ");
       },
       {"WARN host.iommu mlx5_3"}},
      {"a NIC without a NUMA node",
       [](Patient& p) { p.text(at_nic3("numa_node"), "-1"); },
       {"WARN host.numa mlx5_3"}},
      {"processors save power",
       [](Patient& p) {
         p.text("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave");
       },
       {"WARN host.governor governor powersave"}},
      {"a memory lock of 8 MiB",
       [](Patient& p) {
         p.text("/proc/811/limits", "Max locked memory         8388608              8388608 bytes");
       },
       {"FAIL runtime.memlock containerd"}},
      {"the runtime is older than its unit",
       [](Patient& p) {
         p.text("/proc/811/limits", "Max locked memory         65536                65536 bytes");
         p.text("/etc/systemd/system/containerd.service.d/rdma.conf",
                "[Service]\nLimitMEMLOCK=infinity");
       },
       {"WARN runtime.memlock containerd"}},
      {"NRI is disabled",
       [](Patient& p) { p.drop("/etc/containerd/conf.d").drop("/run/nri"); },
       {"FAIL runtime.nri containerd"}},
      {"NRI is enabled and the runtime not restarted",
       [](Patient& p) { p.drop("/run/nri").name("/run/x"); },
       {"WARN runtime.nri containerd"}},
      {"a configuration that is written half",
       [](Patient& p) { p.bytes("/etc/containerd/config.toml", "[plugins\nx"); },
       {"WARN runtime.nri containerd"}},
      {"a configuration that one release refuses",
       [](Patient& p) {
         p.text("/etc/containerd/config.toml", "version = 2\n[plugins.nri]\ndisable = true");
       },
       {"UNKNOWN runtime.nri containerd"}},
      {"the kubelet has no socket",
       [](Patient& p) {
         p.drop("/var/lib/kubelet/device-plugins/kubelet.sock");
         p.name("/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint");
       },
       {"FAIL runtime.device-plugins node"}},
      {"no way into GPU memory",
       [](Patient& p) {
         p.replace("/proc/modules", "nvidia_peermem ", "something_else ");
         p.drop("/sys/module/nvidia_peermem");
         p.replace("/proc/driver/nvidia/version", "Open Kernel", "Kernel");
       },
       {"FAIL gdr.route node"}},
      {"a driver on the host and one in a container",
       [](Patient& p) {
         p.link("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "libnvidia-ml.so.535.183.01");
         p.link("/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                "libnvidia-ml.so.550.54.15");
       },
       {"WARN gpu.driver-owner node"}},
      {"libraries of another version than the module",
       [](Patient& p) {
         p.link("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "libnvidia-ml.so.535.183.01");
         p.text("/sys/module/nvidia/version", "550.54.15");
       },
       {"WARN gpu.driver-owner node"}},
      {"GDRCopy without its node", [](Patient& p) { load_gdrcopy(p); }, {"WARN gdr.gdrcopy node"}},
      {"GDRCopy with a stale node",
       [](Patient& p) {
         load_gdrcopy(p);
         p.device("/dev/gdrdrv", {'c', 239, 0, 0666, 0, 0});
       },
       {"WARN gdr.gdrcopy node"}},
      {"cuFile may not do without nvidia_fs, which is not there",
       [](Patient& p) { p.text("/etc/cufile.json", "{\n \"allow_compat_mode\": false,\n}"); },
       {"FAIL gdr.storage node"}},
      {"cuFile may not do without nvidia_fs, which has no files",
       [](Patient& p) {
         load_nvidia_fs(p);
         p.text("/etc/cufile.json", "{\n \"allow_compat_mode\" : false, // never\n}");
       },
       {"FAIL gdr.storage node"}},
      {"nvidia_fs has no files", [](Patient& p) { load_nvidia_fs(p); }, {"WARN gdr.storage node"}},
      {"nvidia_fs serves no driver",
       [](Patient& p) {
         load_nvidia_fs(p);
         p.text("/proc/driver/nvidia-fs/version", "version: 2.24");
         p.bytes("/proc/driver/nvidia-fs/modules", "");
       },
       {"WARN gdr.storage node"}},
      {"cuFile's file is hidden",
       [](Patient& p) { p.unreadable("/etc/cufile.json", "EACCES"); },
       {"UNKNOWN gdr.storage node"}},
      {"the driver's parameters are hidden",
       [](Patient& p) { p.unreadable("/proc/driver/nvidia/params", "EACCES"); },
       {"UNKNOWN gdr.ibgda node"}},
      {"a mount fell back to TCP",
       [](Patient& p) {
         p.replace("/proc/1/mountstats", "proto=rdma\n\txprt:\trdma 0 0 1 0 5 14 13 0 1 0",
                   "proto=tcp\n\txprt:\ttcp 0 0 1 0 5 14 13 0 1 0");
       },
       {"FAIL nfs.transport /data"}},
      {"no module for NFS over RDMA",
       [](Patient& p) { forget_module(p, "rpcrdma"); },
       {"FAIL nfs.module node"}},
      {"firmware is dead",
       [](Patient& p) {
         add_lines(
             p, "3,1,1,-;mlx5_core 0000:18:00.0: device's health compromised - reached miss count");
       },
       {"FAIL log.firmware node"}},
      {"a full queue of commands",
       [](Patient& p) {
         add_lines(p,
                   "3,1,1,-;mlx5_core 0000:18:00.0: cmd_work_handler:1010:(pid 9): failed to "
                   "allocate command entry");
       },
       {"WARN log.firmware node"}},
      {"a hot transceiver",
       [](Patient& p) {
         add_lines(p,
                   "4,1,1,-;mlx5_core 0000:18:00.0: Port module event[error]: module 0, Cable "
                   "error, High Temperature");
       },
       {"WARN log.optics node"}},
      {"a slot with too little power",
       [](Patient& p) {
         add_lines(p,
                   "4,1,1,-;mlx5_core 0000:18:00.0: mlx5_pcie_event:301: Detected insufficient "
                   "power on the PCIe slot (27W).");
       },
       {"WARN log.power node"}},
      {"peermem of another OFED",
       [](Patient& p) {
         add_lines(p,
                   "4,1,1,-;nvidia_peermem: disagrees about version of symbol "
                   "ib_register_peer_memory_client");
       },
       {"WARN log.peermem node"}},
      {"a refused DMA-BUF",
       [](Patient& p) {
         add_lines(p,
                   "4,1,1,-;NVRM: dma-buf attach failed: topology not supported for mapping type "
                   "FORCE_PCIE");
       },
       {"WARN log.dmabuf node"}},
      {"a fault of the IOMMU",
       [](Patient& p) {
         add_lines(p, "4,1,1,-;AMD-Vi: Event logged [IO_PAGE_FAULT device=18:00.0 address=0x0]");
       },
       {"WARN log.iommu node"}},
      {"PCIe lost a transfer of a NIC",
       [](Patient& p) {
         add_lines(p,
                   "3,1,1,-;mlx5_core 0000:40:00.0: PCIe Bus Error: severity=Uncorrectable "
                   "(Non-Fatal), type=Transaction Layer, (Requester ID)");
       },
       {"WARN log.aer node"}},
      {"a function that the driver could not start",
       [](Patient& p) {
         add_lines(p,
                   "3,1,1,-;mlx5_core 0000:40:00.0: probe_one:1770:(pid 9): mlx5_init_one failed "
                   "with error code -110");
       },
       {"WARN log.driver node"}},
      {"a transmit queue stands still",
       [](Patient& p) {
         add_lines(p,
                   "2,1,1,-;mlx5_core 0000:40:00.0 ens1: NETDEV WATCHDOG: CPU: 3: transmit queue 3 "
                   "timed out 5432 ms");
       },
       {"WARN log.driver node"}},
      {"modules of two stacks",
       [](Patient& p) {
         add_lines(p, "4,1,1,-;mlx5_ib: disagrees about version of symbol ib_register_device");
       },
       {"WARN log.driver node"}},
      {"memory that could not be pinned",
       [](Patient& p) {
         add_lines(p, "4,1,1,-;ib_umem_get: failed to get user pages, nr_pages=512, flags=1");
       },
       {"WARN log.pinning node"}},
      {"memory keys are used up",
       [](Patient& p) {
         add_lines(p,
                   "3,1,1,-;mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 41231): "
                   "CREATE_MKEY(0x200) op_mod(0x0) failed, status no resources(0xf), syndrome "
                   "(0x2aac7c), err(-11)");
       },
       {"WARN log.refused node"}},
      {"a GPU off its bus",
       [](Patient& p) {
         add_lines(p,
                   "4,1,1,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=9, name=x, GPU has fallen off the "
                   "bus.");
       },
       {"WARN log.gpu node"}},
      {"lines about devices that are none of ours",
       [](Patient& p) {
         add_lines(p,
                   "3,1,1,-;nvme 0000:ff:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal)\n"
                   "3,1,1,-;ahci 0000:00:1f.2: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 "
                   "address=0xf0000 flags=0x0000]\n"
                   "4,1,1,-;ksmbd: Unknown symbol rdma_create_id (err -2)\n"
                   "3,1,1,-;nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid "
                   "context, skipping further processing\n"
                   "2,1,2,-;e1000e 0000:fe:1f.6 eno1: NETDEV WATCHDOG: CPU: 3: transmit queue 0 "
                   "timed out 5432 ms");
       },
       {}},
      {"a log that fills the disk",
       [](Patient& p) {
         std::string lines;
         for (int n = 0; n < 100; ++n) {
           lines +=
               "3,1," + std::to_string(n) +
               ",-;mlx5_core 0000:18:00.0: mlx5_cmd_out_err:839: ACCESS_REG(0x805) op_mod(0x1) "
               "failed, status bad parameter(0x3)\n";
         }
         add_lines(p, lines);
       },
       {"WARN log.flood node"}},
      {"a RoCE port without a GID of version 2",
       [](Patient& p) {
         const auto state = p.paths("infiniband/mlx5_0/ports/1/state").at(0);
         const auto types = state.substr(0, state.size() - 5) + "gid_attrs/types/";
         for (const auto& path : p.paths("")) {
           if (path.starts_with(types)) p.text(path, "IB/RoCE v1");
         }
       },
       {"FAIL roce.gid mlx5_0/1"},
       "hgx-h100-roce",
       roce},
      {"an MTU of 1500",
       [](Patient& p) { p.set("/net/enp26s0np0/mtu", "1500"); },
       {"WARN roce.mtu mlx5_0/1/enp26s0np0"},
       "hgx-h100-roce",
       roce},
      {"a sender that does not slow down",
       [](Patient& p) { p.text(ecn_folder(p, kRoceNetdev) + "roce_rp/enable/3", "0"); },
       {"WARN roce.ecn mlx5_0/1"},
       "hgx-h100-roce",
       roce_with_ecn},
      {"rails that answer for each other",
       [](Patient& p) { p.text("/proc/sys/net/ipv4/conf/all/arp_ignore", "0"); },
       {"WARN roce.arp enp26s0np0", "WARN roce.arp enp60s0np0"},
       "hgx-h100-roce",
       rails_that_answer_for_themselves},
      {"a compute NIC that has the default route",
       [](Patient& p) {
         p.bytes(
             "/proc/1/net/route",
             "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
             "enp60s0np0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n");
       },
       {"WARN net.management-nic mlx5_3"},
       "hgx-h100-roce",
       roce},
      {"a link that goes down again and again",
       [](Patient& p) {
         std::string lines;
         for (const char* seconds : {"5000", "5100", "5200"}) {
           lines += "4,1," + std::string(seconds) +
                    "000000,-;mlx5_core 0000:1a:00.0 enp26s0np0: Link down\n";
         }
         p.bytes("/dev/kmsg", lines).text("/proc/uptime", "6000.00 1.00");
       },
       {"WARN link.flap mlx5_0"},
       "hgx-h100-roce",
       roce},
      {"a NIC of another link layer",
       [](Patient& p) { p.set("infiniband/mlx5_3/ports/1/link_layer", "Ethernet"); },
       {"WARN link.layer mlx5_3"}},
      {"a VF that is missing",
       [](Patient& p) { p.text(at_nic3("sriov_numvfs"), "3"); },
       {"FAIL sriov.vf-count 0000:40:00.0"},
       "dgx-h100",
       with_vfs},
      {"a VF without a driver",
       [](Patient& p) {
         p.unplug("mlx5_21").drop(std::string(kVf2) + "/driver");
         p.bytes(std::string(kVf2) + "/uevent", "PCI_CLASS=20700\nPCI_ID=15B3:101E\n");
       },
       {"WARN sriov.vf-driver 0000:40:00.2"},
       "dgx-h100",
       with_vfs},
      {"a VF without an RDMA device",
       [](Patient& p) { p.unplug("mlx5_21"); },
       {"FAIL sriov.vf-rdma 0000:40:00.2"},
       "dgx-h100",
       with_vfs},
      {"a GPU that is missing",
       [](Patient& p) { p.unplug("0003:00:00.0"); },
       {"FAIL gpu.present node"},
       "azure-nd-h100-v5"},
      {"a GPU without a driver",
       [](Patient& p) { p.unbind("0000:df:00.0"); },
       {"WARN gpu.driver 0000:df:00.0"}},
      {"a driver's container that is not ready",
       [](Patient& p) { p.name("/run/mellanox/drivers/usr"); },
       {"WARN drv.container node"}},
      {"no huge pages for an EFA",
       [](Patient& p) { p.text("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0"); },
       {"WARN host.hugepages node"},
       "aws-p5",
       efa},
      {"NCCL does not know of switches that are hidden",
       [](Patient& p) { p.drop("/etc/nccl.conf"); },
       {"WARN topo.vm-file node"},
       "h200-flat-kvm",
       told_vm},
      {"a network of Lustre that is down",
       [](Patient& p) {
         p.replace("/sys/kernel/debug/lnet/nis", "o2ib                up",
                   "o2ib              down");
       },
       {"FAIL lnet.networks o2ib"},
       "dgx-h100",
       lustre},
      {"a link of a known machine is slow",
       [](Patient& p) {
         p.set("0101:00:00.0/infiniband/mlx5_ib0/ports/1/rate", "200 Gb/sec (2X NDR)");
       },
       {"FAIL link.rate mlx5_ib0/1"},
       "azure-nd-h100-v5"},
      {"PFC for a priority that no DSCP has",
       [](Patient& p) {
         for (const auto& netdev : netdevs_of_rails()) p.dcb(netdev, flow_answer(0x08, {{0, 0}}));
       },
       rails("WARN roce.flow-control "), "hgx-h100-roce"},
      {"one rail without PFC",
       [](Patient& p) {
         for (const auto& netdev : netdevs_of_rails()) p.dcb(netdev, flow_answer(0x08, {{26, 3}}));
         p.dcb("enp60s0np0", flow_answer(0, {{26, 3}}));
       },
       {"WARN roce.flow-control mlx5_3/1/enp60s0np0"},
       "hgx-h100-roce"},
      {"a default traffic class that does not pause",
       [](Patient& p) {
         for (const auto& netdev : netdevs_of_rails()) p.dcb(netdev, flow_answer(0x08, {{26, 3}}));
         p.text("/sys/kernel/config/rdma_cm/mlx5_3/ports/1/default_roce_tos", "96");
       },
       {"WARN roce.traffic-class mlx5_3/1/enp60s0np0"},
       "hgx-h100-roce"},
      {"a switch's port takes small frames alone",
       [](Patient& p) {
         const auto file = p.paths("net/enp60s0np0/operstate").at(0);
         p.text(file.substr(0, file.rfind('/')) + "/ifindex", "4242");
         p.text("/run/systemd/netif/lldp/4242", "port=Ethernet1/7 vlan=100 frame=576");
       },
       {"WARN roce.switch-port enp60s0np0"},
       "hgx-h100-roce"},
      {"the firmware of one NIC allows fewer virtual functions",
       [](Patient& p) { p.text(at_nic3("sriov_totalvfs"), "8"); },
       {"WARN sriov.firmware mlx5_3"}},
      {"devlink's answer is cut",
       [](Patient& p) { p.text("/.netlink/devlink/pci.0000:40:00.0/0000", "0011"); },
       {"UNKNOWN sriov.firmware mlx5_3"}},
      {"a VF without a GUID",
       [](Patient& p) {
         p.text(at_nic3("sriov_totalvfs"), "16").text(at_nic3("sriov_numvfs"), "1");
         p.vfs("ibp64s0", vf_answer({.number = 0, .link = 0, .node_guid = 0}));
       },
       {"FAIL sriov.vf-count 0000:40:00.0", "WARN sriov.vf-settings ibp64s0/vf0"}},
      {"a NIC fell off the bus",
       [](Patient& p) { p.unplug("0101:00:00.0"); },
       {"FAIL pci.nic-present 0101:00:00.0", "WARN topo.missing-nic 0001:00:00.0"},
       "azure-nd-h100-v5"},
      {"no InfiniBand on a machine that is sold without it, too",
       [](Patient& p) {
         for (int n = 1; n <= 8; ++n) p.unplug("010" + std::to_string(n) + ":00:00.0");
       },
       {"WARN net.management-nic mlx5_an0", "WARN pci.nic-present node"},
       "azure-nd-h100-v5"},
      {"an EFA is missing",
       [](Patient& p) { p.unplug("0000:74:00.0"); },
       {"FAIL pci.nic-present node", "SKIP topo.missing-nic node"},
       "aws-p5",
       efa},
      {"a NIC that can do RDMA, and no module for it",
       [](Patient& p) { p.drop("/proc/1/net/route"); },
       {"WARN pci.nic-driver 0000:41:00.0"},
       "gpus-only",
       broadcom},
      {"a GPU of a machine with a real tree is missing",
       [](Patient& p) { p.unplug("0000:53:00.0"); },
       {"FAIL gpu.present node"},
       "aws-p5",
       efa},
      {"an EFA without a driver",
       [](Patient& p) {
         p.unplug("rdmap116s0").unbind("0000:74:00.0");
         for (const auto& path : p.paths("")) {
           if (path.find("/0000:74:00.0/infiniband") != std::string::npos) p.drop(path);
         }
       },
       {"FAIL pci.nic-driver 0000:74:00.0", "SKIP link.port-state 0000:74:00.0"},
       "aws-p5",
       efa},
      {"the folder of RDMA devices cannot be read",
       [](Patient& p) { p.unreadable("/sys/class/infiniband", "EACCES"); }, unknown_nics()},
      {"RDMA devices may be in another namespace",
       [](Patient& p) {
         p.text("/sys/module/ib_core/parameters/netns_mode", "N")
             .unplug("mlx5_3")
             .unplug("uverbs3");
       },
       {"UNKNOWN pci.nic-driver 0000:40:00.0", "WARN dev.netns-mode node"}},
      {"nobody says whether RDMA namespaces are shared",
       [](Patient& p) { p.drop("/sys/module/ib_core/parameters/netns_mode"); },
       {"UNKNOWN dev.netns-mode node"}},
      {"a slot that does not tell its link",
       [](Patient& p) { p.drop(at_nic3("current_link_width")).drop(at_nic3("config")); },
       {"UNKNOWN pci.extended-tags mlx5_3", "UNKNOWN pci.link mlx5_3",
        "UNKNOWN pci.max-payload mlx5_3", "UNKNOWN pci.max-read-request mlx5_3",
        "UNKNOWN pci.relaxed-ordering mlx5_3"}},
      {"a /dev that is a container's",
       [](Patient& p) {
         for (int n = 0; n < 12; ++n) p.drop("/dev/infiniband/uverbs" + std::to_string(n));
       },
       {"UNKNOWN dev.uverbs mlx5_0", "UNKNOWN dev.uverbs mlx5_1", "UNKNOWN dev.uverbs mlx5_10",
        "UNKNOWN dev.uverbs mlx5_11", "UNKNOWN dev.uverbs mlx5_2", "UNKNOWN dev.uverbs mlx5_3",
        "UNKNOWN dev.uverbs mlx5_4", "UNKNOWN dev.uverbs mlx5_5", "UNKNOWN dev.uverbs mlx5_6",
        "UNKNOWN dev.uverbs mlx5_7", "UNKNOWN dev.uverbs mlx5_8", "UNKNOWN dev.uverbs mlx5_9"}},
      {"a storage card is down",
       [](Patient& p) {
         p.set("infiniband/mlx5_1/ports/1/state", "1: DOWN");
         p.set("infiniband/mlx5_2/ports/1/state", "1: DOWN");
       },
       {"WARN link.port-state mlx5_1/1", "WARN link.port-state mlx5_2/1"}},
      {"no name of a governor",
       [](Patient& p) { p.text("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", ""); },
       {"UNKNOWN host.governor /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"}},
      {"a governor that may not be read",
       [](Patient& p) {
         p.unreadable("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "EACCES");
       },
       {"UNKNOWN host.governor /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"}},
      {"a kernel without a release",
       [](Patient& p) { p.unreadable("/proc/sys/kernel/osrelease", "EACCES"); },
       {"UNKNOWN host.kernel node"}},
      {"modules cannot be read",
       [](Patient& p) { p.unreadable("/proc/modules", "EACCES"); },
       {"UNKNOWN drv.stack node", "UNKNOWN gdr.gdrcopy node", "UNKNOWN gdr.peermem node",
        "UNKNOWN gdr.storage node", "UNKNOWN lnet.networks node", "UNKNOWN nfs.module node"}},
      {"the GPU driver's version is hidden, and no peermem",
       [](Patient& p) {
         p.replace("/proc/modules", "nvidia_peermem ", "something_else ");
         p.drop("/sys/module/nvidia_peermem");
         p.unreadable("/proc/driver/nvidia/version", "EACCES");
       },
       {"UNKNOWN gdr.route node"}},
      {"the kernel's log is closed", [](Patient& p) { p.unreadable("/dev/kmsg", "EPERM"); },
       unknown_log()},
      {"the kernel's log is empty", [](Patient& p) { p.bytes("/dev/kmsg", ""); }, unknown_log()},
      {"changes of RoCE links that cannot be read",
       [](Patient& p) { p.unreadable("/dev/kmsg", "EPERM"); }, unknown_log_and_flaps(),
       "hgx-h100-roce", roce},
      {"no kubelet",
       [](Patient& p) {
         p.drop("/var/lib/kubelet/device-plugins/kubelet.sock").drop("/proc/812");
         p.name("/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint");
       },
       {"WARN runtime.device-plugins node"}},
      {"mounts cannot be read",
       [](Patient& p) { p.unreadable("/proc/1/mountstats", "EACCES"); },
       {"UNKNOWN nfs.transport node"}},
      {"RoCE alone, and no ib_umad",
       [](Patient& p) { forget_module(p, "ib_umad"); },
       {"WARN drv.modules ib_umad"},
       "hgx-h100-roce",
       roce},
      {"a RoCE port with link-local GIDs alone",
       [](Patient& p) {
         const auto state = p.paths("infiniband/mlx5_0/ports/1/state").at(0);
         const auto gids = state.substr(0, state.size() - 5) + "gids/";
         for (const auto& path : p.paths("")) {
           if (!path.starts_with(gids) || path == gids + "0" || path == gids + "1") continue;
           p.text(path, "0000:0000:0000:0000:0000:0000:0000:0000");
         }
       },
       {"WARN roce.gid mlx5_0/1"},
       "hgx-h100-roce",
       roce},
      {"routes cannot be read",
       [](Patient& p) { p.unreadable("/proc/1/net/route", "EACCES"); },
       {"UNKNOWN host.readable /proc/1/net/route", "UNKNOWN net.management-nic node"}},
      {"NUMA nodes cannot be read",
       [](Patient& p) {
         p.drop("/sys/devices/system/node").unreadable("/sys/devices/system/node", "EACCES");
       },
       {"UNKNOWN host.numa node", "UNKNOWN host.readable /sys/devices/system/node"}},
      {"a RoCE port whose GIDs cannot be read",
       [](Patient& p) {
         const auto state = p.paths("infiniband/mlx5_0/ports/1/state").at(0);
         const auto gids = state.substr(0, state.size() - 5) + "gids";
         p.drop(gids).unreadable(gids, "EACCES");
       },
       {"UNKNOWN host.readable "
        "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:1a:00.0/infiniband/"
        "mlx5_0/ports/1/gids",
        "UNKNOWN roce.gid mlx5_0/1"},
       "hgx-h100-roce",
       roce},
      {"a RoCE port whose netdev is away",
       [](Patient& p) {
         const auto state = p.paths("infiniband/mlx5_0/ports/1/state").at(0);
         const auto port = state.substr(0, state.size() - 5);
         for (const auto& path : p.paths("")) {
           if (path.starts_with(port + "gid")) p.drop(path);
         }
         p.unplug(kRoceNetdev);
       },
       {"UNKNOWN roce.gid mlx5_0/1"},
       "hgx-h100-roce",
       roce},
      {"a VF whose RDMA device may be in another namespace",
       [](Patient& p) {
         p.text("/sys/module/ib_core/parameters/netns_mode", "N").unplug("mlx5_21");
         p.unplug("uverbs21");
       },
       {"UNKNOWN sriov.vf-rdma 0000:40:00.2"},
       "dgx-h100",
       with_vfs},
      {"a VF without a GUID in a pod",
       [](Patient& p) {
         p.text("/sys/module/ib_core/parameters/netns_mode", "N").unplug("mlx5_20");
         p.vfs("ibp64s0", vf_answer({.number = 0, .link = 0, .node_guid = 0}));
       },
       {"FAIL sriov.vf-settings ibp64s0/vf0"},
       "dgx-h100",
       with_vfs},
  };
  return kFaults;
}

/// What people read of each machine, for review: the faults above, and what is said of them.
std::string page_of_faults() {
  std::string page;
  for (const auto& fault : faults()) {
    auto patient = fault.before();
    const auto before = patient.examine();
    fault.make(patient);
    const auto after = patient.examine();
    page +=
        std::string(page.empty() ? "" : "\n") + "# " + fault.name + " (" + fault.machine + ")\n";
    page += described(complaints_by(before, after), after);
  }
  return page;
}

TEST(Doctor, says_of_each_broken_machine_what_the_page_has) {
  expect_page("broken.txt", page_of_faults());
}

class Broken : public testing::TestWithParam<std::size_t> {};

TEST_P(Broken, is_noticed_by_these_checks_alone) {
  const auto& fault = faults()[GetParam()];
  const testing::ScopedTrace trace(__FILE__, __LINE__, fault.name);
  auto patient = fault.before();
  const auto before = patient.examine();
  fault.make(patient);
  EXPECT_THAT(complaints_by(before, patient.examine()), testing::ElementsAreArray(fault.expected));
}

INSTANTIATE_TEST_SUITE_P(Machines, Broken, testing::Range<std::size_t>(0, faults().size()));

/// Each word of a rule that is a complaint is one that a fault above brings about; these are told
/// elsewhere.
TEST(Doctor, has_a_broken_machine_for_every_complaint_of_every_check) {
  const std::vector<std::string> elsewhere = {
      "WARN link.errors",                               // over_time_test.cpp
      "WARN net.stable-names",                          // others_test.cpp
      "FAIL bench.loopback",    "WARN bench.loopback",  // bench_test.cpp
      "UNKNOWN bench.loopback", "FAIL pci.acs"};        // acs_test.cpp
  for (const auto* check : checks::all_checks()) {
    for (const auto* state : {"FAIL", "WARN", "UNKNOWN"}) {
      const auto said = std::string(state) + " " + std::string(check->id);
      if (check->rule.find(state) == std::string_view::npos || contains(elsewhere, said)) continue;
      const auto shown = std::ranges::any_of(faults(), [&](const Fault& fault) {
        return std::ranges::any_of(fault.expected,
                                   [&](const auto& line) { return line.starts_with(said + " "); });
      });
      EXPECT_TRUE(shown) << said;
    }
  }
}

}  // namespace
}  // namespace railhead::test
