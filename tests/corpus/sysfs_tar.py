# SPDX-License-Identifier: Apache-2.0
"""The real sysfs trees of the collection, unpacked and read with --host-root. None has both GPUs
and RDMA NICs, so what they must show is written here, from the trees themselves."""
import pathlib
import re
import tarfile
import tempfile

import railhead

SOURCE = "sysfs-snapshot.tar.bz2"
# GPUs, and RDMA devices with PCI address and numa_node.
SHOWN = {
    # 10000:00:04.0: a PCI domain beyond 16 bits, in a guest without GPU.
    "hwloc-pcidomain32bits": ([], []),
    "hwloc-pcilocality": ([], [("qib0", "0000:43:00.0", 2)]),
    # The V100s of an AC922, copied without their links: no place in the PCI tree.
    "hwloc-power9-nvidiagpunumanodes": (
        ["0004:05:00.0", "0004:06:00.0", "0006:00:00.0", "0007:00:00.0", "0035:04:00.0",
         "0035:05:00.0"], []),
}


def read_by_us(name):
    """Most of an archive are files of single CPUs, memory blocks and power management."""
    cpu = re.search(r"/system/cpu/", name) and not name.endswith("/physical_package_id")
    return not cpu and not re.search(r"/node\d+/(memory|cpu)\d|/power/|/dev/cpuset/", name)


def check_sysfs(program, folder, check):
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(folder / SOURCE) as archive:
            archive.extractall(scratch, [member for member in archive if read_by_us(member.name)])
        root = next(pathlib.Path(scratch).iterdir())
        document = railhead.document(program, "topology", "--host-root", root)
    gpus, nics = SHOWN[folder.name]
    check.same("GPUs", [gpu["pci"] for gpu in document["gpus"]], gpus)
    check.same("NICs", [(nic["name"], nic["pci"], nic["numaNode"]) for nic in document["nics"]],
               nics)
    check.same("problems", document["problems"], [])
    return check
