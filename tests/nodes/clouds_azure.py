# SPDX-License-Identifier: Apache-2.0
"""Virtual machines of Azure. Hyper-V puts each function that it passes through on a PCI domain of
its own, below a host bridge that is a device of its bus (VMBUS): sysfs shows no switch at all.

All have accelerated networking: the synthetic netdev eth0 holds the default route and has the
netdev of a virtual function below it, whose PCI domain changes with each allocation.
"""
import hashlib

import hardware as hw
from machine import Machine
from registry import machine

# Chassis asset tag of every Azure virtual machine. Source: cloud-init, sources/DataSourceAzure.py.
AZURE = ("Microsoft Corporation", "Virtual Machine", "7783-7084-3265-9085-8269-3286-77")
VMBUS = "/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00"

A100_SXM = (0x030200, 0x10de, 0x20b0, 0x10de, 0x134f, "nvidia", 16, 16)
V100_SXM2 = (0x030200, 0x10de, 0x1db5, 0x10de, 0x1249, "nvidia", 8, 16)
H200 = (0x030200, 0x10de, 0x2335, 0x10de, 0x18be, "nvidia", 32, 16)
CX4LX_VF = (0x020000, 0x15b3, 0x1016, 0x15b3, 0x0190, "mlx5_core", None, None)
MI300X_VF = (0x120000, 0x1002, 0x74b5, 0x1002, 0x74a1, "amdgpu", 32, 16)
CX5_VF = (0x020700, 0x15b3, 0x1018, 0x15b3, 0x0003, "mlx5_core", 8, 16)
CX6_VF = (0x020700, 0x15b3, 0x101c, 0x15b3, 0x0007, "mlx5_core", 16, 16)
CX7_VF = (0x020700, 0x15b3, 0x101e, 0x15b3, 0x0041, "mlx5_core", 32, 16)
MANA_VF = (0x020000, 0x1414, 0x00ba, 0x1414, 0x00b9, "mana", None, None)


def vmbus_folder(m, what, second=None):
    """A device of the bus; `second`: the second field of its GUID."""
    code = hashlib.sha256(f"{m.name}/{what}".encode()).hexdigest()
    fields = [code[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))]
    return f"{VMBUS}/" + "-".join([fields[0], second or fields[1], *fields[2:]])


def azure(name, numa, cpu):
    m = Machine(name, numa, *AZURE, hypervisor=True, cpu=cpu)
    m.gid_slots, m.pkey_slots = 2, 2
    m.rdma_stack()
    return m


def passed_through(m, domain, numa):
    """The host bridge of one function, and its address DDDD:00:00.0. The PCI domain is the second
    field of the bus device's GUID. Source: Linux drivers/pci/controller/pci-hyperv.c,
    hv_pci_probe()."""
    folder = vmbus_folder(m, domain, f"{domain:04x}")
    return m.host_bridge(f"pci{domain:04x}:00", numa, folder), f"{domain:04x}:00:00.0"


def infiniband(m, nics, model, gbps, prefix="mlx5_ib"):
    """`nics`: PCI domain and NUMA node of each, in the order of device names."""
    for number, (domain, numa) in enumerate(nics):
        bridge, bdf = passed_through(m, domain, numa)
        place = m.function(bridge, bdf, model, trained=False)
        m.netdev(place, f"ib{number}", kind=32)
        m.rdma(place, f"{prefix}{number}", model, gbps, lid=0x101 + number)


def front_end(m, domain, numa, model=CX4LX_VF, name="mlx5_an0"):
    """eth0 of the virtual switch and the virtual function below it (slot 2 of its domain)."""
    eth0, netdev = vmbus_folder(m, "eth0"), f"enP{domain}s1"
    bridge, _ = passed_through(m, domain, numa)
    place = m.function(bridge, f"{domain:04x}:00:02.0", model)
    m.netdev(place, netdev, master=f"{eth0}/net/eth0")
    m.virtual_netdev("eth0", lower=[(netdev, f"{place.path}/net/{netdev}")], above=eth0)
    m.rdma(place, name, model, 40, "Ethernet", netdev, "10.0.0.4")
    m.routes(default="eth0")


def nccl_file(m, path, text):
    """A topology file and the node-wide configuration of NCCL that names it."""
    m.tree.raw("/etc/nccl.conf", "# NCCL of this image\nNCCL_IB_PCI_RELAXED_ORDERING=1\n"
                                 f"NCCL_TOPO_FILE={path}\n".encode())
    m.tree.raw(path, text.encode())


