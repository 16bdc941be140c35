#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a machine so wide that an answer for all its GPUs is larger than 4096 bytes: 8 GPUs with 5
InfiniBand NICs each. Prints the GPUs' UUIDs, comma-separated.

  wide_node.py FILE
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nodes"))

import hardware as hw  # noqa: E402
from machine import Machine  # noqa: E402

NICS_PER_GPU = 5


def wide():
    m = Machine("wide", [(0, "0-55", 0), (1, "56-111", 1)], "Example", "Wide")
    m.rdma_stack()
    for rail in range(8):
        root = 0x10 + 0x1A * rail
        port = m.bridge(m.host_bridge(f"pci0000:{root:02x}", rail // 4), f"{root:02x}:01.0", hw.INTEL_ROOT_PORT)
        ports = [f"{root + 2:02x}:{at:02x}.0" for at in range(1 + NICS_PER_GPU)]
        to_gpu, *to_nics = m.switch(port, f"{root + 1:02x}:00.0", ports, hw.PEX890XX)
        m.nvidia_gpu(to_gpu, f"{root + 3:02x}:00.0", hw.H100, "NVIDIA H100 80GB HBM3")
        for at, below in enumerate(to_nics):
            place = m.function(below, f"{root + 4 + at:02x}:00.0", hw.CX7_IB)
            m.netdev(place, f"ibp{root + 4 + at}s0", kind=32)
            m.rdma(place, f"mlx5_{rail * NICS_PER_GPU + at}", hw.CX7_IB, 400, lid=0x11 + rail * NICS_PER_GPU + at)
    return m.tree.snapshot(["For the conformance tests. Chosen."])


def main():
    text = wide()
    with open(sys.argv[1], "wb") as file:
        file.write(text)
    print(",".join(re.findall(r"GPU-[0-9a-f-]{36}", text.decode())))


if __name__ == "__main__":
    main()
