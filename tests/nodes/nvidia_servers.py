# SPDX-License-Identifier: Apache-2.0
"""Bare-metal servers with eight or more NVIDIA GPUs."""
import hardware as hw
from machine import Machine
from registry import machine

H100_NAME = "NVIDIA H100 80GB HBM3"


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
def dgx_h100(name="dgx-h100", down=None, unbound=None, gone=None):
    """The last three: an RDMA device whose port is down, whose function has no driver, that is lost."""
    m = Machine(name, XEON_8480C, "NVIDIA", "DGXH100", cpu=("GenuineIntel", 6, 143))
    m.rdma_stack()
    names = {}  # RDMA devices are numbered in the order of their PCI addresses
    for root, numa, nic in DGX_H100_RAILS:
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:01.0",
                        hw.INTEL_ROOT_PORT)
        to_nic, to_gpu = m.switch(port, f"{root + 1:02x}:00.0",
                                  [f"{root + 2:02x}:00.0", f"{root + 2:02x}:01.0"], hw.PEX890XX)
        inner, = m.switch(to_gpu, f"{root + 4:02x}:00.0", [f"{root + 5:02x}:00.0"], hw.PEX890XX)
        if nic != gone:
            place = m.function(to_nic, f"{root + 3:02x}:00.0", hw.CX7_IB, "" if nic == unbound else None)
            names[nic] = (place, f"ibp{root + 3}s0", nic)
        m.nvidia_gpu(inner, f"{root + 6:02x}:00.0", hw.H100, H100_NAME)
    for root, numa, nics in DGX_H100_STORAGE:
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:01.0",
                        hw.INTEL_ROOT_PORT)
        below, = m.switch(port, f"{root + 1:02x}:00.0", [f"{root + 2:02x}:00.0"], hw.PEX890XX)
        for function, nic in enumerate(nics):
            place = m.function(below, f"{root + 3:02x}:00.{function}", hw.CX7_IB)
            names[nic] = (place, f"ibp{root + 3}s0f{function}", nics[0])
    for number in range(12):
        nic = f"mlx5_{number}"
        if nic in (gone, unbound):
            continue
        place, netdev, card = names[nic]
        m.sriov(place, 16)
        m.netdev(place, netdev, kind=32)
        m.rdma(place, nic, hw.CX7_IB, 400, up=nic != down, lid=0x11 + number, card=card,
               uverbs=number)
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


@machine("dgx-h100-degraded",
         "dgx-h100 on a bad day: the port of mlx5_3 is down, mlx5_4 has lost its driver, mlx5_9 is gone.",
         "What fails is chosen.")
def dgx_h100_degraded():
    return dgx_h100("dgx-h100-degraded", down="mlx5_3", unbound="mlx5_4", gone="mlx5_9")


@machine("dgx-h100-from-a-pod",
         "dgx-h100 as a container with GPU 2, 3, 6 and 7 sees it: sysfs has the whole machine, procfs four",
         "GPUs, /dev one NIC, and the netdevs are those of the container's network namespace.",
         "Source: nvidia-smi topo -m in pods with some of a machine's GPUs, which list every RDMA device",
         "of the host (published with reports on DeepEP and inference servers). The selection is chosen.")
def dgx_h100_from_a_pod():
    m = dgx_h100("dgx-h100-from-a-pod")
    hidden = [f"0000:{root + 6:02x}:00.0" for at, (root, _, _) in enumerate(DGX_H100_RAILS)
              if at in (0, 1, 4, 5)]
    for path in list(m.tree.entries):
        of_hidden = any(path.startswith(f"/proc/driver/nvidia/gpus/{gpu}/") for gpu in hidden)
        other_node = path.startswith("/dev/infiniband/") and not path.endswith(("uverbs4", "rdma_cm"))
        if of_hidden or other_node or "/net/" in path:
            m.tree.replace(path)
    m.virtual_netdev("lo", "unknown")
    m.virtual_netdev("eth0")
    m.routes(default="eth0")
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
    m = Machine("dgx-a100", DGX_A100_NUMA, "NVIDIA", "DGXA100 920-23687-2530-000",
                cpu=("AuthenticAMD", 23, 49))
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


