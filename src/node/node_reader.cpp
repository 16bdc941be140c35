// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "base/find.h"
#include "node/char_device_reader.h"
#include "node/ddp_reader.h"
#include "node/gpu_reader.h"
#include "node/nccl_reader.h"
#include "node/netdev_reader.h"
#include "node/nic_reader.h"
#include "node/node_reader.h"
#include "node/pci_reader.h"
#include "node/platform_reader.h"
#include "node/reader.h"
#include "node/sysfs_class.h"
#include "node/vdpa_reader.h"

namespace railhead::node {
namespace {

/// Something that is read as a whole, and what could not be used of it.
template <typename T>
struct Part {
  T value{};
  std::vector<Problem> problems;

  template <typename Read>
  void refresh(Reader& reader, Read read) {
    value = read(reader);
    problems = reader.take_problems();
  }
};

/// Functions to keep whatever their class says: those with an RDMA device or an NVIDIA driver.
std::set<PciAddress> functions_in_use(const ClassList& rdma, const NvidiaDriver& nvidia) {
  std::set<PciAddress> functions = nvidia.bound;
  functions.insert(nvidia.in_proc.begin(), nvidia.in_proc.end());
  for (const auto& [name, item] : rdma.items) {
    if (item.entry.pci) functions.insert(*item.entry.pci);
  }
  return functions;
}

std::vector<Gpu> read_gpus(Reader& reader, const NvidiaDriver& nvidia,
                           const std::vector<PciDevice>& pci, NvidiaInformation& information) {
  auto gpus = read_nvidia_gpus(reader, nvidia, pci, information);
  for (auto& gpu : read_drm_gpus(reader, pci)) gpus.push_back(std::move(gpu));
  std::ranges::stable_sort(gpus, {}, &Gpu::pci);
  return gpus;
}

using Vdpa = std::map<PciAddress, std::vector<VdpaDevice>>;

void take_vdpa(const Vdpa& devices, std::vector<PciDevice>& pci) {
  for (const auto& [address, own] : devices) {
    if (auto* device = find_sorted(pci, &PciDevice::address, address)) device->vdpa = own;
  }
}

/// Functions whose netdev is new: their driver may have been loaded anew by devlink, without being
/// unbound.
std::set<PciAddress> functions_of_fresh(const ClassList& net) {
  std::set<PciAddress> functions;
  for (const auto& [name, item] : net.items) {
    if (item.fresh && item.entry.pci) functions.insert(*item.entry.pci);
  }
  return functions;
}

/// No machine has more (16 GPUs; 8 NICs of 252 VFs), and what is said of each pair of a GPU and a
/// NIC takes memory and time by their product. A snapshot comes from a stranger.
constexpr std::size_t kMostGpus = 256;
constexpr std::size_t kMostNics = 4096;

template <typename Device>
void keep_first(std::vector<Device>& devices, std::size_t most, const std::string& path,
                const std::string& what, Reader& reader) {
  if (devices.size() <= most) return;
  reader.malformed(path, std::to_string(devices.size()) + " " + what + "; those after the first " +
                             std::to_string(most) + " are left out");
  devices.resize(most);
}

}  // namespace

/// In the order in which a machine is read, which is that of its problems.
struct NodeReader::Parts {
  Part<Platform> platform;
  ClassList rdma;
  ClassList net;
  Part<NvidiaDriver> nvidia;
  PciList pci;
  DdpPackages packages;
  std::vector<Problem> package_problems;
  Part<Vdpa> vdpa;
  NvidiaInformation information;
  Part<std::vector<Gpu>> gpus;
  Part<RdmaNetns> netns;
  CharDeviceList nodes;
  NicList nics;
  NetdevList netdevs;
  Part<std::optional<CharDevice>> rdma_cm;
  Part<std::optional<CharDevice>> gdrdrv;
  Part<std::vector<FunctionDevice>> function_devices;
  Part<std::vector<TextFile>> cdi;
  Part<std::optional<TextFile>> nccl_file;

