#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the machines in the box, tests/nodes/*.node: one function a machine, facts in tables above it.

    make_nodes.py                            all committed machines, beside this file
    make_nodes.py NAME... --out DIR          some of them, elsewhere
    make_nodes.py NAME --directory DIR       one as a directory tree, for --host-root
    make_nodes.py --list

To add a machine: write a function, name the source of its facts in its comments, decorate it with
@machine, run this file and ./dev bless. UUIDs, GUIDs and MAC addresses are made from names.
"""
import argparse
import pathlib
import sys

import machine as hw
from machine import Machine

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = {}
H100_NAME = "NVIDIA H100 80GB HBM3"


def machine(name, *source, committed=True):
    """Registers the function that fills a Machine; `source` says where its facts come from."""
    def register(fill):
        MACHINES[name] = (fill, source, committed)
        return fill
    return register


# Two Xeon Platinum 8480C of a DGX H100, sub-NUMA clustering off.
XEON_8480C = [(0, "0-55,112-167", 0), (1, "56-111,168-223", 1)]

# Root bus, NUMA node, bus of the NIC. The GPU is three buses behind its NIC, below a second switch.
DGX_H100_RAILS = [
    (0x15, 0, "mlx5_0"), (0x3d, 0, "mlx5_3"), (0x4c, 0, "mlx5_4"), (0x5b, 0, "mlx5_5"),
    (0x97, 1, "mlx5_6"), (0xbd, 1, "mlx5_9"), (0xcb, 1, "mlx5_10"), (0xd9, 1, "mlx5_11"),
]
DGX_H100_STORAGE = [(0x26, 0, ("mlx5_1", "mlx5_2")), (0xa7, 1, ("mlx5_7", "mlx5_8"))]


@machine("dgx-h100",
         "NVIDIA DGX H100.",
         "Bus addresses of GPUs and ConnectX-7: DGX H100/H200 User Guide, network and GPU tables.",
         "GPU x NIC relations and CPU lists: nvidia-smi topo -m of such a machine, published with a",
         "deployment on Talos. Bridges: as the relations and bus distances ask for.",
         "NVSwitches, X550 and E810: present in the guide, their bridges are chosen.")
def dgx_h100():
    m = Machine("dgx-h100", XEON_8480C, "NVIDIA", "DGXH100")
    m.rdma_stack()
    names = {}  # RDMA devices are numbered in the order of their PCI addresses
    for root, numa, nic in DGX_H100_RAILS:
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:01.0",
                        hw.INTEL_ROOT_PORT)
        to_nic, to_gpu = m.switch(port, f"{root + 1:02x}:00.0",
                                  [f"{root + 2:02x}:00.0", f"{root + 2:02x}:01.0"], hw.PEX890XX)
        inner, = m.switch(to_gpu, f"{root + 4:02x}:00.0", [f"{root + 5:02x}:00.0"], hw.PEX890XX)
        names[nic] = (m.function(to_nic, f"{root + 3:02x}:00.0", hw.CX7_IB), f"ibp{root + 3}s0", nic)
        m.nvidia_gpu(inner, f"{root + 6:02x}:00.0", hw.H100, H100_NAME)
    for root, numa, nics in DGX_H100_STORAGE:
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:01.0",
                        hw.INTEL_ROOT_PORT)
        below, = m.switch(port, f"{root + 1:02x}:00.0", [f"{root + 2:02x}:00.0"], hw.PEX890XX)
        for function, nic in enumerate(nics):
            place = m.function(below, f"{root + 3:02x}:00.{function}", hw.CX7_IB)
            names[nic] = (place, f"ibp{root + 3}s0f{function}", nics[0])
    for number in range(12):
        place, netdev, card = names[f"mlx5_{number}"]
        m.sriov(place, 16)
        m.netdev(place, netdev, kind=32)
        m.rdma(place, f"mlx5_{number}", hw.CX7_IB, 400, lid=0x11 + number, card=card)
    pch = m.host_bridge("pci0000:00", 0)
    nvswitch_port = m.bridge(pch, "00:0e.0", hw.INTEL_ROOT_PORT)
    ports = m.switch(nvswitch_port, "05:00.0", [f"06:0{at}.0" for at in range(4)], hw.PFX_GEN4)
    for at, port in enumerate(ports):
        m.function(port, f"{7 + at:02x}:00.0", hw.NVSWITCH_3)
    m.function(m.bridge(pch, "00:1c.0", hw.INTEL_ROOT_PORT), "02:00.0", hw.ASPEED_VGA)
    onboard = m.bridge(pch, "00:10.0", hw.INTEL_ROOT_PORT)
    for function in range(2):
        m.netdev(m.function(onboard, f"0b:00.{function}", hw.X550), f"eno{3 + function}", up=False)
    front = m.bridge(m.host_bridge("pci0000:80", 1), "80:01.0", hw.INTEL_ROOT_PORT)
    for function in range(2):
        m.netdev(m.function(front, f"82:00.{function}", hw.E810), f"ens6f{function}",
                 up=function == 0)
    m.virtual_netdev("lo", "unknown")
    m.routes(default="ens6f0")
    return m


# EPYC 7742 twice, NPS4: GPUs hang on the NUMA nodes 3, 1, 7, 5, one two-level switch each.
DGX_A100_NUMA = [(node, f"{16 * node}-{16 * node + 15},{128 + 16 * node}-{143 + 16 * node}",
                  node // 4) for node in range(8)]
# Root bus, upstream bus of the outer switch, NUMA node, GPU buses, NIC buses: each function below a
# leaf switch of its own, two buses before it.
DGX_A100_SWITCHES = [
    (0x00, 0x01, 3, (0x07, 0x0f), (0x0c, 0x12)),
    (0x40, 0x41, 1, (0x47, 0x4e), (0x4b, 0x54)),
    (0x80, 0x81, 7, (0x87, 0x90), (0x8d, 0x94)),
    (0xb0, 0xb1, 5, (0xb7, 0xbd), (0xba, 0xcc)),
]


@machine("dgx-a100",
         "NVIDIA DGX A100 with NPS4.",
         "Bus addresses: topology file that NVIDIA published with MLPerf results for this model.",
         "Relations, NUMA order and CPU lists: nvidia-smi topo -m of such a machine, published with",
         "deployment notes: GPUs and NICs of a switch are PXB to each other, NICs among themselves",
         "too. The dual-port card's place (e1:00, NUMA node 4) is chosen: SYS to all.")
def dgx_a100():
    m = Machine("dgx-a100", DGX_A100_NUMA, "NVIDIA", "DGXA100 920-23687-2530-000")
    m.rdma_stack()
    nics = []
    for root, outer, numa, gpus, ibs in DGX_A100_SWITCHES:
        bridge = m.host_bridge(f"pci0000:{root:02x}", numa)
        port = m.bridge(bridge, f"{root:02x}:01.1", hw.AMD_ROOT_PORT)
        tops = m.switch(port, f"{outer:02x}:00.0",
                        [f"{outer + 1:02x}:{4 * at:02x}.0" for at in range(4)], hw.PEX88096)
        for top, bus in zip(tops, sorted(gpus + ibs)):
            leaf, = m.switch(top, f"{bus - 2:02x}:00.0", [f"{bus - 1:02x}:00.0"], hw.PEX88096)
            if bus in gpus:
                m.nvidia_gpu(leaf, f"{bus:02x}:00.0", hw.A100_SXM, "NVIDIA A100-SXM4-40GB")
            else:
                nics.append((m.function(leaf, f"{bus:02x}:00.0", hw.CX6_IB), f"ibp{bus}s0"))
    storage = m.bridge(m.host_bridge("pci0000:e0", 4), "e0:03.1", hw.AMD_ROOT_PORT)
    for function in range(2):
        nics.append((m.function(storage, f"e1:00.{function}", hw.CX6_IB), f"ibp225s0f{function}"))
    for number, (place, netdev) in enumerate(nics):
        m.sriov(place, 8)
        m.netdev(place, netdev, up=number != 9, kind=32)
        m.rdma(place, f"mlx5_{number}", hw.CX6_IB, 200, up=number != 9, lid=0x21 + number,
               card="mlx5_8" if number >= 8 else None)
    onboard = m.bridge(m.host_bridge("pci0000:20", 2), "20:03.1", hw.AMD_ROOT_PORT)
    m.netdev(m.function(onboard, "22:00.0", hw.X550), "enp34s0")
    m.routes(default="enp34s0")
    return m


# Root, NUMA node, per switch (upstream bus, GPU buses, NIC bus): one host bridge a socket.
SEED_SWITCHES = [
    ("15", 0, [("16", ("18", "19"), "1a"), ("26", ("28", "29"), "2a")]),
    ("97", 1, [("98", ("9a", "9b"), "9c"), ("a8", ("aa", "ab"), "ac")]),
]


@machine("seed-8gpu-4nic",
         "Eight H100 and four ConnectX-7, two GPUs and one NIC a switch, two switches a PCIe root.",
         "Source: the drawing in the article on RDMA device injection that this project answers;",
         "GPUs 0,1 belong to mlx5_0, GPUs 4,5 to mlx5_2. Bus addresses are chosen.")
def seed_8gpu_4nic():
    m = Machine("seed-8gpu-4nic", [(0, "0-47", 0), (1, "48-95", 1)], "Supermicro",
                "SYS-821GE-TNHR")
    m.rdma_stack()
    number = 0
    for root, numa, switches in SEED_SWITCHES:
        bridge = m.host_bridge(f"pci0000:{root}", numa)
        for at, (upstream, gpus, nic) in enumerate(switches):
            port = m.bridge(bridge, f"{root}:0{1 + 2 * at}.0", hw.INTEL_ROOT_PORT)
            down = f"{int(upstream, 16) + 1:02x}"
            below = m.switch(port, f"{upstream}:00.0", [f"{down}:0{p}.0" for p in range(3)],
                             hw.PEX890XX)
            for place, gpu in zip(below, gpus):
                m.nvidia_gpu(place, f"{gpu}:00.0", hw.H100, H100_NAME)
            place = m.function(below[2], f"{nic}:00.0", hw.CX7_IB)
            m.sriov(place, 16)
            m.netdev(place, f"ibs{number}", kind=32)
            m.rdma(place, f"mlx5_{number}", hw.CX7_IB, 400, lid=0x31 + number)
            number += 1
    onboard = m.bridge(m.host_bridge("pci0000:00", 0), "00:1c.0", hw.INTEL_ROOT_PORT)
    m.netdev(m.function(onboard, "01:00.0", hw.X550), "eno1")
    m.routes(default="eno1")
    return m


# Root bus and NUMA node; on each switch: GPU, ConnectX-7, on two of them a ConnectX-6 Dx as well.
HGX_ROCE_ROOTS = [(0x15, 0, True), (0x37, 0, False), (0x48, 0, False), (0x59, 0, False),
                  (0x97, 1, True), (0xb7, 1, False), (0xc7, 1, False), (0xd7, 1, False)]


@machine("hgx-h100-roce",
         "HGX H100 server with eight ConnectX-7 and two dual-port ConnectX-6 Dx, all Ethernet.",
         "Source: lspci -vvv in github.com/leptonai/gpud pkg/pci/testdata @ 4a8de33a3f02: every",
         "bridge, class, NUMA node and link width. Device names, addresses, rates and the default",
         "route over the first port of the first ConnectX-6 Dx are chosen.")
def hgx_h100_roce():
    m = Machine("hgx-h100-roce", [(0, "0-51,104-155", 0), (1, "52-103,156-207", 1)],
                "Dell Inc.", "PowerEdge XE9680")
    m.rdma_stack()
    number = 0
    for rail, (root, numa, has_front) in enumerate(HGX_ROCE_ROOTS):
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:01.0",
                        hw.INTEL_ROOT_PORT)
        down, first = root + 2, root + 3
        below = m.switch(port, f"{root + 1:02x}:00.0",
                         [f"{down:02x}:0{p}.0" for p in range(1, 4 if has_front else 3)],
                         hw.PEX890XX)
        m.nvidia_gpu(below[0], f"{first + 1:02x}:00.0", hw.H100, H100_NAME)
        nics = [(below[1], f"{first + 2:02x}:00.0", hw.CX7_ETH, 400, f"10.10.{rail}.7", "np0")]
        if has_front:
            nics += [(below[2], f"{first + 3:02x}:00.{f}", hw.CX6DX, 100, f"10.20.{f}.{7 + rail}",
                      f"f{f}np{f}") for f in range(2)]
        for parent, bdf, model, gbps, ip, suffix in nics:
            place = m.function(parent, bdf, model)
            netdev = f"enp{int(bdf[:2], 16)}s0{suffix}"
            m.sriov(place, 16)
            m.netdev(place, netdev)
            m.rdma(place, f"mlx5_{number}", model, gbps, "Ethernet", netdev, ip,
                   card=f"card of {bdf[:5]}")
            number += 1
    pcie = m.bridge(m.host_bridge("pci0000:80", 1), "80:01.0", hw.INTEL_ROOT_PORT)
    for at, port in enumerate(m.switch(pcie, "81:00.0", [f"82:0{p}.0" for p in range(4)], hw.PFX_GEN4)):
        m.function(port, f"{0x83 + at:02x}:00.0", hw.NVSWITCH_3)
    onboard = m.bridge(m.host_bridge("pci0000:00", 0), "00:0c.0", hw.INTEL_ROOT_PORT)
    for function in range(2):
        m.netdev(m.function(onboard, f"01:00.{function}", hw.BCM5720), f"eno{1 + function}", up=False)
    m.routes(default="enp27s0f0np0", other=["enp26s0np0"])
    return m


@machine("nics-only",
         "A storage server: two dual-port ConnectX-6, InfiniBand, no GPU. Chosen, with the shape of",
         "two cards on root ports of two sockets.")
def nics_only():
    m = Machine("nics-only", [(0, "0-31", 0), (1, "32-63", 1)], "HPE", "ProLiant DL385 Gen10 Plus")
    m.rdma_stack()
    for card, (root, bus, numa) in enumerate([("40", "41", 0), ("c0", "c1", 1)]):
        port = m.bridge(m.host_bridge(f"pci0000:{root}", numa), f"{root}:01.1", hw.AMD_ROOT_PORT)
        for function in range(2):
            number = 2 * card + function
            place = m.function(port, f"{bus}:00.{function}", hw.CX6_IB)
            m.netdev(place, f"ib{number}", up=number != 3, kind=32)
            m.rdma(place, f"mlx5_{number}", hw.CX6_IB, 200, up=number != 3, lid=0x41 + number,
                   card=f"mlx5_{2 * card}")
    m.routes(default="ib0")
    return m


@machine("gpus-only",
         "Four A100 PCIe and an Ethernet NIC that is no RDMA device: nothing to hand out. The shape",
         "follows the negative cases among published topologies (X550 beside GPUs).")
def gpus_only():
    m = Machine("gpus-only", [(0, "0-31", 0), (1, "32-63", 1)], "ASUSTeK COMPUTER INC.",
                "ESC4000A-E12")
    for root, bus, numa in [("00", "01", 0), ("20", "21", 0), ("80", "81", 1), ("a0", "a1", 1)]:
        port = m.bridge(m.host_bridge(f"pci0000:{root}", numa), f"{root}:01.1", hw.AMD_ROOT_PORT)
        m.nvidia_gpu(port, f"{bus}:00.0", hw.A100_PCIE, "NVIDIA A100-PCIE-40GB")
    port = m.bridge(m.host_bridge("pci0000:40", 0), "40:01.1", hw.AMD_ROOT_PORT)
    m.netdev(m.function(port, "41:00.0", hw.X550), "ens8f0")
    m.routes(default="ens8f0")
    return m


# Bus, GPU buses, RDMA name, link layer, number of its uverbs node.
RENAMED = [("15", "18", "19", "ibp25s0", "InfiniBand", 2), ("37", "3a", "3b", "ibp59s0", "InfiniBand", 0),
           ("59", "5c", "5d", "rocep93s0f0", "Ethernet", 1)]


@machine("renamed-devices",
         "RDMA devices with the names that rdma-core's udev rule gives (NAME_PCI): ibp<bus>s<slot>,",
         "rocep<bus>s<slot>f<function>; uverbs numbers in another order. Source of the names:",
         "rdma-core kernel-boot/rdma_rename.c. Three GPUs, each with a NIC on its switch.")
def renamed_devices():
    m = Machine("renamed-devices", [(0, "0-55", 0)], "Lenovo", "ThinkSystem SR675 V3")
    m.rdma_stack()
    for root, gpu, nic, name, link, uverbs in RENAMED:
        port = m.bridge(m.host_bridge(f"pci0000:{root}", 0), f"{root}:01.0", hw.INTEL_ROOT_PORT)
        upstream = int(root, 16) + 1
        to_gpu, to_nic = m.switch(port, f"{upstream:02x}:00.0",
                                  [f"{upstream + 1:02x}:0{p}.0" for p in range(2)], hw.PEX890XX)
        m.nvidia_gpu(to_gpu, f"{gpu}:00.0", hw.H100, H100_NAME)
        model = hw.CX7_ETH if link == "Ethernet" else hw.CX7_IB
        place = m.function(to_nic, f"{nic}:00.0", model)
        netdev = name.replace("rocep", "enp") if link == "Ethernet" else name
        m.netdev(place, netdev, kind=1 if link == "Ethernet" else 32)
        m.rdma(place, name, model, 400, link, netdev, "10.10.0.7", uverbs=uverbs)
    onboard = m.bridge(m.host_bridge("pci0000:00", 0), "00:1c.0", hw.INTEL_ROOT_PORT)
    m.netdev(m.function(onboard, "01:00.0", hw.X550), "eno1")
    m.routes(default="eno1")
    return m


@machine("soft-roce",
         "A virtual machine with soft-RoCE on a virtual Ethernet pair: no PCI function, no device",
         "link, the netdev in `parent`. Attribute values as a Linux 6.1 guest in QEMU shows them.")
def soft_roce():
    m = Machine("soft-roce", [(0, "0-1", 0)], "QEMU", "Standard PC (i440FX + PIIX, 1996)")
    m.rdma_stack()
    m.tree.replace("/proc/cpuinfo")
    m.tree.raw("/proc/cpuinfo", b"processor\t: 0\nflags\t\t: fpu de pse tsc msr pae sse2 hypervisor lm\n")
    m.virtual_netdev("lo", "unknown")
    m.virtual_netdev("e0")
    m.virtual_netdev("e1")
    m.soft_rdma("rxe0", "e0", "10.0.0.1")
    return m


# Root port, switch upstream, port to the GPU, its two own bridges, GPU; port to the NIC, NIC; NUMA.
MI300X_PATHS = [
    ("00:01.1", "01:00.0", "02:00.0", "03:00.0", "04:00.0", "05:00.0", "02:01.0", "09:00.0", 0),
    ("18:01.1", "19:00.0", "1a:04.0", "29:00.0", "2a:00.0", "2b:00.0", "1a:03.0", "23:00.0", 0),
    ("48:01.1", "49:00.0", "4a:04.0", "59:00.0", "5a:00.0", "5b:00.0", "4a:03.0", "53:00.0", 0),
    ("60:01.1", "61:00.0", "62:00.0", "63:00.0", "64:00.0", "65:00.0", "62:01.0", "69:00.0", 0),
    ("78:01.1", "79:00.0", "7a:00.0", "7b:00.0", "7c:00.0", "7d:00.0", "7a:05.0", "8f:00.0", 1),
    ("98:01.1", "99:00.0", "9a:03.0", "a3:00.0", "a4:00.0", "a5:00.0", "9a:01.0", "9c:00.0", 1),
    ("c8:01.1", "c9:00.0", "ca:03.0", "d3:00.0", "d4:00.0", "d5:00.0", "ca:02.0", "cd:00.0", 1),
    ("e0:01.1", "e1:00.0", "e2:02.0", "e5:00.0", "e6:00.0", "e7:00.0", "e2:04.0", "f1:00.0", 1),
]


@machine("amd-mi300x",
         "Eight MI300X and eight ConnectX-7 on two EPYC. The GPU has a switch of its own in front.",
         "Source: lspci -PP and the pairing table in github.com/ROCm/system-acceptance-docs",
         "docs/network/topology-mapping.md @ 23e73127964d. RoCE addresses and CPU lists are chosen.")
def amd_mi300x():
    m = Machine("amd-mi300x", [(0, "0-95,192-287", 0), (1, "96-191,288-383", 1)], "Supermicro",
                "AS -8125GS-TNMR2")
    m.rdma_stack()
    for at, path in enumerate(MI300X_PATHS):
        root_port, upstream, gpu_port, own_up, own_down, gpu, nic_port, nic, numa = path
        root = m.host_bridge(f"pci0000:{root_port[:2]}", numa)
        port = m.bridge(root, root_port, hw.AMD_GENOA_ROOT_PORT)
        to_gpu, to_nic = m.switch(port, upstream, [gpu_port, nic_port], hw.PEX890XX)
        own = m.bridge(m.bridge(to_gpu, own_up, hw.MI300X_UPSTREAM), own_down, hw.MI300X_DOWNSTREAM)
        m.amd_gpu(own, gpu, hw.MI300X, 1 + at, 128 + at)
        place = m.function(to_nic, nic, hw.CX7_ETH)
        netdev = f"enp{int(nic[:2], 16)}s0np0"
        m.netdev(place, netdev)
        m.rdma(place, f"mlx5_{at}", hw.CX7_ETH, 400, "Ethernet", netdev, f"10.10.{at}.7")
    onboard = m.bridge(m.host_bridge("pci0000:40", 0), "40:03.1", hw.AMD_GENOA_ROOT_PORT)
    m.netdev(m.function(onboard, "41:00.0", hw.X550), "eno1")
    m.routes(default="eno1")
    return m


@machine("mig-a100",
         "Two A100 PCIe, the first cut into MIG instances, and one ConnectX-6 on each socket.",
         "Source of the procfs folders: NVIDIA MIG User Guide, device nodes and capabilities.")
def mig_a100():
    m = Machine("mig-a100", [(0, "0-31", 0), (1, "32-63", 1)], "Supermicro", "AS -4124GS-TNR")
    m.rdma_stack()
    for at, (root, gpu, nic) in enumerate([("20", "24", "25"), ("a0", "a4", "a5")]):
        port = m.bridge(m.host_bridge(f"pci0000:{root}", at), f"{root}:01.1", hw.AMD_ROOT_PORT)
        first = int(root, 16) + 1
        to_gpu, to_nic = m.switch(port, f"{first:02x}:00.0",
                                  [f"{first + 1:02x}:0{p}.0" for p in range(2)], hw.PEX88096)
        m.nvidia_gpu(to_gpu, f"{gpu}:00.0", hw.A100_PCIE, "NVIDIA A100-PCIE-40GB")
        place = m.function(to_nic, f"{nic}:00.0", hw.CX6_IB)
        m.netdev(place, f"ib{at}", kind=32)
        m.rdma(place, f"mlx5_{at}", hw.CX6_IB, 200, lid=0x51 + at)
    # GPU 0: 3g.20gb with two compute instances, 2g.10gb with one, 1g.5gb without any yet.
    capability = "DeviceFileMinor: {}\nDeviceFileMode: 292\nDeviceFileModify: 1\n"
    root = "/proc/driver/nvidia/capabilities/gpu0/mig"
    minor_lines = ["config 1", "monitor 2"]
    for minor, folder in [(12, "gi1"), (13, "gi1/ci0"), (14, "gi1/ci1"), (21, "gi5"), (22, "gi5/ci0"),
                          (39, "gi9")]:
        m.tree.raw(f"{root}/{folder}/access", capability.format(minor).encode())
    # The table names every instance that could be: 15 GPU instances of 8 compute instances a GPU.
    for gpu in range(2):
        for gi in range(15):
            minor_lines.append(f"gpu{gpu}/gi{gi}/access {3 + 135 * gpu + 9 * gi}")
            minor_lines += [f"gpu{gpu}/gi{gi}/ci{ci}/access {4 + 135 * gpu + 9 * gi + ci}"
                            for ci in range(8)]
    m.tree.raw("/proc/driver/nvidia-caps/mig-minors", "".join(f"{x}\n" for x in minor_lines).encode())
    m.routes(default=None, other=["ib0"])
    return m


@machine("broken-host",
         "Everything that can go wrong in one machine: denied, failing and garbled attributes. Chosen.")
def broken_host():
    m = Machine("broken-host", [(0, "0-15", 0), (1, "16-31", 1)], "Broken", "Machine")
    m.rdma_stack(netns="maybe")
    tree = m.tree
    port = m.bridge(m.host_bridge("pci0000:15", 0), "15:01.0", hw.INTEL_ROOT_PORT)
    below = m.switch(port, "16:00.0", [f"17:0{p}.0" for p in range(4)], hw.PEX890XX)
    gpus = [m.nvidia_gpu(below[at], f"1{8 + at}:00.0", hw.H100, H100_NAME) for at in range(2)]
    good = m.function(below[2], "1a:00.0", hw.CX7_IB)
    m.netdev(good, "ib0", kind=32)
    m.rdma(good, "mlx5_0", hw.CX7_IB, 400, lid=0x61)
    bad = m.function(below[3], "1b:00.0", hw.CX7_IB)
    m.rdma(bad, "mlx5_1", hw.CX7_IB, 400, lid=0x62)
    m.function(m.bridge(m.host_bridge("pci10000:e0", 1), "10000:e0:06.0", hw.INTEL_ROOT_PORT),
               "10000:e1:00.0", hw.CX7_IB, driver="")

    def spoil(path, content=None, error=None):
        tree.replace(path)
        if error:
            tree.error(path, error)
        else:
            tree.raw(path, content)

    # Both GPUs with one UUID, and a minor number that is none.
    information = "/proc/driver/nvidia/gpus/0000:{}:00.0/information"
    first = tree.entries[information.format("18")][1]
    spoil(information.format("19"), first.replace(b"Device Minor: \t 0", b"Device Minor: \t zero"))
    spoil(f"{gpus[0].path}/numa_node", b"99999999\n")
    spoil(f"{gpus[1].path}/numa_node", error="EIO")
    spoil(f"{gpus[1].path}/max_link_speed", b"Unknown\n")
    # Attributes of an RDMA device: garbage, NUL bytes, denied, far too long, from another world.
    rdma = f"{bad.path}/infiniband/mlx5_1"
    spoil(f"{rdma}/node_guid", b"a088:c203:00zz:1234\n")
    spoil(f"{rdma}/fw_ver", b"28.39\x00\x00.1002\n")
    spoil(f"{rdma}/board_id", b"M" * 5000)
    spoil(f"{rdma}/sys_image_guid", error="EACCES")
    spoil(f"{rdma}/ports/1/state", b"9: NIRVANA\n")
    spoil(f"{rdma}/ports/1/rate", b"fast\n")
    spoil(f"{rdma}/ports/1/link_layer", b"Carrier pigeon\n")
    spoil(f"{rdma}/ports/1/lid", b"0x\n")
    spoil(f"{rdma}/ports/1/gids/0", b"fe80::1\n")
    spoil(f"{rdma}/ports/1/pkeys/0", b"0x1ffff\n")
    # Device nodes: another number than sysfs says, a folder in its place, a garbled number.
    tree.replace("/dev/infiniband/uverbs1")
    tree.device("/dev/infiniband/uverbs1", 231, 200, 0o666)
    spoil(f"{bad.path}/infiniband_mad/umad1/dev", b"231\n")
    # A class entry that goes in circles, one that leads nowhere, a function with a name of its own.
    tree.link("/sys/class/infiniband/loop0", "/sys/devices/loop")
    tree.link("/sys/devices/loop", "/sys/devices/loop")
    tree.link("/sys/class/infiniband/gone0", "/sys/devices/pci0000:15/0000:15:07.0/infiniband/gone0")
    tree.directory("/sys/bus/pci/devices/not-an-address")
    tree.link("/sys/bus/pci/devices/0000:1c:00.0", "/sys/devices/pci0000:15/0000:15:05.0/0000:1c:00.0")
    spoil("/sys/devices/system/node/node1/cpulist", b"31-16\n")
    tree.error("/etc/cdi/nvidia.yaml", "EACCES")
    tree.raw("/etc/cdi/other.json", b"{\"cdiVersion\": \"0.6.0\"}\n")
    tree.error("/proc/1/net/route", "EPERM")
    return m


@machine("many-vfs",
         "For the benchmark: 16 GPUs, 32 ConnectX-7 InfiniBand with the full tables of 8 GIDs and 128",
         "pkeys, 512 virtual functions that vfio-pci holds for virtual machines. Chosen.",
         committed=False)
def many_vfs():
    m = Machine("many-vfs", [(0, "0-111", 0), (1, "112-223", 1)], "Example", "Many")
    m.rdma_stack()
    m.gid_slots, m.pkey_slots = 8, 128
    for rail in range(16):
        root = 0x08 + 0x0f * rail
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", rail // 8), f"{root:02x}:01.0",
                        hw.INTEL_ROOT_PORT)
        below = m.switch(port, f"{root + 1:02x}:00.0",
                         [f"{root + 2:02x}:0{p}.0" for p in range(3)], hw.PEX890XX)
        m.nvidia_gpu(below[0], f"{root + 3:02x}:00.0", hw.H100, H100_NAME)
        for side in range(2):
            bus = root + 4 + side
            place = m.function(below[1 + side], f"{bus:02x}:00.0", hw.CX7_IB)
            m.sriov(place, 16, 16)
            m.netdev(place, f"ibp{bus}s0", kind=32)
            m.rdma(place, f"mlx5_{2 * rail + side}", hw.CX7_IB, 400, lid=0x71 + bus)
            for at in range(16):
                short = f"{bus:02x}:{(at + 1) >> 3:02x}.{(at + 1) & 7}"
                m.virtual_function(below[1 + side], place, short, hw.MLX5_VF, at, "vfio-pci")
    onboard = m.bridge(m.host_bridge("pci0000:00", 0), "00:1c.0", hw.INTEL_ROOT_PORT)
    m.netdev(m.function(onboard, "01:00.0", hw.X550), "eno1")
    m.routes(default="eno1")
    return m


def snapshot_of(name):
    fill, source, _ = MACHINES[name]
    written_by = ["Written by tests/nodes/make_nodes.py; change it there."]
    return fill().tree.snapshot([*source, *written_by])


def committed_names():
    return [name for name, (_, _, committed) in MACHINES.items() if committed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in MACHINES]
    if unknown:
        parser.error(f"no machine {unknown[0]}; there are {', '.join(MACHINES)}")
    if options.list:
        print("\n".join(MACHINES))
    elif options.directory:
        if len(options.names) != 1:
            parser.error("--directory needs one NAME")
        MACHINES[options.names[0]][0]().tree.write_directory(options.directory)
    else:
        for name in options.names or committed_names():
            (options.out / f"{name}.node").write_bytes(snapshot_of(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
