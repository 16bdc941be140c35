# SPDX-License-Identifier: Apache-2.0
"""Virtual machines of QEMU and Cloud Hypervisor: Google, IBM, Crusoe, Modal, and people's own.

What a pod or a batch job sees of a machine (no CPU affinity, NUMA 0-3, NODE across sockets, NICs of
GPUs that are not its own) is not in the box: the agent reads the host's /sys, and whoever runs
railhead in a container reads that, too. sysfs is not namespaced but for netdevs and RDMA devices;
what a cpuset hides, nvidia-smi derives from CPU masks, which nothing here looks at.
"""
import hardware as hw
from machine import Machine, Place
from registry import machine

H200 = (0x030200, 0x10de, 0x2335, 0x10de, 0x18be, "nvidia", 32, 16)
B200 = (0x030200, 0x10de, 0x2901, 0x10de, 0x1999, "nvidia", 32, 16)
B300 = (0x030200, 0x10de, 0x3182, 0x10de, 0x20e6, "nvidia", 64, 16)
GVNIC = (0x020000, 0x1ae0, 0x0042, 0x1ae0, 0x0058, "gvnic", None, None)
ROCE_VF = (0x020000, 0x15b3, 0x101e, 0x15b3, 0x0127, "mlx5_core", None, None)
GOOGLE_VF = (0x020000, 0x15b3, 0x101e, 0x15b3, 0x0041, "mlx5_core", 32, 16)
CX8_VF = (0x020700, 0x15b3, 0x101e, 0x15b3, 0x0101, "mlx5_core", None, None)
Q35 = ("QEMU", "Standard PC (Q35 + ICH9, 2009)", "")
CLOUD_HYPERVISOR = ("Cloud Hypervisor", "cloud-hypervisor", "")
XEON_8481C = [(0, "0-55,112-167", 0), (1, "56-111,168-223", 1)]


def guest(name, numa, dmi, cpu=()):
    m = Machine(name, numa, *dmi, hypervisor=True, cpu=cpu)
    m.gid_slots, m.pkey_slots = 4, 2
    m.rdma_stack()
    return m


def virtio(m, parent, short, netdev):
    """A virtio network device; its netdev hangs one folder below the PCI function."""
    place = m.function(parent, short, hw.VIRTIO_NET)
    m.netdev(Place(f"{place.path}/virtio0", place.numa), netdev)
    m.routes(default=netdev)


def roce(m, place, name, model, gbps, netdev, rail, up=True):
    m.netdev(place, netdev, up=up)
    m.rdma(place, name, model, gbps, "Ethernet", netdev, f"192.168.{rail}.7", up=up)


# Root bus of each switch; upstream port, downstream ports, two GPUs and two NICs follow on the next
# buses. Two switches a NUMA node.
GOOGLE_ROOTS = [0x8c, 0x93, 0xc1, 0xc8]


def google(name, gpu, model, nic_name):
    m = guest(name, XEON_8481C, ("Google", "Google Compute Engine", ""))
    rail = 0
    for at, root in enumerate(GOOGLE_ROOTS):
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", at // 2), f"{root:02x}:00.0",
                        hw.INTEL_ROOT_PORT)
        ports = m.switch(port, f"{root + 1:02x}:00.0",
                         [f"{root + 2:02x}:0{p}.0" for p in range(4)], hw.PEX890XX)
        for bus, place in enumerate(ports[:2], root + 3):
            m.nvidia_gpu(place, f"{bus:02x}:00.0", gpu, model)
        for bus, place in enumerate(ports[2:], root + 5):
            roce(m, m.function(place, f"{bus:02x}:00.0", GOOGLE_VF), nic_name(rail, bus),
                 GOOGLE_VF, 400, f"gpu{rail}rdma0", rail)
            rail += 1
    m.netdev(m.function(m.host_bridge("pci0000:00", -1), "00:13.0", GVNIC), "eth0")
    m.routes(default="eth0")
    return m