  Again again_of(const host::MachineChanges& changes) const;
  Node refresh(Reader& reader, Again again, const host::MachineChanges& changes);
  void report(Reader& reader) const;
};

/// With all that follows from what has changed.
Again NodeReader::Parts::again_of(const host::MachineChanges& changes) const {
  Again again{.everything = false,
              .rdma = changes.rdma,
              .nodes = changes.nodes,
              .netdevs = changes.netdevs,
              .pci = {}};
  for (const auto& text : changes.pci) {
    if (const auto address = pci_address_of(text)) again.pci.insert(*address);
  }
  pci.add_relatives(again.pci);
  netdevs.add_relatives(again.netdevs);
  nics.add_relatives(rdma, net, again.netdevs, again.rdma);
  return again;
}

Node NodeReader::Parts::refresh(Reader& reader, Again again, const host::MachineChanges& changes) {
  const bool all = again.everything;
  if (all) platform.refresh(reader, read_platform);
  rdma.refresh(reader, "/sys/class/infiniband", again.rdma, again);
  net.refresh(reader, "/sys/class/net", again.netdevs, again);
  nics.add_relatives(rdma, net, again.netdevs, again.rdma);

  const auto nvidia_before = nvidia.value;
  nvidia.refresh(reader, read_nvidia_driver);
  for (const auto& address : again.pci) information.forget(address);
  auto driven = nvidia.value.bound;
  driven.insert(nvidia.value.in_proc.begin(), nvidia.value.in_proc.end());
  information.keep_only(driven);

  Node node;
  pci.refresh(reader, again);
  node.pci = pci.kept(reader, functions_in_use(rdma, nvidia.value));
  auto asked_again = again.pci;
  if (!all) asked_again.merge(functions_of_fresh(net));
  packages.fill(reader, node.pci, asked_again);
  package_problems = reader.take_problems();
  if (all || !again.pci.empty()) vdpa.refresh(reader, read_vdpa);
  take_vdpa(vdpa.value, node.pci);

  const bool gpus_again =
      all || changes.gpus || !again.pci.empty() || nvidia.value != nvidia_before;
  if (gpus_again) {
    gpus.refresh(
        reader, [&](Reader& from) { return read_gpus(from, nvidia.value, node.pci, information); });
  }
  if (gpus_again && !nvidia.value.bound.empty()) gdrdrv.refresh(reader, read_gdrdrv);
  netns.refresh(reader, read_rdma_netns);
  nodes.refresh(reader, again);
  nics.refresh(reader, rdma, again);
  node.nics = nics.nics(reader, netns.value, rdma, net, node.pci, nodes.by_device());
  node.netdevs = netdevs.refresh(reader, net, nics.parents(), again);
  drop_bond_members(node.nics, node.netdevs);
  if (all || !again.nodes.empty() || !again.rdma.empty()) rdma_cm.refresh(reader, read_rdma_cm);
  if (all || !again.pci.empty()) {
    function_devices.refresh(reader,
                             [&](Reader& from) { return read_function_devices(from, node.pci); });
  }
  if (all || changes.cdi) cdi.refresh(reader, read_cdi);
  if (all) nccl_file.refresh(reader, read_nccl_file);

  node.name = platform.value.name;
  node.numa = platform.value.numa;
  node.gpus = gpus.value;
  node.rdma_cm = rdma_cm.value;
  if (!nvidia.value.bound.empty()) node.gdrdrv = gdrdrv.value;
  node.function_devices = function_devices.value;
  node.rdma_netns = netns.value;
  node.dmi = platform.value.dmi;
  node.cpu = platform.value.cpu;
  node.hypervisor = platform.value.hypervisor;
  node.cdi = cdi.value;
  node.nccl_file = nccl_file.value;
  report(reader);
  keep_first(node.gpus, kMostGpus, "/sys/bus/pci/devices", "GPUs", reader);
  keep_first(node.nics, kMostNics, "/sys/class/infiniband", "RDMA NICs", reader);
  node.problems = reader.take_problems();
  return node;
}

void NodeReader::Parts::report(Reader& reader) const {
  reader.report(platform.problems);
  rdma.report(reader);
  net.report(reader);
  reader.report(nvidia.problems);
  pci.report(reader);
  reader.report(package_problems);
  reader.report(vdpa.problems);
  reader.report(gpus.problems);
  reader.report(netns.problems);
  nodes.report(reader);
  nics.report(reader);
  netdevs.report(reader);
  reader.report(rdma_cm.problems);
  reader.report(gdrdrv.problems);
  reader.report(function_devices.problems);
  reader.report(cdi.problems);
  reader.report(nccl_file.problems);
}

NodeReader::NodeReader() = default;
NodeReader::~NodeReader() = default;

Result<Node> NodeReader::refresh(host::Host& host, const Again& again,
                                 const host::MachineChanges& changes) {
  Reader reader(host);
  Node node = parts_->refresh(reader, again, changes);
  if (!reader.shortage()) return node;
  parts_.reset();
  return *reader.shortage();
}

Result<Node> NodeReader::read(host::Host& host) {
  if (!parts_) parts_ = std::make_unique<Parts>();
  return refresh(host, Again{.everything = true}, {});
}

Result<Node> NodeReader::read_again(host::Host& host, const host::MachineChanges& changes) {
  if (!parts_ || changes.everything) {
    parts_.reset();
    return read(host);
  }
  return refresh(host, parts_->again_of(changes), changes);
}

Node NodeReader::read_once(host::Host& host) {
  Reader reader(host);
  return Parts().refresh(reader, Again{.everything = true}, {});
}

Node read_node(host::Host& host) {
  return NodeReader::read_once(host);
}

}  // namespace railhead::node
