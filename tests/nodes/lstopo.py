#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hwloc's picture of a machine of this folder, to be looked at beside ours: lstopo.py MACHINE OUT.svg

What hwloc reads and our snapshots do not hold is added: the cores of each CPU (two threads each, as the list of a NUMA node
says), masks of CPUs, and of each bridge's configuration space the numbers of its buses. Needs Debian's hwloc.
"""
import pathlib
import posixpath
import re
import subprocess
import sys
import tempfile

from sysfs_tree import Tree

HERE = pathlib.Path(__file__).resolve().parent
CPU = "/sys/devices/system/cpu"


def numbers(cpulist):
    spans = (span.partition("-")[::2] for span in cpulist.split(",") if span)
    return [cpu for first, last in spans for cpu in range(int(first), int(last or first) + 1)]


def mask(cpus):
    """As sysfs writes it: words of 32 bits, the highest first."""
    bits = sum(1 << cpu for cpu in cpus)
    words = max(1, (bits.bit_length() + 31) // 32)
    return ",".join(f"{bits >> 32 * word & 0xffffffff:08x}" for word in reversed(range(words)))


def set_text(tree, path, text):
    tree.entries.pop(path, None)
    tree.text(path, text)


def add_cpus(tree):
    every = []
    for path in list(tree.entries):
        node = re.fullmatch(r"/sys/devices/system/node/node(\d+)/cpulist", path)
        if not node:
            continue
        cpus = numbers(tree.text_of(path))
        every += cpus
        set_text(tree, path.replace("cpulist", "cpumap"), mask(cpus))
        half = len(cpus) // 2
        for place, cpu in enumerate(cpus):
            siblings = [cpus[place % half], cpus[place % half + half]]
            for name, value in (("physical_package_id", node[1]), ("core_id", place % half), ("package_cpus", mask(cpus)),
                                ("core_siblings", mask(cpus)), ("core_cpus", mask(siblings)),
                                ("thread_siblings", mask(siblings))):
                set_text(tree, f"{CPU}/cpu{cpu}/topology/{name}", value)
    text = ",".join(map(str, sorted(every)))
    for name in ("online", "possible", "present"):
        set_text(tree, f"{CPU}/{name}", text)
    set_text(tree, "/sys/devices/system/node/online", "0-1")


def add_buses(tree):
    """Configuration space: ids, class, kind of header, and of a bridge primary, secondary and last bus below it."""
    functions = {name: path for name, path in tree.links("/sys/bus/pci/devices")}
    for name, path in functions.items():
        ids = [int(tree.text_of(f"{path}/{key}") or "0", 16) for key in ("vendor", "device", "class")]
        below = [other for other in functions if functions[other].startswith(path + "/")]
        bus = int(name.split(":")[1], 16)
        space = bytearray(256)
        space[0:4] = ids[0].to_bytes(2, "little") + ids[1].to_bytes(2, "little")
        space[9:12] = ids[2].to_bytes(3, "little")
        if ids[2] >> 8 == 0x0604:
            buses = [int(other.split(":")[1], 16) for other in below] or [bus]
            space[0x0e] = 1
            space[0x18:0x1b] = bytes((bus, min(buses), max(buses)))
        tree.entries.pop(f"{path}/config", None)
        tree.raw(f"{path}/config", bytes(space))
        cpus = tree.text_of(f"{path}/local_cpulist")
        if cpus:
            set_text(tree, f"{path}/local_cpus", mask(numbers(cpus)))


def main():
    machine, out = sys.argv[1:]
    tree = Tree.read((HERE / f"{machine}.node").read_bytes())
    add_cpus(tree)
    add_buses(tree)
    with tempfile.TemporaryDirectory() as root:
        tree.write_directory(root)
        subprocess.run(["lstopo-no-graphics", "--input", root, "--input-format", "fsroot", "--no-caches", "--no-legend",
                        "--ignore", "core", "--ignore", "pu", "--filter", "io:important", "--force",
                        "--output-format", "svg", out], check=True)
    # A viewBox has no units: with them librsvg draws nothing.
    drawn = pathlib.Path(out)
    drawn.write_text(re.sub(r"viewBox='0 0 (\d+)px (\d+)px'", r"viewBox='0 0 \1 \2'", drawn.read_text()))
    print(posixpath.basename(out))


if __name__ == "__main__":
    main()
