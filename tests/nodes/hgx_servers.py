# SPDX-License-Identifier: Apache-2.0
"""Servers with eight NVIDIA GPUs on one baseboard, and what their builders put beside them."""
import hardware as hw
from machine import Machine
from registry import machine

H100_NAME, H200_NAME = "NVIDIA H100 80GB HBM3", "NVIDIA H200"
TWO_SOCKETS = [(0, "0-63,128-191", 0), (1, "64-127,192-255", 1)]
EIGHT_ROOTS = [0x15, 0x37, 0x48, 0x59, 0x97, 0xb7, 0xc7, 0xd7]


@machine("xe9680-three-nics-near",
         "Eight H100; GPU 0 and GPU 4 have three NICs on their own switch, one of them their own.",
         "Source: nvidia-smi topo -mp in github.com/deepseek-ai/DeepEP issue 397, whose ibv_devinfo",
         "has mlx5_0,3,4,5,6,9,10,11 as the InfiniBand fabric. What mlx5_1,2 and mlx5_7,8 are is",
         "chosen: dual-port BlueField-3, Ethernet. Addresses are chosen.")
def xe9680(name="xe9680-three-nics-near", model=hw.CX7_IB, lost=None):
    """`lost`: the rail whose NIC has fallen off the bus."""
    cpus = [",".join(str(cpu) for cpu in range(node, 12, 2)) for node in range(2)]
    m = Machine(name, [(0, cpus[0], 0), (1, cpus[1], 1)], "Dell Inc.",
                "PowerEdge XE9680")
    m.rdma_stack()
    number = 0
    for rail, root in enumerate(EIGHT_ROOTS):
        below = m.leaf_switch(root, rail // 4, 3)
        m.nvidia_gpu(below[0], f"{root + 3:02x}:00.0", hw.H100, H100_NAME)
        if rail != lost:
            m.nic(below[1], f"{root + 4:02x}:00.0", f"mlx5_{number}", model, 400,
                  ip=f"10.10.{rail}.7" if model == hw.CX7_ETH else None)
        number += 1
        if rail % 4 == 0:
            m.card(below[2], f"{root + 5:02x}:00", [f"mlx5_{number + at}" for at in range(2)],
                   hw.BF3_ETH, 200, f"10.20.{{}}.{7 + rail}")
            number += 2
    m.onboard()
    return m


@machine("xe9680-roce",
         "As xe9680-three-nics-near with Ethernet: all NICs are of one link layer and speed. Chosen.")
def xe9680_roce():
    return xe9680("xe9680-roce", hw.CX7_ETH)


@machine("xe9680-roce-nic-lost",
         "xe9680-roce whose mlx5_0 has fallen off the bus: only a BlueField is near GPU 0. Chosen.")
def xe9680_roce_nic_lost():
    return xe9680("xe9680-roce-nic-lost", hw.CX7_ETH, lost=0)


# Number of the NIC of each GPU, and of the first function of the dual-port card of each socket.
B200_RAILS = [(0x15, 4), (0x3d, 7), (0x4c, 8), (0x5b, 9), (0x97, 10), (0xbd, 13), (0xcb, 14),
              (0xd9, 15)]
B200_STORAGE = [(0x26, 0, 5), (0xa7, 1, 11)]


@machine("hgx-b200",
         "HGX B200. mlx5_0 to mlx5_3 are four functions of the ConnectX-7 that manages the NVLinks.",
         "Source: nvidia-smi topo -m and GPU addresses in github.com/NVIDIA/nccl-tests issue 333.",
         "The models are chosen: the post names none; the four functions look like those of other",
         "HGX B200. Their link width is left out. Other addresses and the bridges are chosen.")
def hgx_b200():
    m = Machine("hgx-b200", [(0, "0-55,112-167", 0), (1, "56-111,168-223", 1)], "Supermicro",
                "SYS-A22GA-NBRT")
    m.rdma_stack()
    widthless = (*hw.CX7_IB[:6], None, None)
    m.card(m.root_port(0x05, 0), "06:00", [f"mlx5_{at}" for at in range(4)], widthless, 400)
    for root, numa, first in B200_STORAGE:
        port, = m.leaf_switch(root, numa, 1)
        m.card(port, f"{root + 3:02x}:00", [f"mlx5_{first + at}" for at in range(2)], hw.CX7_IB, 200)
    for rail, (root, number) in enumerate(B200_RAILS):
        to_nic, to_gpu = m.leaf_switch(root, rail // 4, 2)
        inner, = m.switch(to_gpu, f"{root + 4:02x}:00.0", [f"{root + 5:02x}:00.0"], hw.PEX890XX)
        m.nic(to_nic, f"{root + 3:02x}:00.0", f"mlx5_{number}", hw.CX7_IB, 400)
        m.nvidia_gpu(inner, f"{root + 6:02x}:00.0", hw.B200, "NVIDIA B200")
    m.onboard()
    return m


# Upstream port of the switch inside each ConnectX-8.
CX8_SWITCHES = [0x16, 0x2d, 0x63, 0x70, 0x96, 0xb6, 0xd6, 0xe6]


def connectx8(m, upstream, numa, gpu_model, gpu_name):
    """The switch inside a ConnectX-8 with the GPU below it; the port to the NIC itself is returned."""
    root = m.root_port(upstream - 1, numa)
    to_nic, to_gpu = m.switch(root, f"{upstream:02x}:00.0",
                              [f"{upstream + 1:02x}:0{at}.0" for at in range(2)], hw.CX8_SWITCH)
    inner, = m.switch(to_gpu, f"{upstream + 3:02x}:00.0", [f"{upstream + 4:02x}:00.0"], hw.CX8_SWITCH)
    m.nvidia_gpu(inner, f"{upstream + 5:02x}:00.0", gpu_model, gpu_name)
    return to_nic, inner


def bond(m, to_nic, bus, number, model, gbps):
    """Both functions of a card in one bond: the first has the RDMA device, the second has none."""
    name, members = f"bond{number}", []
    first = m.nic(to_nic, f"{bus:02x}:00.0", f"mlx5_bond_{number}", model, gbps, master=name,
                  ip=f"10.10.{number}.7", alone=False)
    second = m.function(to_nic, f"{bus:02x}:00.1", model)
    m.netdev(second, f"enp{bus}s0f1", master=name)
    for place, netdev in ((first, f"enp{bus}s0f0"), (second, f"enp{bus}s0f1")):
        members.append((netdev, f"{place.path}/net/{netdev}"))
    m.virtual_netdev(name, lower=members)
    m.tree.attributes(f"/sys/devices/virtual/net/{name}/bonding", {"mode": "802.3ad 4"})
    return first


@machine("cx8-is-the-switch",
         "Eight GPUs, each below the PCIe switch of its own ConnectX-8, whose two ports are a bond.",
         "mlx5_2 to mlx5_5 are a ConnectX-7 on two lanes: the only InfiniBand, first by name, no NIC",
         "for data. Source: NCCL topology in github.com/alibaba/rtp-llm topo.xml @ d986a417: upstream",
         "ports, NICs, GPUs, links, CPUs. Downstream ports, the bonds' second functions and the",
         "on-board Ethernet are chosen.")
def cx8_is_the_switch():
    m = Machine("cx8-is-the-switch", [(0, "0-63,128-191", 0), (1, "64-127,192-255", 1)], "Alibaba",
                "Alibaba Cloud ECS")
    m.rdma_stack()
    x2 = (0x020700, 0x15b3, 0x1021, 0x15b3, 0x1113, "mlx5_core", 16, 2)
    m.card(m.root_port(0x26, 0), "27:00", [f"mlx5_{2 + at}" for at in range(4)], x2, 100)
    for at, upstream in enumerate(CX8_SWITCHES):
        to_nic, _ = connectx8(m, upstream, at // 4, hw.L20, "NVIDIA GPU")
        bond(m, to_nic, upstream + 2, at, hw.CX8_ETH, 400)
    m.onboard()
    return m


@machine("b200-storage-bond",
         "Eight B200 with a RoCE NIC each, mlx5_10 to mlx5_17, and a bond for storage on the second",
         "socket, of the same model. Source: nvidia-smi topo -m in a published report of an inference",
         "server's environment. Models, addresses and bridges are chosen.")
def b200_storage_bond():
    m = Machine("b200-storage-bond", TWO_SOCKETS, "Supermicro", "AS -A126GS-TNBR")
    m.rdma_stack()
    for rail, root in enumerate(EIGHT_ROOTS):
        to_nic, to_gpu = m.leaf_switch(root, rail // 4, 2, root_ids=hw.AMD_GENOA_ROOT_PORT)
        inner, = m.switch(to_gpu, f"{root + 5:02x}:00.0", [f"{root + 6:02x}:00.0"], hw.PEX890XX)
        m.nic(to_nic, f"{root + 3:02x}:00.0", f"mlx5_{10 + rail}", hw.CX7_ETH, 400,
              ip=f"10.20.{rail}.7")
        m.nvidia_gpu(inner, f"{root + 7:02x}:00.0", hw.B200, "NVIDIA B200")
    bond(m, m.root_port(0xe7, 1, hw.AMD_GENOA_ROOT_PORT), 0xe8, 0, hw.CX7_ETH, 400)
    m.onboard(port_ids=hw.AMD_GENOA_ROOT_PORT)
    return m


@machine("hgx-b300-planes",
         "HGX B300. Each GPU is below the switch of its ConnectX-8, which has twelve ports in",
         "four-plane mode: 3, 6, 9 and 12 carry data, the others are never up. Beside the GPU is its",
         "data-direct function (15b3:2100), on another bus than its NIC.",
         "Source of the ports: github.com/scitix/sichek components/infiniband/config; of class and",
         "id of that function: NCCL src/graph/topo.cc. The rest is chosen, the switches after",
         "cx8-is-the-switch.")
def hgx_b300_planes():
    m = Machine("hgx-b300-planes", TWO_SOCKETS, "Supermicro", "SYS-822GS-NB3RT")
    m.rdma_stack()
    for at, upstream in enumerate(CX8_SWITCHES):
        to_nic, inner = connectx8(m, upstream, at // 4, hw.B300, "NVIDIA B300 SXM6 AC")
        place = m.function(to_nic, f"{upstream + 2:02x}:00.0", hw.CX8_IB)
        m.netdev(place, f"ibp{upstream + 2}s0", kind=32)
        m.rdma(place, f"mlx5_{at}", hw.CX8_IB, 800, lid=0x81 + at, planes=(12, [3, 6, 9, 12]))
        m.function(inner, f"{upstream + 5:02x}:00.1", hw.CX8_DATA_DIRECT)
    m.onboard()
    return m


@machine("h200-shuffled-nics",
         "Eight H200 on two EPYC 9534; NIC i belongs to GPU 2, 1, 7, 3, 0, 6, 4, 5.",
         "Source: nvidia-smi topo -m in a published report on a cluster's nodes. Addresses and",
         "bridges are chosen.")
def h200_shuffled_nics():
    m = Machine("h200-shuffled-nics", TWO_SOCKETS, "Supermicro", "AS -8125GS-TNHR")
    m.rdma_stack()
    gpu_of_nic = [2, 1, 7, 3, 0, 6, 4, 5]
    for rail, root in enumerate(EIGHT_ROOTS):
        to_gpu, to_nic = m.leaf_switch(root, rail // 4, 2, root_ids=hw.AMD_GENOA_ROOT_PORT)
        m.nvidia_gpu(to_gpu, f"{root + 3:02x}:00.0", hw.H200, H200_NAME)
        m.nic(to_nic, f"{root + 4:02x}:00.0", f"mlx5_{gpu_of_nic.index(rail)}", hw.CX7_IB, 400)
    m.onboard(port_ids=hw.AMD_GENOA_ROOT_PORT)
    return m


@machine("h100-reversed-nics",
         "Eight H100; mlx5_8 to mlx5_1 belong to GPU 0 to 7, mlx5_0 is the front-end, of no NUMA node.",
         "Source: nvidia-smi topo -m in github.com/NVIDIA/nccl issue 1453. Why mlx5_0 is SYS to all is",
         "not said there: a function without NUMA node on a bus of its own is chosen, as are its",
         "model (ConnectX-7, Ethernet, with the default route), the addresses and the bridges.")
def h100_reversed_nics():
    m = Machine("h100-reversed-nics", [(0, "0-79", 0), (1, "80-159", 1)], "QCT", "QuantaGrid D74H-7U")
    m.rdma_stack()
    front = m.root_port(0x05, -1)
    m.nic(front, "06:00.0", "mlx5_0", hw.CX7_ETH, 400, ip="10.20.0.7")
    for rail, root in enumerate(EIGHT_ROOTS):
        to_gpu, to_nic = m.leaf_switch(root, rail // 4, 2)
        m.nvidia_gpu(to_gpu, f"{root + 3:02x}:00.0", hw.H100, H100_NAME)
        m.nic(to_nic, f"{root + 4:02x}:00.0", f"mlx5_{8 - rail}", hw.CX7_IB, 400)
    m.routes(default="enp6s0")
    return m


@machine("h200-numa-off",
         "Eight H200, two sockets, numa=off: one NUMA node with all CPUs, everything else is NODE.",
         "mlx5_3,4 and mlx5_9,10 are dual-port storage cards. Source: nvidia-smi topo -m in a",
         "published report. Addresses, bridges and the storage cards' model are chosen.")
def h200_numa_off():
    m = Machine("h200-numa-off", [(0, "0-191", 0)], "Dell Inc.", "PowerEdge XE9680")
    m.rdma_stack()
    number = 0
    for rail, root in enumerate(EIGHT_ROOTS):
        if rail in (3, 7):
            m.card(m.root_port(root - 8, 0), f"{root - 7:02x}:00",
                   [f"mlx5_{number + at}" for at in range(2)], hw.CX7_IB, 200)
            number += 2
        to_gpu, to_nic = m.leaf_switch(root, 0, 2)
        m.nvidia_gpu(to_gpu, f"{root + 3:02x}:00.0", hw.H200, H200_NAME)
        m.nic(to_nic, f"{root + 4:02x}:00.0", f"mlx5_{number}", hw.CX7_IB, 400)
        number += 1
    m.onboard()
    return m


@machine("a100-nics-on-one-socket",
         "Eight A100; all NICs are on the socket of GPU 0 to 3. mlx5_2 and mlx5_3 are one card.",
         "Source: nvidia-smi topo -m on a published page about installing such a machine. It prints",
         "SYS between GPU 0 and mlx5_2 although both are of NUMA node 0, which no sysfs tells: here",
         "that is NODE. Addresses and bridges are chosen.")
def a100_nics_on_one_socket():
    m = Machine("a100-nics-on-one-socket", [(0, "0-31,64-95", 0), (1, "32-63,96-127", 1)], "Inspur",
                "NF5488A5")
    m.rdma_stack()
    nics = {0: [["mlx5_0"], ["mlx5_1"]], 1: [["mlx5_2", "mlx5_3"]], 2: [], 3: []}
    for pair, root in enumerate([0x20, 0x40, 0xa0, 0xc0]):
        tops = m.leaf_switch(root, pair // 2, 2 + len(nics[pair]), hw.PEX88096, hw.AMD_ROOT_PORT)
        for at, top in enumerate(tops):
            bus = root + 3 + 3 * at
            leaf, = m.switch(top, f"{bus:02x}:00.0", [f"{bus + 1:02x}:00.0"], hw.PEX88096)
            if at < 2:
                m.nvidia_gpu(leaf, f"{bus + 2:02x}:00.0", hw.A100_SXM, "NVIDIA A100-SXM4-40GB")
                continue
            names = nics[pair][at - 2]
            if len(names) == 1:
                m.nic(leaf, f"{bus + 2:02x}:00.0", names[0], hw.CX6_IB, 200)
            else:
                m.card(leaf, f"{bus + 2:02x}:00", names, hw.CX6_IB, 200)
    m.onboard(port_ids=hw.AMD_ROOT_PORT)
    return m


@machine("bonds-with-vfs",
         "Eight H200 and four bonded ConnectX-7 with eight virtual functions each, near GPU 0, 2, 4",
         "and 6; the bonds are numbered against the virtual functions.",
         "Source: nvidia-smi topo -m in a published report of an inference server's environment.",
         "Addresses, bridges and the bonds' second functions are chosen.")
def bonds_with_vfs():
    m = Machine("bonds-with-vfs", [(0, "0-55,112-167", 0), (1, "56-111,168-223", 1)], "Lenovo",
                "ThinkSystem SR680a V3")
    m.rdma_stack()
    eth_vf = (0x020000, *hw.MLX5_VF[1:])
    # Bond numbers by card: NIC34 and NIC35 of the source are mlx5_bond_2 and mlx5_bond_3.
    bonds = {0: 3, 2: 2, 4: 0, 6: 1}
    for rail, root in enumerate(EIGHT_ROOTS):
        to_gpu, to_nic = m.leaf_switch(root, rail // 4, 2)
        m.nvidia_gpu(to_gpu, f"{root + 3:02x}:00.0", hw.H200, H200_NAME)
        if rail not in bonds:
            continue
        bus = root + 4
        first = bond(m, to_nic, bus, bonds[rail], hw.CX7_ETH, 200)
        m.sriov(first, 8, 8)
        for at in range(8):
            number = 4 * rail + at
            place = m.virtual_function(to_nic, first, f"{bus:02x}:{(at + 2) >> 3:02x}.{(at + 2) & 7}",
                                       eth_vf, at)
            m.netdev(place, f"enp{bus}s0f0v{at}")
            m.rdma(place, f"mlx5_{number}", eth_vf, 200, "Ethernet", f"enp{bus}s0f0v{at}")
    m.onboard()
    return m


@machine("vfs-on-one-socket",
         "Eight H200 with a NIC each; mlx5_0 to mlx5_17 are the two ports of a front-end card and",
         "their virtual functions, all on the second socket. GPU 1 and GPU 2 share a host bridge.",
         "Source: nvidia-smi topo -m in github.com/vllm-project/vllm issue 16997, rows of GPU 0 to 5.",
         "The NICs of GPU 6 and 7, what mlx5_0 to mlx5_17 are, addresses and bridges are chosen.")
def vfs_on_one_socket():
    m = Machine("vfs-on-one-socket", [(0, "0-95,192-287", 0), (1, "96-191,288-383", 1)], "Supermicro",
                "AS -8126GS-TNMR")
    m.rdma_stack()
    port = m.root_port(0x81, 1, hw.AMD_GENOA_ROOT_PORT)
    eth_vf = (0x020000, *hw.MLX5_VF[1:])
    ports = m.card(port, "82:00", ["mlx5_0", "mlx5_9"], hw.CX6DX, 100, "10.20.{}.7")
    for function, physical in enumerate(ports):
        m.sriov(physical, 8, 8)
        for at in range(8):
            place = m.virtual_function(port, physical, f"82:0{1 + function}.{at}", eth_vf, at)
            m.rdma(place, f"mlx5_{9 * function + 1 + at}", eth_vf, 100, "Ethernet")
    shared = m.host_bridge("pci0000:20", 0)
    # Root port, bus of the first switch, NUMA node, NIC.
    for root, slot, numa, nic in [(0x15, "01.1", 0, 18), (0x20, "01.1", 0, 21), (0x20, "03.1", 0, 20),
                                  (0x59, "01.1", 0, 19), (0x97, "01.1", 1, 24), (0xb7, "01.1", 1, 23),
                                  (0xc7, "01.1", 1, 22), (0xd7, "01.1", 1, 25)]:
        bridge = shared if root == 0x20 else m.host_bridge(f"pci0000:{root:02x}", numa)
        first = root + 1 + (8 if slot == "03.1" else 0)
        to_gpu, to_nic = m.switch(
            m.bridge(bridge, f"{root:02x}:{slot}", hw.AMD_GENOA_ROOT_PORT), f"{first:02x}:00.0",
            [f"{first + 1:02x}:0{at}.0" for at in range(2)], hw.PEX890XX)
        m.nvidia_gpu(to_gpu, f"{first + 2:02x}:00.0", hw.H200, H200_NAME)
        m.nic(to_nic, f"{first + 3:02x}:00.0", f"mlx5_{nic}", hw.CX7_IB, 400)
    m.onboard(port_ids=hw.AMD_GENOA_ROOT_PORT)
    return m
