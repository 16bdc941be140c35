# SPDX-License-Identifier: Apache-2.0
"""Servers with PCIe cards as GPUs: switches chosen by the builder, few NICs."""
import hardware as hw
from machine import Machine
from registry import machine

# Upstream port, NUMA node, buses of the two GPUs and the NIC, number of the NIC; two rows are the
# inner switches of one outer switch.
L20_SWITCHES = [
    (0x0e, 0, (0x10, 0x11), 0x12, 1), (0x4b, 0, (0x4e, 0x4f), 0x4d, 3),
    (0x40, 1, (0x42, 0x43), 0x44, 2), (0x55, 1, (0x58, 0x59), 0x57, 4),
    (0x8b, 0, (0x8d, 0x8e), 0x8f, 5), (0xc8, 0, (0xcb, 0xcc), 0xca, 7),
    (0xbd, 1, (0xbf, 0xc0), 0xc1, 6), (0xd2, 1, (0xd5, 0xd6), 0xd4, 8),
]


@machine("l20-nested-switches",
         "Sixteen L20 and eight BlueField-3 below nested switches: two GPUs and a NIC on each inner",
         "one. GPU order jumps between sockets and switches; every compute NIC is a DPU.",
         "Source: NCCL topology in github.com/zy-uestc/yccl topo_l20.xml @ d76a1b034e70: functions,",
         "switches, NUMA nodes, CPUs. Downstream and root ports are chosen, and mlx5_0, which the",
         "file leaves out: a ConnectX-6 Dx with the default route.")
def l20_nested_switches():
    m = Machine("l20-nested-switches", [(0, "0-47,96-143", 0), (1, "48-95,144-191", 1)], "ASUSTeK",
                "ESC8000-E11P")
    m.rdma_stack()
    m.nic(m.root_port(0x06, 0), "07:00.0", "mlx5_0", hw.CX6DX, 100, ip="10.20.0.7")
    for outer in range(4):
        pair = L20_SWITCHES[2 * outer:2 * outer + 2]
        root = pair[0][0] - 4
        tops = m.leaf_switch(root, pair[0][1], 2)
        for top, (upstream, _, gpus, nic, number) in zip(tops, pair):
            below = m.switch(top, f"{upstream:02x}:00.0",
                             [f"{upstream + 1:02x}:0{at}.0" for at in range(3)], hw.PEX890XX)
            for place, bus in zip(below, gpus):
                m.nvidia_gpu(place, f"{bus:02x}:00.0", hw.L20, "NVIDIA L20")
            m.nic(below[2], f"{nic:02x}:00.0", f"mlx5_{number}", hw.BF3_ETH, 400,
                  ip=f"10.10.{number}.7")
    m.routes(default="enp7s0")
    return m


@machine("rtx3090-one-nic",
         "Eight RTX 3090 behind two switches, one InfiniBand NIC at 56 Gb/s on the second.",
         "Source: NCCL topology in github.com/Panlichen/nccl-tests topo.xml @ 86fe5c55a2c0: functions,",
         "upstream ports, NUMA nodes, CPUs. Downstream and root ports are chosen.")
def rtx3090_one_nic():
    m = Machine("rtx3090-one-nic", [(0, "0-15,32-47", 0), (1, "16-31,48-63", 1)], "Supermicro",
                "SYS-420GP-TNR")
    m.rdma_stack()
    for numa, upstream in enumerate([0x0c, 0x98]):
        ports = m.switch(m.root_port(upstream - 1, numa), f"{upstream:02x}:00.0",
                         [f"{upstream + 1:02x}:0{at}.0" for at in range(5)], hw.PSX_GEN4)
        for at, port in enumerate(ports[:4]):
            m.nvidia_gpu(port, f"{upstream + 3 + at:02x}:00.0", hw.RTX3090, "NVIDIA GeForce RTX 3090")
        if numa == 1:
            m.nic(ports[4], "9a:00.0", "mlx5_0", hw.CX6_IB, 56)
    m.onboard()
    return m


@machine("rtx4090-one-socket",
         "Eight RTX 4090 behind two switches, all on the second socket; the dual-port NIC has a root",
         "port of its own there. Source: nvidia-smi topo -m and netdev names (ibp177s0f0) in a",
         "published article on peer-to-peer with these GPUs. Other addresses and models are chosen.")
def rtx4090_one_socket():
    m = Machine("rtx4090-one-socket", [(0, "0-31,64-95", 0), (1, "32-63,96-127", 1)], "Supermicro",
                "SYS-421GE-TNRT")
    m.rdma_stack()
    for root in (0x80, 0xc0):
        for at, port in enumerate(m.leaf_switch(root, 1, 4, hw.PEX88096)):
            m.nvidia_gpu(port, f"{root + 3 + at:02x}:00.0", hw.RTX4090, "NVIDIA GeForce RTX 4090")
    m.card(m.root_port(0xb0, 1), "b1:00", ["ibp177s0f0", "ibp177s0f1"], hw.CX6_IB, 200)
    m.onboard()
    return m


@machine("h100-six-gpus",
         "Six H100, two are missing; one dual-port NIC on the first socket. NVMe behind Intel VMD: PCI",
         "domain 10000. Source: nvidia-smi topo -m in a comment of a published topology tool; the",
         "VMD is chosen. So are addresses, bridges and the NIC's model.")