# Two EPYC 7V12 in four NUMA nodes. NUMA node, then the PCI domains of two GPUs and two NICs.
ND_A100_V4 = [(0, (0x0003, 0x0004), (0x0103, 0x0104)), (1, (0x0001, 0x0002), (0x0101, 0x0102)),
              (2, (0x000d, 0x000e), (0x0107, 0x0108)), (3, (0x000b, 0x000c), (0x0105, 0x0106))]


@machine("azure-nd-a100-v4",
         "Azure ND A100 v4 (ND96asr_v4): eight A100-SXM4 40GB, eight ConnectX-6 virtual functions.",
         "PCI domains, NUMA nodes and CPUs: github.com/Azure/azhpc-images topology/ndv4-topo.xml",
         "@ 8e9d055fb9e1. GPUs 0 and 1 are on NUMA node 1, their NICs have the lowest domains, too;",
         "GPUs 4 to 7 and NICs 4 to 7 stand in the same order. Sockets, PCI ids of the virtual",
         "functions, device names (mlx5_ibN, mlx5_an0: Azure's udev rules) and eth0's are chosen.")
def azure_nd_a100_v4():
    m = azure("azure-nd-a100-v4", [(node, f"{24 * node}-{24 * node + 23}", node // 2)
                                   for node in range(4)], ("AuthenticAMD", 23, 49))
    for domain, numa in sorted((gpu, numa) for numa, gpus, _ in ND_A100_V4 for gpu in gpus):
        m.nvidia_gpu(*passed_through(m, domain, numa), A100_SXM, "NVIDIA A100-SXM4-40GB")
    infiniband(m, sorted((nic, numa) for numa, _, nics in ND_A100_V4 for nic in nics), CX6_VF, 200)
    front_end(m, 0xb3f7, 0)
    return m


# PCI domains of GPU and NIC on each of eight switches, the first four of them on NUMA node 0.
ND_H100_V5 = [(0x0001, 0x0101), (0x0002, 0x0102), (0x0003, 0x0103), (0x0008, 0x0104),
              (0x0009, 0x0105), (0x000a, 0x0106), (0x000b, 0x0107), (0x000c, 0x0108)]
XEON_8480C = ("GenuineIntel", 6, 143)
XEON_8480C_VM = [(0, "0-47", 0), (1, "48-95", 1)]


@machine("azure-nd-h100-v5",
         "Azure ND H100 v5 (ND96isr_H100_v5): eight H100-SXM5, eight ConnectX-7 virtual functions.",
         "PCI domains, NUMA nodes and CPUs: github.com/Azure/azhpc-images topology/ndv5-topo.xml",
         "@ 8e9d055fb9e1. PCI ids of the virtual functions, names and eth0's device are chosen.")
def azure_nd_h100_v5(name="azure-nd-h100-v5", lost=None):
    m = azure(name, XEON_8480C_VM, XEON_8480C)
    for at, (gpu, _) in enumerate(ND_H100_V5):
        m.nvidia_gpu(*passed_through(m, gpu, at // 4), hw.H100, "NVIDIA H100 80GB HBM3")
    nics = [(nic, at // 4) for at, (_, nic) in enumerate(ND_H100_V5) if nic != lost]
    infiniband(m, nics, CX7_VF, 400)
    front_end(m, 0x8a51, 0)
    return m


@machine("azure-nd-h100-v5-nic-lost",
         "The ND H100 v5 without the NIC of GPU 2 (0103): those of all other GPUs stay theirs, although",
         "by NUMA node and address alone they would move up. Chosen.")
def azure_nd_h100_v5_nic_lost():
    return azure_nd_h100_v5("azure-nd-h100-v5-nic-lost", lost=0x0103)


@machine("azure-ndv2",
         "Azure NDv2 (ND40rs_v2): eight V100-SXM2 and one ConnectX-5 EDR virtual function.",
         "PCI domains, NUMA nodes and CPUs: github.com/Azure/azhpc-images topology/ndv2-topo.xml",
         "@ 8e9d055fb9e1. The GPUs of NUMA node 1 have no NIC on it. PCI ids and names are chosen.")
def azure_ndv2(name="azure-ndv2"):
    m = azure(name, [(0, "0-19", 0), (1, "20-39", 1)], ("GenuineIntel", 6, 85))
    for gpu in range(8):
        m.nvidia_gpu(*passed_through(m, gpu + 1, gpu // 4), V100_SXM2, "Tesla V100-SXM2-32GB")
    infiniband(m, [(0x0101, 0)], CX5_VF, 100)
    front_end(m, 0xd2c4, 0)
    return m


@machine("azure-ndv2-wrong-file",
         "The NDv2 with an image for another size: /etc/nccl.conf names a topology file that knows four",
         "of its eight GPUs and no NIC. The file has the shape of topology/ncv4-topo.xml in",
         "github.com/Azure/azhpc-images @ 8e9d055fb9e1; the mistake is chosen.")
def azure_ndv2_wrong_file():
    m = azure_ndv2("azure-ndv2-wrong-file")
    nodes = "".join(f'  <cpu numaid="{node}" affinity="" arch="x86_64" vendor="AuthenticAMD"'
                    f' familyid="25" modelid="1">\n    <pci busid="{node + 1:04x}:00:00.0"'
                    f' class="0x030200" link_speed="16 GT/s" link_width="16"/>\n  </cpu>\n'
                    for node in range(4))
    nccl_file(m, "/opt/microsoft/ncv4-topo.xml", f'<system version="1">\n{nodes}</system>\n')
    return m


# PCI domains in the order of RDMA device names, which is that of nothing else.
MI300X_NICS = [0x0020, 0x0030, 0x0010, 0x0040, 0x0080, 0x0050, 0x0060, 0x0070]


@machine("azure-mi300x",
         "A virtual machine with eight MI300X and eight ConnectX-7 virtual functions, each on a PCI",
         "domain of its own (GPUs 0011, 0021, … 0081, NICs 0010, 0020, … 0080).",
         "PCI domains, ids, NUMA nodes, CPUs and names: RCCL's topology explorer, topo_8p_942vm.xml in",
         "github.com/meta-pytorch/torchcomms comms/rcclx/develop/projects/rccl/tools/topo_expl/models",
         "@ 59426ba4bfee. It has no switches either. That it is Azure's ND MI300X v5 is inferred from",
         "its shape; eth0's device is chosen.")
def azure_mi300x():
    m = azure("azure-mi300x", XEON_8480C_VM, XEON_8480C)
    for at in range(8):
        bridge, bdf = passed_through(m, 0x11 + 0x10 * at, at // 4)
        m.amd_gpu(bridge, bdf, MI300X_VF, at + 1, 128 + at)
    nics = [(domain, (domain - 0x10) // 0x40) for domain in MI300X_NICS]
    infiniband(m, nics, CX7_VF, 400, "mlx5_")
    front_end(m, 0xe4a5, 0, MANA_VF, "mana_0")
    return m


# PCI domains of GPU and NIC of each pair. Hyper-V made them from GUIDs, and NICs have no order.
UNNUMBERED = [(0x1f3c, 0xc2b1), (0x3a07, 0x54ee), (0x6b92, 0xe17d), (0x70d4, 0x2a60),
              (0x8e15, 0x9bc8), (0xa9f0, 0x4d37), (0xd258, 0x7fa2), (0xf6e3, 0x0b19)]


def topology_file(pairs):
    """As Azure's images have them in /opt/microsoft: ids left out, switches invented."""
    link = 'link_speed="32.0 GT/s PCIe" link_width="16"'
    cpus = []
    for numa, mask in enumerate(["00000000,0000ffff,ffffffff", "ffffffff,ffff0000,00000000"]):
        cpus.append(f'  <cpu numaid="{numa}" affinity="{mask}" arch="x86_64" vendor="GenuineIntel"'
                    f' familyid="6" modelid="143">\n')
        for at, (gpu, nic) in enumerate(pairs[4 * numa:4 * numa + 4], 4 * numa + 1):
            cpus.append(f'    <pci busid="ffff:ff:{at:02x}.0" class="0x060400" {link}>\n'
                        f'      <pci busid="{gpu:04x}:00:00.0" class="0x030200" {link}/>\n'
                        f'      <pci busid="{nic:04x}:00:00.0" class="0x020700" {link}/>\n'
                        f'    </pci>\n')
        cpus.append("  </cpu>\n")
    return f'<system version="1">\n{"".join(cpus)}</system>\n'


@machine("azure-topology-file",
         "A virtual machine of Azure that no table knows: eight H200 and eight ConnectX-7 virtual",
         "functions on PCI domains without a pattern. Its owner has put a topology file on it, which",
         "/etc/nccl.conf names as Azure's images do (github.com/Azure/azhpc-images). Accelerated",
         "networking is a Microsoft network adapter (mana). Chosen.")
def azure_topology_file():
    m = azure("azure-topology-file", XEON_8480C_VM, XEON_8480C)
    for at, (gpu, _) in enumerate(UNNUMBERED):
        m.nvidia_gpu(*passed_through(m, gpu, at // 4), H200, "NVIDIA H200")
    infiniband(m, sorted((nic, at // 4) for at, (_, nic) in enumerate(UNNUMBERED)), CX7_VF, 400)
    front_end(m, 0x7870, 0, MANA_VF, "mana_0")
    nccl_file(m, "/opt/microsoft/topo.xml", topology_file(UNNUMBERED))
    return m
