# SPDX-License-Identifier: Apache-2.0
"""One published machine: what is nearest according to its truest source, and what Railhead and two
simple rules give to each GPU of what they are shown. GPUs by index, NICs by the truth's names."""
import pathlib
import tempfile

import collection
import railhead
from published import sort_key
from sight import Tree, shown
from tables import rows, selected

RANK = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4}


def plain(nic):
    """The oracle's name of a NIC that the source does not name is its address."""
    return nic.removeprefix("pci:").replace(":", "-") if nic.startswith("pci:") else nic


class Case:
    """One machine: truth and answers, by index of GPU and the truth's names of NICs."""

    def __init__(self, program, folder, kind, source, guest):
        self.folder, self.kind, self.source, self.guest = folder, kind, source, guest
        both = source == "lspci-tv.txt" and (folder / "topo-m.txt").is_file()
        self.truth = collection.expected(folder, "topo-m.txt" if both else source)
        self.nics = [plain(nic) for nic in self.truth["nics"]]
        snapshot, self.down = shown(folder, kind, source, guest)
        self.told = []
        self.compute = self.compute_nics()
        with tempfile.TemporaryDirectory() as scratch:
            machine = pathlib.Path(scratch) / "machine.node"
            machine.write_bytes(snapshot)
            self.ask(program, machine)
        self.tree = Tree(snapshot)

    def compute_nics(self):
        excluded = set()
        for machine, patterns, role, told, _ in rows("truth.tsv", 5):
            if machine == self.folder.name:
                chosen = selected(patterns, self.nics)
                excluded.update(chosen)
                self.told += [(nic, role) for nic in chosen if told == "yes"]
        return [nic for nic in self.nics if nic not in excluded and nic not in self.down]

    def ask(self, program, machine):
        """Also with the roles in the operator's configuration, and with the vendor's topology file
        where a guest does not show what it says."""
        arguments = ["--snapshot", machine]
        self.topology = railhead.document(program, "topology", *arguments)
        self.affinity = railhead.document(program, "affinity", *arguments)
        self.ask_for_one(program, arguments)
        self.told_affinity = self.file_affinity = None
        if self.guest != "-":
            self.file_affinity = railhead.document(program, "affinity", *arguments,
                                                   "--topology-file", self.folder / self.source)
        if self.told:
            config = machine.with_name("roles.yaml")
            config.write_text("roles:\n" + "".join(
                f'  - name: "{nic}"\n    role: {role}\n' for nic, role in self.told))
            self.told_affinity = railhead.document(program, "affinity", *arguments,
                                                   "--config", config)

    def ask_for_one(self, program, arguments):
        """A pod with one GPU gets what the answer for all of them says."""
        last = self.affinity["gpus"][-1]
        alone = railhead.document(program, "affinity", *arguments, "--gpus", last["pci"])
        assert ([nic["name"] for nic in alone["gpus"][0]["nics"]] ==
                [nic["name"] for nic in last["nics"]]), f"{self.folder.name}: {last['pci']} alone"

    def canonical(self):
        """Railhead's names of NICs -> the truth's. By name, else by address."""
        by_address = {address.rsplit(".", 1)[0]: plain(nic)
                      for nic, address in self.truth.get("nic_busid", {}).items() if address}
        return {nic["name"]: nic["name"] if nic["name"] in self.nics else
                by_address.get((nic["pci"] or "").rsplit(".", 1)[0], nic["name"])
                for nic in self.topology["nics"]}

    def cards(self):
        """Truth's name of a NIC -> its slot, so that the ports of a card are one NIC."""
        names = self.canonical()
        return {names[nic["name"]]: nic["pci"].rsplit(".", 1)[0] for nic in self.topology["nics"]}

    def dealt(self, affinity):
        names = self.canonical()
        return [{names[nic["name"]] for nic in gpu["nics"]} for gpu in affinity["gpus"]]

    def choices(self):
        """What each rule gives: [set of NICs of each GPU]."""
        names = self.canonical()
        root_or_node, first = [], []
        for gpu in self.affinity["gpus"]:
            root = sorted(self.tree.same_root(gpu["pci"]),
                          key=lambda name: sort_key(self.tree.rdma[name]))
            root_or_node.append({names[nic] for nic in root or self.tree.same_node(gpu["pci"])})
            first.append({names[nic] for nic in root[:1]})
        return self.dealt(self.affinity), root_or_node, first

    def gpus(self):
        """[(index, nearest NICs)] of the GPUs of which the source has a row."""
        known = list(enumerate(self.truth["gpus"]))
        addresses = self.truth.get("gpu_busid", {})
        for (_, gpu), seen in zip(known, self.affinity["gpus"]):
            address = addresses.get(gpu, seen["pci"])
            assert address[:-1] == seen["pci"][:-1], f"{self.folder.name}: {gpu} is {seen['pci']}"
        assert len(known) == len(self.affinity["gpus"]), f"{self.folder.name}: GPUs are missing"
        return [(at, self.nearest(gpu)) for at, gpu in known
                if not self.nics or any(self.truth["pairs"][gpu].values())]

    def nearest(self, gpu):
        """Usable compute NICs at the smallest relation."""
        row = {plain(nic): word for nic, word in self.truth["pairs"][gpu].items()}
        ranks = {nic: RANK[row[nic]] for nic in self.compute if row.get(nic)}
        least = min(ranks.values(), default=None)
        return {nic for nic, rank in ranks.items() if rank == least}