def h100_six_gpus():
    m = Machine("h100-six-gpus", [(0, "0-47,96-143", 0), (1, "48-95,144-191", 1)], "Supermicro",
                "SYS-821GE-TNHR")
    m.rdma_stack()
    for rail, root in enumerate([0x15, 0x37, 0x48, 0x97, 0xb7, 0xc7]):
        port, = m.leaf_switch(root, rail // 3, 1)
        m.nvidia_gpu(port, f"{root + 3:02x}:00.0", hw.H100, "NVIDIA H100 80GB HBM3")
    m.card(m.root_port(0x59, 0), "5a:00", ["mlx5_0", "mlx5_1"], hw.CX7_IB, 200)
    for at in range(2):
        vmd = m.bridge(m.host_bridge(f"pci1000{at}:80", at), f"1000{at}:80:01.0", hw.INTEL_ROOT_PORT)
        m.function(vmd, f"1000{at}:81:00.0", hw.NVME)
    m.onboard()
    return m


# Upstream port of each switch, upstream ports of its GPU cards, bus of its NIC, its first number.
BATTLEMAGE_SWITCHES = [(0xa8, (0xaa, 0xae), 0xb2, 4), (0xb8, (0xbb, 0xbf), 0xba, 6)]


@machine("intel-battlemage",
         "Four Intel GPUs and two dual-port NICs behind two switches of the second socket. Each GPU card",
         "has a switch of its own, which does not count: a GPU and the NIC beside it are PIX.",
         "Source: comments of a published DeepEP test for Intel GPUs with iSHMEM (node_wrapper.sh):",
         "addresses of GPUs and NICs, the buses of each switch (a8-b4, b8-c5), who is below which, NUMA",
         "node, names. Published lspci listings of an Arc Pro B70: its switch, e2ff and e2f0, one bus",
         "each, its class and driver. The model, the switches and the NICs' speed are chosen. The first",
         "socket's half (GPUs 0 to 3, mlx5_0 to mlx5_3) is not in the source and is left out.")
def intel_battlemage():
    m = Machine("intel-battlemage", [(0, "0-31,64-95", 0), (1, "32-63,96-127", 1)], "Supermicro",
                "SYS-421GE-TNRT")
    m.rdma_stack()
    gpus = 0
    for upstream, cards, nic, number in BATTLEMAGE_SWITCHES:
        ports = m.switch(m.root_port(upstream - 1, 1), f"{upstream:02x}:00.0",
                         [f"{upstream + 1:02x}:0{at}.0" for at in range(3)], hw.PEX890XX)
        for port, card in zip(ports, cards):
            own, = m.switch(port, f"{card:02x}:00.0", [f"{card + 1:02x}:01.0"],
                            hw.BATTLEMAGE_UPSTREAM, hw.BATTLEMAGE_DOWNSTREAM)
            m.drm_gpu(own, f"{card + 2:02x}:00.0", hw.ARC_PRO_B70, 1 + gpus, 128 + gpus)
            gpus += 1
        m.card(ports[2], f"{nic:02x}:00", [f"mlx5_{number + at}" for at in range(2)], hw.CX7_ETH, 200,
               f"10.{number}.{{}}.7")
    m.onboard()
    return m


# Upstream port of each inner switch, its GPUs, its NIC; one outer switch a socket. Each GPU is two
# buses behind the bridge of its card.
HYGON_SWITCHES = {
    3: (0x31, [(0x33, (0x37, 0x3a), None), (0x3b, (0x3f,), None), (0x40, (0x45,), 0x42)]),
    7: (0xb1, [(0xb3, (0xb7, 0xba), None), (0xbb, (0xbf,), 0xc0), (0xc1, (0xc5,), None)]),
}


@machine("hygon-dcu",
         "Eight Hygon DCU behind nested switches and the bridges of their cards, so every pair of a socket",
         "is PXB: only the depth of the common switch tells who is nearer. Two dual-port ConnectX-7",
         "Ethernet, and a 10 Gb/s ConnectX-4 Lx that is RDMA capable as well.",
         "Source: NCCL topology in github.com/ROCm/rccl issue 1185: bridges, functions, NUMA nodes.",
         "Downstream and root ports, the default route and the driver's name (hydcu) are not in it.")
def hygon_dcu():
    numa = [(node, f"{8 * node}-{8 * node + 7}", node // 4) for node in range(8)]
    m = Machine("hygon-dcu", numa, "Sugon", "X785-H30")
    m.rdma_stack()
    nics, gpus = [], 0
    for node, (outer, inner) in HYGON_SWITCHES.items():
        tops = m.switch(m.root_port(outer - 1, node, hw.AMD_ROOT_PORT), f"{outer:02x}:00.0",
                        [f"{outer + 1:02x}:{4 * at:02x}.0" for at in range(3)], hw.PEX88096)
        for top, (upstream, dcus, nic) in zip(tops, inner):
            below = m.switch(top, f"{upstream:02x}:00.0",
                             [f"{upstream + 1:02x}:{4 * at:02x}.0" for at in range(3)], hw.PEX88096)
            for place, bus in zip(below, dcus):
                card = m.bridge(place, f"{bus - 2:02x}:00.0", hw.HYGON_BRIDGE)
                own = m.bridge(card, f"{bus - 1:02x}:00.0", hw.HYGON_BRIDGE)
                m.amd_gpu(own, f"{bus:02x}:00.0", hw.HYGON_DCU, 1 + gpus, 128 + gpus)
                gpus += 1
            if nic:
                nics.append((below[2], nic, hw.CX7_ETH, 200))
    nics.insert(1, (m.root_port(0x90, 5, hw.AMD_ROOT_PORT), 0x91, hw.CX4_LX, 10))
    for card, (place, bus, model, gbps) in enumerate(nics):
        m.card(place, f"{bus:02x}:00", [f"mlx5_{2 * card + at}" for at in range(2)], model, gbps,
               f"10.{10 + card}.{{}}.7")
    m.routes(default="enp145s0f1")
    return m
