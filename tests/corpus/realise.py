# SPDX-License-Identifier: Apache-2.0
"""Builds a PCI tree that has the relations of a matrix.

    PIX   on ports of one switch
    PXB   below one root port, with a switch of their own each
    PHB   below one host bridge, on root ports of their own
    NODE  host bridges of one NUMA node
    SYS   NUMA nodes of their own

A relation joins two devices at its level and at all above it. Relations that are not transitive
(container views, quirks of NUMA) have no such tree: the closure is built, and comparing the printed
cells with the tree's finds every contradiction. NVLink cells say nothing about PCIe.

Order of addresses is nvidia-smi's order, for GPUs and for NICs. NUMA ids are the printed ones where
the matrix allows them, see Forest.numa_ids."""
import re

from published import NVIDIA, Function, NumaNode, Published, Rdma
from topo_matrix import WORDS

RANK = {word: rank for rank, word in enumerate(WORDS)}
CPUS = 16  # made up: a matrix from inside a container does not say


def classes(members, matrix, level):
    """Sets that relations of this level or nearer join, in the order of members."""
    group = {member: {member} for member in members}
    for a in members:
        for b in members:
            word = matrix.word(a, b)
            if word and RANK[word] <= RANK[level] and group[a] is not group[b]:
                joined = group[a] | group[b]
                for member in joined:
                    group[member] = joined
    out = []
    for member in members:
        if group[member] not in out:
            out.append(group[member])
    return [[member for member in members if member in each] for each in out]


def printed_node(text):
    """The NUMA node that the affinity column names, if it is one node."""
    match = re.fullmatch(r"(\d+)(\s+N/A)?", text or "")
    return int(match[1]) if match else None


class Forest:
    def __init__(self, matrix, name):
        self.matrix = matrix
        self.machine = Published(name)
        self.members = matrix.gpus + matrix.nics
        self.bridges = 0
        self.roots = 0
        self.places = {}  # member -> (root, bridges, numa)
        self.misplaced = []  # (GPU, its node, printed node)

    def build(self):
        groups = self.by_node()
        for group, numa in zip(groups, self.numa_ids(groups)):
            for below_bridge in classes(group, self.matrix, "PHB"):
                self.host_bridge(below_bridge, numa)
        for at, member in enumerate(self.members):
            self.machine.functions.append(self.function(member, at))
        self.add_numa_nodes()
        return self.machine

    # --- NUMA nodes ---

    def printed(self, group):
        nodes = {printed_node(self.matrix.numa.get(member)) for member in group}
        return nodes - {None}

    def by_node(self):
        """Classes of NODE; those whose GPUs print the same node are one, unless a cell denies."""
        groups = classes(self.members, self.matrix, "NODE")
        at = 0
        while at < len(groups):
            other = next((g for g in groups[:at] if self.printed(g) == self.printed(groups[at])
                          and self.printed(g) and not self.denied(g, groups[at])), None)
            if other is None:
                at += 1
            else:
                other += groups.pop(at)
        return groups

    def denied(self, a, b):
        return any(self.matrix.word(x, y) == "SYS" for x in a for y in b)

    def numa_ids(self, groups):
        """A group gets the (lowest) node that its GPUs print. Where two groups print the same one,
        the first gets it and the other a new node. -1 where nothing is printed nor needed."""
        taken = {node for group in groups for node in self.printed(group)}
        given, ids = set(), []
        for group in groups:
            printed = self.printed(group)
            own = min(printed) if printed else None
            if own is None and not self.needs_node(group):
                ids.append(-1)
                continue
            if own is None or own in given:
                own = next(node for node in range(4096) if node not in taken)
                taken.add(own)
            given.add(own)
            ids.append(own)
            self.misplaced += [(member, own, printed_node(self.matrix.numa.get(member)))
                               for member in group
                               if printed_node(self.matrix.numa.get(member)) not in (None, own)]
        return ids

    def needs_node(self, group):
        return any(self.matrix.word(a, b) == "NODE" for a in group for b in group)

    def add_numa_nodes(self):
        """Nodes with CPUs, and those of GPUs that have memory of their own: 10 to itself, 40 to the
        others, a GPU's memory 80 to its CPUs (which the affinity column names) and 120 beyond."""
        with_cpus = sorted({numa for _, _, numa in self.places.values() if numa >= 0})
        home = {}
        for gpu, node in self.matrix.memory_numa.items():
            home[node] = int(re.match(r"\d+", self.matrix.numa[gpu])[0])
        with_cpus = sorted((set(with_cpus) | set(home.values())) - set(home))
        nodes = sorted(set(with_cpus) | set(home))
        for node in nodes:
            first = CPUS * with_cpus.index(node) if node in with_cpus else 0
            cpus = f"{first}-{first + CPUS - 1}" if node in with_cpus else ""
            row = [10 if other == node else
                   40 if node in with_cpus and other in with_cpus else
                   80 if home.get(node, node) == home.get(other, other) else 120
                   for other in nodes]
            self.machine.numa.append(NumaNode(node, cpus, node if cpus else None, row))

    # --- bridges ---

    def bridge(self):
        self.bridges += 1
        return f"0001:{self.bridges // 32:02x}:{self.bridges % 32:02x}.0"

    def host_bridge(self, members, numa):
        root = f"pci0000:{self.roots:02x}"
        self.roots += 1
        for below_port in classes(members, self.matrix, "PXB"):
            on_switch = classes(below_port, self.matrix, "PIX")
            above = [self.bridge()] + ([self.bridge()] if len(on_switch) > 1 else [])
            for group in on_switch:
                self.switch(group, root, above, numa)

    def switch(self, group, root, above, numa):
        """A device alone on its root port has no switch; below another switch it has its own."""
        if len(group) == 1 and len(above) == 1:
            self.places[group[0]] = (root, above, numa)
            return
        top = above + ([self.bridge()] if len(above) > 1 else []) + [self.bridge()]
        for member in group:
            self.places[member] = (root, [*top, self.bridge()], numa)

    # --- devices ---

    def function(self, member, at):
        root, bridges, numa = self.places[member]
        address = f"0000:{0x40 + at:02x}:00.0"
        if member in self.matrix.gpus:
            numa = self.matrix.memory_numa.get(member, numa)
            return Function(address, root, bridges, 0x030200, (NVIDIA, 0, 0, 0), numa)
        return Function(address, root, bridges, 0x020000, (0x15b3, 0, 0, 0), numa, [Rdma(member)])


def realise(matrix, name):
    """A machine, and the GPUs whose printed NUMA node the matrix's own cells deny."""
    forest = Forest(matrix, name)
    machine = forest.build()
    return machine, forest.misplaced
