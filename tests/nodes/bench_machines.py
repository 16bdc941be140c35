# SPDX-License-Identifier: Apache-2.0
"""Machines that only benchmarks use: larger than any that is published. None is committed."""
import hardware as hw
from machine import Machine
from registry import machine


@machine("thousand-vfs",
         "For the benchmark: eight ConnectX-7 Ethernet ports with 128 virtual functions each, every one",
         "an RDMA device of its own. Chosen.",
         committed=False)
def thousand_vfs():
    m = Machine("thousand-vfs", [(0, "0-55", 0), (1, "56-111", 1)], "Example", "Thousand")
    m.rdma_stack()
    for port in range(8):
        root = 0x10 + 0x10 * port
        below = m.bridge(m.host_bridge(f"pci0000:{root:02x}", port // 4), f"{root:02x}:01.0",
                         hw.INTEL_ROOT_PORT)
        bus = root + 1
        place = m.nic(below, f"{bus:02x}:00.0", f"mlx5_{port}", hw.CX7_ETH, 400)
        m.sriov(place, 128, 128)
        for at in range(128):
            short = f"{bus:02x}:{(at + 8) >> 3:02x}.{at & 7}"
            function = m.virtual_function(below, place, short, hw.MLX5_VF, at, "mlx5_core")
            m.netdev(function, f"enp{bus}s0v{at}")
            m.rdma(function, f"mlx5_{8 + 128 * port + at}", hw.MLX5_VF, 400, "Ethernet")
    onboard = m.bridge(m.host_bridge("pci0000:00", 0), "00:1c.0", hw.INTEL_ROOT_PORT)
    m.netdev(m.function(onboard, "01:00.0", hw.X550), "eno1")
    m.routes(default="eno1")
    return m