@machine("gcp-a3ultra",
         "Google Cloud a3-ultragpu-8g: eight H200 and eight ConnectX-7 (RoCE), two and two a switch.",
         "Relations, CPUs and names (rocep<bus>s0, so the buses of the NICs are known): nvidia-smi",
         "topo -m in github.com/mlcommons/training_results_v5.0, Google/results/h200_nemo",
         "@ 0fdc28f01325. Other buses are chosen, and that the NICs are virtual functions.")
def gcp_a3ultra():
    return google("gcp-a3ultra", H200, "NVIDIA H200", lambda rail, bus: f"rocep{bus}s0")


@machine("gcp-a4",
         "Google Cloud a4-highgpu-8g: eight B200 and eight ConnectX-7 (RoCE), two and two a switch.",
         "Relations, CPUs and names: nvidia-smi topo -m in github.com/google/dranet",
         "site/content/docs/user/gke-rdma.md @ 7b7661a153a6. All buses are chosen (a3-ultragpu-8g's).")
def gcp_a4():
    return google("gcp-a4", B200, "NVIDIA B200", lambda rail, bus: f"mlx5_{rail}")


# Upstream port of each virtual switch: NIC and GPU are two and three buses further.
IBM_SWITCHES = [0xa1, 0xab, 0xb5, 0xbf, 0xc9, 0xd3, 0xdd, 0xe7]


@machine("ibm-vpc-h100",
         "IBM Cloud VPC gx3d-160x1792x8h100: eight H100-SXM5 and eight virtual functions (RoCE), one",
         "of each below a virtual switch. mlx5_7 belongs to GPU 0: device names run backwards.",
         "Addresses, ids, CPUs and names: topology in github.com/ibm-cloud-docs/vpc",
         "cn-h100-profile.md @ 903bb480^. Link widths read 0. DMI: chassis_vendor says IBM, the",
         "system's QEMU. Root buses, downstream ports and the front-end (virtio) are chosen.")
