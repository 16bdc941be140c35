# SPDX-License-Identifier: Apache-2.0
"""What Railhead is shown of a published machine: a snapshot of its truest source, or of the guest
where the guest shows another thing; with the facts that the source states beside the data."""
import pathlib
import re

from hwloc_xml import read_hwloc
from lspci_text import READERS as LSPCI, numa_nodes, read_lspci
from nccl_xml import read_nccl
from realise import realise
from snapshot import snapshot_of
from tables import rows, selected
from topo_matrix import read_matrix

NODES = pathlib.Path(__file__).resolve().parents[1] / "nodes"
VIRTUAL = ("flat", "switched")


def apply_facts(machine):
    """facts.tsv, for machines that a matrix describes."""
    functions = {function.rdma[0].name: function for function in machine.functions if function.rdma}
    for name, patterns, fact, value, _ in rows("facts.tsv", 5):
        if name == machine.name:
            chosen = [functions[nic] for nic in selected(patterns, list(functions))]
            apply_fact(machine, functions, chosen, fact, value)


def apply_fact(machine, functions, chosen, fact, value):
    first = chosen[0]
    for number, function in enumerate(chosen):
        if fact == "card":
            function.address = first.address[:-1] + str(number)
            function.bridges = first.bridges
        elif fact == "link":
            function.rdma[0].link = value
            function.class_code = 0x020700 if value == "InfiniBand" else 0x020000
        elif fact == "ids":
            vendor, device = (int(word, 16) for word in value.split(":"))
            function.ids = (vendor, device, 0, 0)
        elif fact == "bond":
            function.netdevs, function.bond = [f"{function.rdma[0].name}_port"], value
        else:
            assert fact == "pf", f"{machine.name}: unknown fact {fact}"
            function.physfn = functions[value].address


def read_source(folder, source):
    """The machine as its source tells it."""
    path, name = folder / source, folder.name
    if source == "hwloc.xml":
        return read_hwloc(path, name)
    if source == "nccl-topo.xml":
        return read_nccl(path, name)
    if source in LSPCI:
        return with_matrix(folder, read_lspci(path, name))
    machine, _ = realise(read_matrix(path), name)
    apply_facts(machine)
    return machine


def with_matrix(folder, machine):
    """A listing tells neither names nor NUMA nodes; another file of the folder may."""
    if (folder / "devices.txt").is_file():
        nodes = numa_nodes(folder / "devices.txt")
        for function in machine.functions:
            function.numa = nodes.get(function.address[:-1] + "0", 0)
        names = read_matrix(folder / "topo-m.txt").nics
        for function, name in zip(machine.nics(), names):
            function.rdma[0].name = name
    return machine


def shown(folder, kind, source, guest):
    """The snapshot, and names of RDMA devices that are not ACTIVE."""
    if guest != "-" and not guest.startswith("flat:"):
        return (NODES / f"{guest}.node").read_bytes(), []
    if guest.startswith("flat:"):
        machine = read_nccl(folder / source, folder.name, flat=True)
        vendor, product = guest.removeprefix("flat:").split(",")
        machine.dmi = {"sys_vendor": vendor.strip(), "product_name": product.strip()}
    else:
        machine = read_source(folder, source)
    machine.hypervisor = kind in VIRTUAL or folder.name.endswith("-vm")
    down = [rdma.name for nic in machine.nics() for rdma in nic.rdma if rdma.state != 4]
    return snapshot_of(machine), down


class Tree:
    """Root complex and NUMA node of every function in a snapshot, for the simple rules."""

    def __init__(self, snapshot):
        self.root, self.numa, self.rdma = {}, {}, {}
        for line in snapshot.decode().splitlines():
            if link := re.match(r"l /sys/bus/pci/devices/(\S+) -> \S*?/(pci[0-9a-f]+:[0-9a-f]+)/",
                                line):
                self.root[link[1]] = link[2]
            elif numa := re.match(r"t /sys/devices/pci\S*/([0-9a-f:.]+)/numa_node (-?\d+)", line):
                self.numa[numa[1]] = int(numa[2])
            elif rdma := re.match(r"l /sys/class/infiniband/(\S+) -> \S*/([0-9a-f:.]+)/infiniband/",
                                  line):
                self.rdma[rdma[1]] = rdma[2]

    def same_root(self, gpu):
        return [name for name, address in self.rdma.items()
                if self.root.get(gpu) and self.root.get(address) == self.root[gpu]]

    def same_node(self, gpu):
        return [name for name, address in self.rdma.items()
                if self.numa.get(gpu, -1) >= 0 and self.numa.get(address) == self.numa[gpu]]