@machine("dgx1-v100",
         "NVIDIA DGX-1 with V100: two GPUs and a NIC on each switch, two switches on each host bridge.",
         "Source: nvidia-smi topo -m in a guide to that tool, whose columns are mlx5_0 2 1 3.",
         "Bus addresses and bridges are chosen.")
def dgx1_v100():
    m = Machine("dgx1-v100", [(0, "0-19,40-59", 0), (1, "20-39,60-79", 1)], "NVIDIA", "DGX-1 with V100-32")
    m.rdma_stack()
    nics = []
    for numa, root, switches in [(0, 0x00, [(0x02, (0x06, 0x07), 0x05), (0x08, (0x0a, 0x0b), 0x0c)]),
                                 (1, 0x80, [(0x81, (0x85, 0x86), 0x84), (0x87, (0x89, 0x8a), 0x8b)])]:
        bridge = m.host_bridge(f"pci0000:{root:02x}", numa)
        for at, (upstream, gpus, nic) in enumerate(switches):
            port = m.bridge(bridge, f"{root:02x}:0{2 + at}.0", hw.SKYLAKE_ROOT_PORT)
            below = m.switch(port, f"{upstream:02x}:00.0",
                             [f"{upstream + 1:02x}:{8 + 4 * p:02x}.0" for p in range(3)], hw.PEX8796)
            for place, gpu in zip(below, gpus):
                m.nvidia_gpu(place, f"{gpu:02x}:00.0", hw.V100_SXM2, "Tesla V100-SXM2-32GB")
            nics.append((below[2], nic))
    for number, (place, bus) in enumerate(nics):
        m.nic(place, f"{bus:02x}:00.0", f"mlx5_{number}", hw.CX5_IB, 100)
    m.onboard("ae")
    return m


# Root bus, NUMA node, device ids of the outer switch, upstream ports of its inner switches; each
# inner switch has a GPU one bus behind its downstream bus, a NIC two, a GPU three.
DGX2_ROOTS = [(0x2b, 0, (0x32, 0x37)), (0x4e, 0, (0x55, 0x5a)), (0xae, 1, (0xb5, 0xba)),
              (0xd7, 1, (0xde, 0xe3))]


@machine("dgx2",
         "NVIDIA DGX-2: sixteen V100, eight ConnectX-5 one to a pair of GPUs, a dual-port one for storage.",
         "Source: hwloc tests/hwloc/xml/nvidiaDGX2.xml @ 3b37b024aa3f: every bridge, GPU and NUMA node.",
         "Relations and the ten NICs: nvidia-smi topo -m in github.com/NVIDIA/nccl-tests issue 78. The",
         "buses of the NICs are those that the export leaves free; the storage card's is chosen.")
def dgx2():
    m = Machine("dgx2", [(0, "0-23,48-71", 0), (1, "24-47,72-95", 1)], "NVIDIA", "NVIDIA DGX-2")
    m.rdma_stack()
    nics = []
    for root, numa, inner in DGX2_ROOTS:
        port = m.root_port(root, numa, hw.SKYLAKE_ROOT_PORT, "00.0")
        tops = m.switch(port, f"{root + 1:02x}:00.0", [f"{root + 2:02x}:{p}.0" for p in ("04", "0c")],
                        hw.PEX9781)
        for top, upstream in zip(tops, inner):
            below = m.switch(top, f"{upstream:02x}:00.0",
                             [f"{upstream + 1:02x}:{p}.0" for p in ("00", "08", "10")], hw.PEX9781)
            for place, bus in ((below[0], upstream + 2), (below[2], upstream + 4)):
                m.nvidia_gpu(place, f"{bus:02x}:00.0", hw.V100_SXM3, "Tesla V100-SXM3-32GB")
            nics.append((below[1], f"{upstream + 3:02x}:00.0"))
    storage = m.root_port(0x85, 1, hw.SKYLAKE_ROOT_PORT, "00.0")
    nics += [(storage, f"86:00.{function}") for function in range(2)]
    for number, (place, bdf) in enumerate(sorted(nics, key=lambda nic: nic[1])):
        m.nic(place, bdf, f"mlx5_{number}", hw.CX5_IB, 100, alone=place is not storage)
    m.onboard()
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
