# SPDX-License-Identifier: Apache-2.0
"""Nodes of supercomputers and workstations whose NUMA nodes or PCI domains are not as elsewhere."""
import hardware as hw
from machine import Machine, Place
from registry import machine

A100_NAME = "NVIDIA A100-SXM4-80GB"


@machine("levante-a100",
         "Four A100 and two ConnectX-6 on two EPYC with NPS4: GPU 0 and GPU 3 have no NIC on their NUMA",
         "node, one on their socket. Source: nvidia-smi topo -m of DKRZ Levante in a run script of the",
         "ICON model. Addresses and bridges are chosen.")
def levante_a100():
    numa = [(node, f"{16 * node}-{16 * node + 15},{128 + 16 * node}-{143 + 16 * node}", node // 4)
            for node in range(8)]
    m = Machine("levante-a100", numa, "Atos", "BullSequana X2415")
    m.rdma_stack()
    nics = {1: "mlx5_0", 7: "mlx5_1"}
    for root, node in [(0x00, 3), (0x40, 1), (0x80, 7), (0xb0, 5)]:
        below = m.leaf_switch(root, node, 2 if node in nics else 1, hw.PEX88096, hw.AMD_ROOT_PORT)
        m.nvidia_gpu(below[0], f"{root + 3:02x}:00.0", hw.A100_64, A100_NAME)
        if node in nics:
            m.nic(below[1], f"{root + 4:02x}:00.0", nics[node], hw.CX6_IB, 200)
    m.onboard("20", 2, hw.AMD_ROOT_PORT)
    return m


@machine("gb200-tray",
         "GB200 NVL72 compute tray: four GB200, two Grace, four ConnectX-7, two dual-port BlueField-3.",
         "Each root port is a PCI domain of its own, each GPU has eight NUMA nodes without CPUs.",
         "Source: nvidia-smi topo -m and GPU NUMA ids of such a tray, published with a query engine's",
         "notes; it prints SYS even between the NICs of one Grace. Addresses are chosen, and that sysfs",
         "names the node in the GPU for a GPU (2, 10, 18, 26) and the Grace for a NIC.")
def gb200_tray():
    owners = [0, 1] + [at // 16 for at in range(32)]  # nodes 2 to 9 are GPU 0's, 10 to 17 GPU 1's, …
    rows = [" ".join(str(10 if a == b else 40 if a < 2 and b < 2 else 80 if owners[a] == owners[b] else 120)
                     for b in range(34)) for a in range(34)]
    cpus = ["0-71", "72-143"] + [""] * 32
    m = Machine("gb200-tray", [(at, cpus[at], owners[at], rows[at]) for at in range(34)], "NVIDIA",
                "GB200 NVL")
    m.rdma_stack()

    def port(domain, numa):
        bridge = m.host_bridge(f"pci{domain:04x}:00", numa)
        return m.bridge(bridge, f"{domain:04x}:00:00.0", hw.GRACE_ROOT_PORT)

    number = 0
    for grace in range(2):
        base = 0x10 * grace
        for domain in (base, base + 2):
            below, = m.switch(port(domain, grace), f"{domain:04x}:01:00.0", [f"{domain:04x}:02:00.0"],
                              hw.PEX890XX)
            m.nic(below, f"{domain:04x}:03:00.0", f"mlx5_{number}", hw.CX7_IB, 400)
            number += 1
        dpu, = m.switch(port(base + 6, grace), f"{base + 6:04x}:01:00.0", [f"{base + 6:04x}:02:00.0"],
                        hw.PEX890XX)
        m.card(dpu, f"{base + 6:04x}:03:00", [f"mlx5_{number + at}" for at in range(2)], hw.BF3_ETH, 200)
        number += 2
        for at, domain in enumerate((base + 8, base + 9)):
            below = Place(port(domain, grace).path, 2 + 16 * grace + 8 * at)
            m.nvidia_gpu(below, f"{domain:04x}:01:00.0", hw.GB200, "NVIDIA GB200")
    m.routes(default="enP6p3s0f0")
    return m


@machine("lassen-power9",
         "Four V100 and two dual-port ConnectX-5 on two POWER9. NUMA nodes 0 and 8, and 252 to 255 in",
         "the GPUs. GPU and NIC of a socket are of different PCI domains.",
         "Source: hwloc export of LLNL Lassen in github.com/LLNL/mpibind topo-xml @ d5291800fb07. The",
         "GPUs' NUMA nodes and distances: hwloc tests/hwloc/linux/nvidiagpunumanodes.")
def lassen_power9():
    nodes = [0, 8, 252, 253, 254, 255]
    cpus = {0: "8-87", 8: "96-175"}
    rows = {node: " ".join(str(10 if node == other else 40 if node < 9 and other < 9 else 80)
                           for other in nodes) for node in nodes}
    m = Machine("lassen-power9",
                [(node, cpus.get(node, ""), 8 if node in (8, 252, 253) else 0, rows[node])
                 for node in nodes])
    m.rdma_stack()
    number = 0
    for numa, nic_domain, gpu_domain, ports, first_gpu in [(0, "0003", "0004", ("0a", "0b"), 4),
                                                          (8, "0033", "0035", ("04", "05"), 3)]:
        port = m.bridge(m.host_bridge(f"pci{nic_domain}:00", numa), f"{nic_domain}:00:00.0",
                        hw.POWER9_ROOT_PORT)
        m.card(port, f"{nic_domain}:01:00", [f"mlx5_{number + at}" for at in range(2)], hw.CX5_EX_IB, 100)
        number += 2
        root = m.bridge(m.host_bridge(f"pci{gpu_domain}:00", numa), f"{gpu_domain}:00:00.0",
                        hw.POWER9_ROOT_PORT)
        below = m.switch(root, f"{gpu_domain}:01:00.0", [f"{gpu_domain}:02:{port}.0" for port in ports],
                         hw.PEX8725)
        for at, place in enumerate(below):
            m.nvidia_gpu(place, f"{gpu_domain}:0{first_gpu + at}:00.0", hw.V100_SXM2,
                         "Tesla V100-SXM2-16GB")
    port = m.bridge(m.host_bridge("pci0005:00", 0), "0005:00:00.0", hw.POWER9_ROOT_PORT)
    m.netdev(m.function(port, "0005:01:00.0", hw.BCM5720), "enP5p1s0f0")
    m.routes(default="enP5p1s0f0")
    return m


@machine("tioga-slingshot",
         "Four MI250X (eight GPUs) and four Slingshot-11 NICs, which are no RDMA devices of the kernel:",
         "nothing to hand out. Source: hwloc export of LLNL Tioga in github.com/LLNL/mpibind topo-xml",
         "@ d5291800fb07: every bridge on the paths, NUMA nodes, names.")
def tioga_slingshot():
    m = Machine("tioga-slingshot", [(node, f"{16 * node}-{16 * node + 15},{64 + 16 * node}-"
                                     f"{79 + 16 * node}", 0) for node in range(4)], "HPE",
                "HPE_CRAY_EX235A")
    for at, (root, numa) in enumerate([(0xc0, 3), (0xc8, 1), (0xd0, 0), (0xd8, 2)]):
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", numa), f"{root:02x}:07.1",
                        hw.TRENTO_GPU_PORT)
        m.amd_gpu(port, f"{root + 1:02x}:00.0", hw.MI250X, 2 * at, 128 + 2 * at)
        bridge = m.host_bridge(f"pci0000:{root + 4:02x}", numa)
        nic = m.function(m.bridge(bridge, f"{root + 4:02x}:01.1", hw.TRENTO_NIC_PORT),
                         f"{root + 5:02x}:00.0", hw.CASSINI)
        m.netdev(nic, f"hsi{at}")
        second = m.bridge(bridge, f"{root + 4:02x}:07.1", hw.TRENTO_GPU_PORT)
        m.amd_gpu(second, f"{root + 6:02x}:00.0", hw.MI250X, 2 * at + 1, 129 + 2 * at)
    m.routes(default="hsi0")
    return m


@machine("corona-mi50",
         "Eight MI50, each behind the switch of its card, and one ConnectX-6 that shares the host bridge",
         "with one of them. Source: hwloc export of LLNL Corona in github.com/LLNL/mpibind",
         "topo-xml/epyc-corona-p2.xml @ d5291800fb07: every bridge, NUMA nodes, CPUs.")
def corona_mi50():
    m = Machine("corona-mi50", [(0, "0-23,48-71", 0), (1, "24-47,72-95", 1)], "Supermicro",
                "AS -4124GQ-TNMI")
    m.rdma_stack()
    for at, (root, slot, first, numa) in enumerate([
            (0x00, "01.1", 0x01, 0), (0x20, "03.1", 0x25, 0), (0x40, "01.1", 0x41, 0),
            (0x60, "03.1", 0x61, 0), (0x80, "01.1", 0x81, 1), (0xa0, "03.1", 0xa1, 1),
            (0xc0, "01.1", 0xc1, 1), (0xe0, "03.1", 0xe1, 1)]):
        bridge = m.host_bridge(f"pci0000:{root:02x}", numa)
        port = m.bridge(bridge, f"{root:02x}:{slot}", hw.AMD_ROOT_PORT)
        card = m.bridge(port, f"{first:02x}:00.0", hw.MI50_UPSTREAM)
        place = m.bridge(card, f"{first + 1:02x}:00.0", hw.MI50_DOWNSTREAM)
        m.amd_gpu(place, f"{first + 2:02x}:00.0", hw.MI50, 1 + at, 128 + at)
        if root == 0xc0:
            m.nic(m.bridge(bridge, "c0:03.1", hw.AMD_ROOT_PORT), "c4:00.0", "mlx5_0", hw.CX6_IB, 200)
        if root == 0xe0:
            onboard = m.bridge(bridge, "e0:05.1", hw.AMD_ROOT_PORT)
            m.netdev(m.function(onboard, "e7:00.0", hw.X550), "eno1")
    m.routes(default="eno1")
    return m


@machine("dgx-spark",
         "NVIDIA DGX Spark: one GB10, one ConnectX-7 whose two ports appear on two PCI domains each, on",
         "four lanes; one cable, in the second port. Source: names and which two are one port: ibdev2netdev",
         "in the networking notes of the project spark-vllm-docker; PCI addresses and link widths:",
         "ServeTheHome's article on the ConnectX-7 of the GB10. The rest is chosen.")
def dgx_spark():
    m = Machine("dgx-spark", [(0, "0-19", 0)], "NVIDIA", "NVIDIA_DGX_Spark")
    m.rdma_stack()
    x4 = (0x020000, 0x15b3, 0x1021, 0x15b3, 0x0101, "mlx5_core", 32, 4)
    for domain, tag in [(0x0000, ""), (0x0002, "P2")]:
        port = m.bridge(m.host_bridge(f"pci{domain:04x}:00", 0), f"{domain:04x}:00:00.0",
                        hw.GRACE_ROOT_PORT)
        for function in range(2):
            place = m.function(port, f"{domain:04x}:01:00.{function}", x4)
            netdev = f"en{tag}p1s0f{function}np{function}"
            m.netdev(place, netdev, up=function == 1)
            m.rdma(place, f"roce{tag}p1s0f{function}", x4, 200, "Ethernet", netdev,
                   f"192.168.{100 + domain}.7" if function else None, up=function == 1,
                   card="the one card")
    lan = m.bridge(m.host_bridge("pci0007:00", 0), "0007:00:00.0", hw.GRACE_ROOT_PORT)
    m.netdev(m.function(lan, "0007:01:00.0", hw.RTL8127), "enP7s7")
    gpu = m.bridge(m.host_bridge("pci000f:00", 0), "000f:00:00.0", hw.GRACE_ROOT_PORT)
    m.nvidia_gpu(gpu, "000f:01:00.0", hw.GB10, "NVIDIA GB10")
    m.routes(default="enP7s7")
    return m
