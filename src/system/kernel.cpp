// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "host/boot_id.h"
#include "system/gather.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

constexpr std::size_t kMaxCpus = 4096;

/// The group that a function is in, and how its addresses are translated.
/// Source: Linux Documentation/ABI/testing/sysfs-kernel-iommu_groups.
void read_iommu_group(const Gather& gather, const node::PciAddress& address) {
  const auto link = "/sys/bus/pci/devices/" + address.str() + "/iommu_group";
  auto target = fact_of(link, gather.host.readlink(link));
  if (target.value) {
    const auto group = host::base_name(*target.value);
    gather.text("/sys/kernel/iommu_groups/" + group + "/type");
    target.value = group;
  }
  gather.into.texts.insert_or_assign(link, std::move(target));
}

}  // namespace

void read_kernel(const Gather& gather) {
  for (const auto* path :
       {"/proc/sys/kernel/osrelease", host::kBootId, "/proc/sys/net/ipv4/conf/all/arp_ignore",
        "/proc/sys/net/ipv4/conf/all/arp_announce",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"}) {
    gather.text(path);
  }
  gather.text("/proc/cmdline", kept_kernel_arguments);
  gather.text("/proc/1/net/route", host::keep_routes);
  gather.text("/proc/net/route", host::keep_routes);
  for (const auto& nic : gather.node.nics) {
    if (nic.pci) read_iommu_group(gather, *nic.pci);
  }
  for (const auto& gpu : gather.node.gpus) read_iommu_group(gather, gpu.pci);
  for (const auto& device : gather.node.pci) {
    if (device.is_data_direct()) read_iommu_group(gather, device.address);
  }
  const std::string cpus = "/sys/devices/system/cpu";
  const auto online = gather.text(cpus + "/online");
  const auto numbers = parse_range_list(online.value.value_or(""), kMaxCpus);
  if (!numbers) return;
  for (const auto cpu : *numbers) {
    gather.text(cpus + "/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor");
  }
}

}  // namespace railhead::system
