# SPDX-License-Identifier: Apache-2.0
"""Virtual machines of AWS (Nitro). PCI trees, ids and link speeds as lstopo exported them from inside
such machines: github.com/ai-dynamo/nixl test/unit/utils/libfabric/topo @ 8770b655a6b1.
Elastic Fabric Adapters are RDMA devices without link layer, GUID and netdev.
"""
import hardware as hw
from machine import Machine
from registry import machine

A100_SXM = (0x030200, 0x10de, 0x20b0, 0x10de, 0x134f, "nvidia", 16, 16)
A10G = (0x030200, 0x10de, 0x2237, 0x10de, 0x152f, "nvidia", 16, 8)
L4 = (0x030200, 0x10de, 0x27b8, 0x10de, 0x16ee, "nvidia", 16, 16)
B200 = (0x030200, 0x10de, 0x2901, 0x10de, 0x1999, "nvidia", 32, 16)
EFA1 = (0x020000, 0x1d0f, 0xefa1, 0x1d0f, 0xefa1, "efa", 8, 16)
EFA3 = (0x020000, 0x1d0f, 0xefa3, 0x1d0f, 0xefa3, "efa", 32, 16)
ENA_GEN3 = (0x020000, 0x1d0f, 0xec20, 0x1d0f, 0xec20, "ena", 8, 16)
ENA_GEN5 = (0x020000, 0x1d0f, 0xec20, 0x1d0f, 0xec20, "ena", 32, 16)
NVLINK_CX7 = (0x020700, 0x15b3, 0x1021, 0x15b3, 0x0087, "mlx5_core", 16, 2)


def aws(name, numa, product, cpu=()):
    m = Machine(name, numa, "Amazon EC2", product, "Amazon EC2", hypervisor=True, cpu=cpu)
    m.gid_slots, m.pkey_slots = 2, 2
    m.rdma_stack()
    return m


def efa(m, parent, short, model, gbps):
    """rdmap<bus>s<slot>, as rdma-core's udev rule names it."""
    bus, slot = (int(part, 16) for part in short.removesuffix(".0").split(":"))
    m.efa(m.function(parent, short, model), f"rdmap{bus}s{slot}", gbps)


# Root bus, NUMA node and the name of its ENA interface, in slot 0 or 1.
P4D_ROOTS = [(0x10, 0, "10:00.0", "ens32"), (0x20, 0, "20:01.0", "ens65"),
             (0x90, 1, "90:01.0", "ens129"), (0xa0, 1, "a0:01.0", "ens161")]


@machine("aws-p4d",
         "AWS p4d.24xlarge: eight A100-SXM4 40GB, four EFA, two GPUs and one EFA a root bus.",
         "PCI tree: p4d.24xl-topo.xml of the guest. Switches are not visible; the vendor's file",
         "(github.com/aws/aws-ofi-nccl topology/p4d-24xl-topo.xml @ 2daf7d303aa1) has one a root bus.",
         "The default route over ens32 and the NVMe devices' absence are chosen.")
def aws_p4d():
    m = aws("aws-p4d", [(0, "0-23,48-71", 0), (1, "24-47,72-95", 1)], "p4d.24xlarge",
            ("GenuineIntel", 6, 85))
    for root, numa, ena, netdev in P4D_ROOTS:
        bridge = m.host_bridge(f"pci0000:{root:02x}", numa)
        m.netdev(m.function(bridge, ena, hw.ENA), netdev)
        efa(m, bridge, f"{root:02x}:1b.0", hw.EFA, 100)
        for slot in (0x1c, 0x1d):
            m.nvidia_gpu(bridge, f"{root:02x}:{slot:02x}.0", A100_SXM, "NVIDIA A100-SXM4-40GB")
    m.routes(default="ens32", other=["ens65", "ens129", "ens161"])
    return m


def nitro_switch(m, root, numa, below):
    """Root bus RR has one port, the switch is on the next bus, its downstream ports one further;
    `below` is (port, what hangs below it: short address)."""
    port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:00.0", hw.NITRO_BRIDGE)
    names = [f"{root + 2:02x}:{at}" for at in below]
    return m.switch(port, f"{root + 1:02x}:00.0", names, hw.NITRO_BRIDGE)


# Root buses, four of them a NUMA node. On bus root + 3 is an ENA, from root + 0xb on four EFA and the
# GPU.
P5_ROOTS = [0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb]


@machine("aws-p5",
         "AWS p5.48xlarge: eight H100-SXM5 and 32 EFA, four EFA and one GPU a switch.",
         "PCI tree: p5.48xl-topo.xml of the guest; its switches are real (virtual ports of them), as",
         "the vendor's file says, too (github.com/aws/aws-ofi-nccl topology/p5.48xl-topo.xml",
         "@ 79565c0e5a38, which has one NUMA node for all). Of its 32 ENA only the first is here.")
