# SPDX-License-Identifier: Apache-2.0
"""Servers with AMD GPUs."""
import hardware as hw
from machine import Machine
from registry import machine


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