def ibm_vpc_h100():
    m = guest("ibm-vpc-h100", [(0, "0-79", 0), (1, "80-159", 1)], ("QEMU", Q35[1], "ibmcloud"),
              ("GenuineIntel", 6, 143))
    roots = [m.host_bridge("pci0000:a0", 0), m.host_bridge("pci0000:c8", 1)]
    nics = []
    for at, bus in enumerate(IBM_SWITCHES):
        root = roots[at // 4]
        port = m.bridge(root, f"{root.path[-2:]}:0{at % 4}.0", hw.QEMU_ROOT_PORT)
        to_nic, to_gpu = m.switch(port, f"{bus:02x}:00.0",
                                  [f"{bus + 1:02x}:00.0", f"{bus + 1:02x}:01.0"], hw.QEMU_UPSTREAM,
                                  hw.QEMU_DOWNSTREAM)
        nics.append((m.function(to_nic, f"{bus + 2:02x}:00.0", ROCE_VF), f"enp{bus + 2}s0"))
        m.nvidia_gpu(to_gpu, f"{bus + 3:02x}:00.0", hw.H100, "NVIDIA H100 80GB HBM3")
    for number, (place, netdev) in enumerate(reversed(nics)):
        roce(m, place, f"mlx5_{number}", ROCE_VF, 200, netdev, number)
    virtio(m, m.host_bridge("pci0000:00", -1), "00:03.0", "ens3")
    return m


@machine("h200-flat-kvm",
         "KVM guest: eight H200 and eight ConnectX-7 passed through, each on a root port of the one",
         "root bus, without NUMA nodes. On the bare metal each GPU had a NIC on its switch, which",
         "nothing in the guest says.",
         "PCI tree: lspci -tv in github.com/NVIDIA/nccl-tests/issues/256. InfiniBand is chosen.")
def h200_flat_kvm():
    m = guest("h200-flat-kvm", [(0, "0-191", 0)], Q35)
    bridge = m.host_bridge("pci0000:00", -1)
    ports = {8 * (slot - 1) + function + 1: m.bridge(bridge, f"00:0{slot}.{function}", hw.QEMU_ROOT_PORT)
             for slot in (1, 2, 3) for function in range(8) if (slot, function) < (3, 6)}
    virtio(m, ports[1], "01:00.0", "enp1s0")
    for bus in range(0x05, 0x0d):
        m.nvidia_gpu(ports[bus], f"{bus:02x}:00.0", H200, "NVIDIA H200")
    for number, bus in enumerate(range(0x0d, 0x15)):
        place = m.function(ports[bus], f"{bus:02x}:00.0", hw.CX7_IB)
        m.netdev(place, f"ibp{bus}s0", kind=32)
        m.rdma(place, f"mlx5_{number}", hw.CX7_IB, 400, lid=0x201 + number)
    return m


# First bus of each switch, and whether the NIC is the first of the two functions below it.
PXB_SWITCHES = [(0x64, 0, [(0x65, True), (0x69, False), (0x6d, True), (0x71, False)]),
                (0xc8, 1, [(0xc9, True), (0xcd, False), (0xd1, False), (0xd5, True)])]


@machine("h200-pxb-kvm",
         "KVM guest whose owner rebuilt the switches: eight H200 and eight ConnectX-7, one of each",
         "below a virtual switch, on two expander buses (pxb-pcie) with a NUMA node each.",
         "PCI tree: lspci -tv in a comment of github.com/NVIDIA/nccl-tests/issues/256 (2025-01-15).",
         "Bridge ids (QEMU's), CPUs, InfiniBand and the front-end (virtio) are chosen.")
def h200_pxb_kvm():
    m = guest("h200-pxb-kvm", [(0, "0-95", 0), (1, "96-191", 1)], Q35)
    number = 0
    for root, numa, switches in PXB_SWITCHES:
        bridge = m.host_bridge(f"pci0000:{root:02x}", numa)
        for slot, (bus, nic_first) in enumerate(switches):
            port = m.bridge(bridge, f"{root:02x}:0{slot}.0", hw.QEMU_ROOT_PORT)
            below = m.switch(port, f"{bus:02x}:00.0", [f"{bus + 1:02x}:0{at}.0" for at in range(2)],
                             hw.QEMU_UPSTREAM, hw.QEMU_DOWNSTREAM)
            nic, gpu = (0, 1) if nic_first else (1, 0)
            m.nvidia_gpu(below[gpu], f"{bus + 2 + gpu:02x}:00.0", H200, "NVIDIA H200")
            place = m.function(below[nic], f"{bus + 2 + nic:02x}:00.0", hw.CX7_IB)
            m.netdev(place, f"ibp{bus + 2 + nic}s0", kind=32)
            m.rdma(place, f"mlx5_{number}", hw.CX7_IB, 400, lid=0x211 + number)
            number += 1
    virtio(m, m.host_bridge("pci0000:00", -1), "00:02.0", "enp0s2")
    return m


@machine("crusoe-b300",
         "Crusoe b300-288gb-sxm-ib: eight B300 and eight virtual functions of ConnectX-8, four and",
         "four on the flat root bus of each NUMA node.",
         "Addresses, ids, CPUs and the pairs: github.com/crusoecloud/solutions-library",
         "b300-nccltest-cmk-mpijob/b300-288gb-sxm-ib-cloud-hypervisor.xml @ 8becda636dfb. DMI is what",
         "Cloud Hypervisor says (arch/src/x86_64/smbios.rs). Names and the front-end are chosen.")
def crusoe_b300():
    m = guest("crusoe-b300", [(0, "0-119", 0), (1, "120-239", 1)], CLOUD_HYPERVISOR,
              ("GenuineIntel", 6, 173))
    for numa, domain in enumerate((2, 3)):
        bridge = m.host_bridge(f"pci{domain:04x}:00", numa)
        for slot in range(1, 5):
            m.nvidia_gpu(bridge, f"{domain:04x}:00:{slot:02x}.0", B300, "NVIDIA B300 SXM6 AC")
        for slot in range(9, 13):
            number = 4 * numa + slot - 9
            place = m.function(bridge, f"{domain:04x}:00:{slot:02x}.0", CX8_VF)
            m.netdev(place, f"ib{number}", kind=32)
            m.rdma(place, f"mlx5_{number}", CX8_VF, 800, lid=0x221 + number)
    virtio(m, m.host_bridge("pci0000:00", -1), "00:03.0", "ens3")
    return m


@machine("modal-b200",
         "Modal B200 worker: eight B200 and eight ConnectX-7, four and four on the flat root bus of",
         "each NUMA node, and five Ethernet functions on PCI domain 0: four of 100 Gb/s on one card,",
         "one of 200 Gb/s.",
         "GPUs, NUMA nodes, CPUs, names and speeds: nccl_topo.xml in github.com/modal-labs/gvisor",
         "@ 5554632f9d50. It does not say which NIC is whose. The NICs' slots, link layers and ids are",
         "chosen, and that the default route leaves through the first.")
def modal_b200():
    numa = [(node, ",".join(str(cpu) for cpu in range(first, first + 90, 2)), node)
            for node, first in ((0, 0), (1, 90))]
    m = guest("modal-b200", numa, CLOUD_HYPERVISOR, ("GenuineIntel", 6, 207))
    first = m.host_bridge("pci0000:00", 0)
    for number in range(5):
        place = m.function(first, f"00:0{4 + number}.0", ROCE_VF)
        gbps, card = (100, "front") if number < 4 else (200, None)
        m.netdev(place, f"ens{4 + number}")
        m.rdma(place, f"mlx5_{number}", ROCE_VF, gbps, "Ethernet", f"ens{4 + number}",
               f"10.30.{number}.7", card=card)
    for node, domain in enumerate((2, 3)):
        bridge = m.host_bridge(f"pci{domain:04x}:00", node)
        for slot in range(1, 5):
            m.nvidia_gpu(bridge, f"{domain:04x}:00:{slot:02x}.0", B200, "NVIDIA B200")
        for slot in range(5, 9):
            number = 4 * node + slot
            place = m.function(bridge, f"{domain:04x}:00:{slot:02x}.0", hw.CX7_IB)
            m.netdev(place, f"ib{number - 5}", kind=32)
            m.rdma(place, f"mlx5_{number}", hw.CX7_IB, 400, lid=0x231 + number)
    m.routes(default="ens4")
    return m


@machine("h100-front-end-only",
         "A virtual machine with eight H100-SXM5 whose one RDMA device is its front-end: SYS from",
         "every GPU, and no compute fabric at all.",
         "Relations and CPUs: nvidia-smi topo -m in a public environment report of vLLM 0.6.3.",
         "Buses, that it is a virtual function, and its default route are chosen.")
def h100_front_end_only():
    m = guest("h100-front-end-only", [(0, "0-103", 0), (1, "104-207", 1)], Q35)
    for at in range(8):
        root = 0x40 + 0x10 * at
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", at // 4), f"{root:02x}:00.0",
                        hw.QEMU_ROOT_PORT)
        m.nvidia_gpu(port, f"{root + 1:02x}:00.0", hw.H100, "NVIDIA H100 80GB HBM3")
    port = m.bridge(m.host_bridge("pci0000:00", -1), "00:02.0", hw.QEMU_ROOT_PORT)
    roce(m, m.function(port, "01:00.0", ROCE_VF), "mlx5_0", ROCE_VF, 100, "enp1s0", 0)
    m.routes(default="enp1s0")
    return m
