# SPDX-License-Identifier: Apache-2.0
"""Machines with few devices, or without GPUs or RDMA devices."""
import hardware as hw
from machine import Machine
from registry import machine

H100_NAME = "NVIDIA H100 80GB HBM3"


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