def aws_p5():
    m = aws("aws-p5", [(0, "0-47,96-143", 0), (1, "48-95,144-191", 1)], "p5.48xlarge",
            ("AuthenticAMD", 25, 17))
    for at, root in enumerate(P5_ROOTS):
        ports = nitro_switch(m, root, at // 4, ["00.0", *[f"01.{port}" for port in range(5)]])
        if at == 0:
            m.netdev(m.function(ports[0], f"{root + 3:02x}:00.0", ENA_GEN3), f"enp{root + 3}s0")
        for number in range(4):
            efa(m, ports[1 + number], f"{root + 0xb + number:02x}:00.0", EFA1, 100)
        m.nvidia_gpu(ports[5], f"{root + 0xf:02x}:00.0", hw.H100, "NVIDIA H100 80GB HBM3")
    m.routes(default="enp71s0")
    return m


# Root bus, NUMA node, two EFA, two GPUs; ConnectX-7 functions below the third switch.
P6_ROOTS = [(0x44, 0, (0x4f, 0x50), (0x51, 0x52), ()), (0x55, 0, (0x60, 0x61), (0x62, 0x63), ()),
            (0x66, 1, (0x71, 0x72), (0x75, 0x76), (0x73, 0x74)),
            (0x79, 1, (0x84, 0x85), (0x86, 0x87), ())]


@machine("aws-p6-b200",
         "AWS p6-b200.48xlarge: eight B200 and eight EFA, two GPUs and two EFA a switch, and two",
         "ConnectX-7 functions (15b3:1021, InfiniBand) on the switch of GPUs 4 and 5: the way by",
         "which the fabric manager reaches the NVLink switches, not a network.",
         "PCI tree, ids, link speeds: p6-b200.48xl-topo.xml of the guest, where those two run at",
         "3.94 GB/s, read here as 16 GT/s x2. Of its eight ENA only the first is here.")
def aws_p6_b200():
    m = aws("aws-p6-b200", [(0, "0-47,96-143", 0), (1, "48-95,144-191", 1)], "p6-b200.48xlarge")
    for root, numa, efas, gpus, managers in P6_ROOTS:
        buses = sorted(efas + managers + gpus)
        ports = nitro_switch(m, root, numa, ["00.0", *[f"01.{at}" for at in range(len(buses))]])
        if root == 0x44:
            m.netdev(m.function(ports[0], "47:00.0", ENA_GEN5), "enp71s0")
        for port, bus in zip(ports[1:], buses):
            short = f"{bus:02x}:00.0"
            if bus in efas:
                efa(m, port, short, EFA3, 400)
            elif bus in gpus:
                m.nvidia_gpu(port, short, B200, "NVIDIA B200")
            else:
                place = m.function(port, short, NVLINK_CX7)
                m.netdev(place, f"ibp{bus}s0f0", kind=32)
                m.rdma(place, f"ibp{bus}s0f0", NVLINK_CX7, 400, lid=bus)
    m.routes(default="enp71s0")
    return m


# Root buses of the GPUs, each with a root port of its own.
G6_ROOTS = [(0x9e, 0), (0xa0, 0), (0xa2, 0), (0xa4, 0), (0xad, 1), (0xaf, 1), (0xb1, 1), (0xb3, 1)]


@machine("aws-g6",
         "AWS g6.48xlarge: eight L4, each on a root bus of its own, and one EFA below a switch with",
         "ENA, on NUMA node 0: GPUs 4 to 7 have no NIC on their node.",
         "PCI tree: g6.48xl-topo.xml of the guest.")
def aws_g6():
    m = aws("aws-g6", [(0, "0-47,96-143", 0), (1, "48-95,144-191", 1)], "g6.48xlarge")
    ports = nitro_switch(m, 0x84, 0, ["00.0", "01.7"])
    m.netdev(m.function(ports[0], "87:00.0", hw.ENA), "enp135s0")
    efa(m, ports[1], "96:00.0", EFA1, 100)
    for root, numa in G6_ROOTS:
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:00.0",
                        hw.NITRO_BRIDGE)
        m.nvidia_gpu(port, f"{root + 1:02x}:00.0", L4, "NVIDIA L4")
    m.routes(default="enp135s0")
    return m


@machine("aws-g5",
         "AWS g5.48xlarge: eight A10G and one EFA on the one root bus of two NUMA nodes.",
         "PCI tree: g5.48xl-topo.xml of the guest, where no function has a NUMA node. The vendor's",
         "file (github.com/aws/aws-ofi-nccl topology/g5.48xl-topo.xml @ 2daf7d303aa1) puts GPUs 4",
         "to 7 and the EFA on NUMA node 1.")
def aws_g5():
    m = aws("aws-g5", [(0, "0-47,96-143", 0), (1, "48-95,144-191", 1)], "g5.48xlarge")
    bridge = m.host_bridge("pci0000:00", -1)
    m.netdev(m.function(bridge, "00:05.0", hw.ENA), "ens5")
    efa(m, bridge, "00:15.0", hw.EFA, 100)
    for slot in range(0x16, 0x1e):
        m.nvidia_gpu(bridge, f"00:{slot:02x}.0", A10G, "NVIDIA A10G")
    m.routes(default="ens5")
    return m
