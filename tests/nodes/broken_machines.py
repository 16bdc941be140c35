# SPDX-License-Identifier: Apache-2.0
"""Machines whose files lie."""
import hardware as hw
from machine import Machine
from registry import machine

H100_NAME = "NVIDIA H100 80GB HBM3"


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
