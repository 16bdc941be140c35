# SPDX-License-Identifier: Apache-2.0
"""Device nodes on the host, for what the kubelet hands out as DeviceSpecs."""

import contextlib
import os
import pathlib
import stat
import subprocess
from collections.abc import Iterator

from lib.machine import CharDevice

DEVICES = pathlib.Path("/dev/infiniband")


@contextlib.contextmanager
def host_nodes(nodes: dict[str, CharDevice]) -> Iterator[None]:
    """The runtime looks for a DeviceSpec on the host: the nodes are there, for the jail alone."""
    made = not DEVICES.exists()
    DEVICES.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(DEVICES)], check=True)
    try:
        for path, node in nodes.items():
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(node.major, node.minor))
        yield
    finally:
        subprocess.run(["umount", "-l", str(DEVICES)], check=True)
        if made:
            DEVICES.rmdir()
