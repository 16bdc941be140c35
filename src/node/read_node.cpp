// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "node/char_device_reader.h"
#include "node/ddp_reader.h"
#include "node/gpu_reader.h"
#include "node/nccl_reader.h"
#include "node/netdev_reader.h"
#include "node/nic_reader.h"
#include "node/node.h"
#include "node/pci_reader.h"
#include "node/platform_reader.h"
#include "node/reader.h"
#include "node/sysfs_class.h"
#include "node/vdpa_reader.h"

namespace railhead {
namespace {

/// Functions to keep whatever their class says: those with an RDMA device or an NVIDIA driver.
std::set<PciAddress> functions_in_use(const std::vector<ClassEntry>& rdma,
                                      const NvidiaDriver& nvidia) {
  std::set<PciAddress> functions = nvidia.bound;
  functions.insert(nvidia.in_proc.begin(), nvidia.in_proc.end());
  for (const auto& entry : rdma) {
    if (entry.pci) functions.insert(*entry.pci);
  }
  return functions;
}

std::set<std::string> parents_of_soft_devices(const std::vector<Nic>& nics) {
  std::set<std::string> parents;
  for (const auto& nic : nics) {
    if (nic.parent) parents.insert(*nic.parent);
  }
  return parents;
}

std::vector<Gpu> read_gpus(Reader& reader, const NvidiaDriver& nvidia,
                           const std::vector<PciDevice>& pci) {
  auto gpus = read_nvidia_gpus(reader, nvidia, pci);
  for (auto& gpu : read_amd_gpus(reader, pci)) gpus.push_back(std::move(gpu));
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const Gpu& a, const Gpu& b) { return a.pci < b.pci; });
  return gpus;
}

void take_vdpa(Reader& reader, std::vector<PciDevice>& pci) {
  auto devices = read_vdpa(reader);
  for (auto& function : pci) {
    const auto own = devices.find(function.address);
    if (own != devices.end()) function.vdpa = std::move(own->second);
  }
}

}  // namespace

Node read_node(Host& host) {
  Reader reader(host);
  Node node;
  node.name = read_hostname(reader);
  node.dmi = read_dmi(reader);
  const auto processor = read_first_processor(reader);
  node.cpu = cpu_of(processor);
  node.hypervisor = read_hypervisor(reader, processor);
  node.numa = read_numa(reader);

  const auto rdma = class_entries(reader, "/sys/class/infiniband");
  const auto net = class_entries(reader, "/sys/class/net");
  const auto nvidia = read_nvidia_driver(reader);
  node.pci = read_pci(reader, functions_in_use(rdma, nvidia));
  read_ddp_packages(reader, node.pci);
  take_vdpa(reader, node.pci);
  node.gpus = read_gpus(reader, nvidia, node.pci);
  node.rdma_netns = read_rdma_netns(reader);
  node.nics = read_nics(reader, node.rdma_netns, rdma, net, node.pci);
  node.netdevs = read_netdevs(reader, net, parents_of_soft_devices(node.nics));
  drop_bond_members(node.nics, node.netdevs);
  node.rdma_cm = read_rdma_cm(reader);
  node.cdi = read_cdi(reader);
  node.nccl_file = read_nccl_file(reader);
  node.problems = reader.take_problems();
  return node;
}

}  // namespace railhead
