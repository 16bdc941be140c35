# SPDX-License-Identifier: Apache-2.0
"""Two NUMA nodes for a kubelet on a machine that may have one.

The kubelet's Topology Manager drops hints for nodes that the kernel does not show, so a folder in
the form of /sys/devices/system/node is mounted over it, in the jail's mount namespace. What is read
there: cadvisor, utils/sysinfo/sysinfo.go (CPUs, meminfo, huge pages, distances).
"""

import contextlib
import os
import pathlib
import subprocess
from collections.abc import Iterator

NODES = pathlib.Path("/sys/devices/system/node")
CPUS = "/sys/devices/system/cpu"


def _make_node(folder: pathlib.Path, number: int, cpus: list[int]) -> None:
    node = folder / f"node{number}"
    (node / "hugepages").mkdir(parents=True)
    (node / "meminfo").write_text(f"Node {number} MemTotal:        1048576 kB\n")
    (node / "distance").write_text("10 21\n" if number == 0 else "21 10\n")
    (node / "cpulist").write_text(",".join(map(str, cpus)) + "\n")
    for cpu in cpus:
        (node / f"cpu{cpu}").symlink_to(f"{CPUS}/cpu{cpu}")


@contextlib.contextmanager
def two_nodes(folder: pathlib.Path) -> Iterator[None]:
    """For kubelets that start meanwhile: half of the CPUs on each node."""
    cpus = sorted(os.sched_getaffinity(0))
    half = (len(cpus) + 1) // 2
    _make_node(folder, 0, cpus[:half])
    _make_node(folder, 1, cpus[half:])
    (folder / "online").write_text("0-1\n")
    (folder / "possible").write_text("0-1\n")
    subprocess.run(["mount", "--bind", str(folder), str(NODES)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(NODES)], check=True)
