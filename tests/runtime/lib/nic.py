# SPDX-License-Identifier: Apache-2.0
"""A NIC for machines of tests that have none, which setup leaves as they are."""

import contextlib
import pathlib
import subprocess
from collections.abc import Iterator


def mount_nic(root: pathlib.Path) -> pathlib.Path:
    """In place of the PCI functions of a tree, for who shares its mounts: a ConnectX-7 without a driver. The folder of it."""
    functions = root / "sys/bus/pci/devices"
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", functions], check=True)
    function = functions / "0000:3b:00.0"
    function.mkdir()
    for name, value in (("vendor", "0x15b3"), ("device", "0x1021"), ("class", "0x020000")):
        (function / name).write_text(f"{value}\n")
    return functions


@contextlib.contextmanager
def rdma_nic(root: pathlib.Path = pathlib.Path("/")) -> Iterator[None]:
    functions = mount_nic(root)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", functions], check=True)
