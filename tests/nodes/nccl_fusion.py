# SPDX-License-Identifier: Apache-2.0
"""What NCCL makes of a topology file on a node with one rank a GPU, by the rules of NCCL 2.30.7, whose
fusion is that of 2.22.3 and later.

Each rank reads the file and fills in its own GPU, all NICs that it can use, and what is above them
(ncclTopoGetSystem() in src/graph/topo.cc). Of what is above, sysfs counts for the class; any other
attribute is taken from sysfs where the file does not have it, even as "" (ncclTopoGetXmlFromSys() and
ncclTopoGetXmlFromCpu() in src/graph/xml.cc). A NIC that has a <net> of its name is not filled in
(ncclTopoFillNet()). What leads to none of these is trimmed (ncclTopoTrimXml()). The rest of all ranks is
fused: elements are one if they have the same name, the same attributes with the same values, and one
parent (ncclTopoFuseXml(), xmlFindNode() in src/graph/xml.h). Else both stay, and a NIC is where it came
first.

Left out, since it makes PIX of PXB and no more: two levels of a Broadcom switch become one
(ncclTopoFlattenBcmSwitches())."""
import collections
import re
import xml.etree.ElementTree as ElementTree

FUNCTION = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")  # checkBDFFormat()
IDS = ("vendor", "device", "subsystem_vendor", "subsystem_device")
TRIMMED = ("pci", "cpu", "nic", "net")
XEON = b"\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"


def with_processor(snapshot):
    """The same machine, and what its processor is where that is not known. Without it the file has no <net>, and
    NCCL looks NICs up by address, in each rank alike."""
    head = re.search(rb"^f /proc/cpuinfo (\d+)\n", snapshot, re.M)
    size = int(head[1])
    text = snapshot[head.end():head.end() + size]
    if b"vendor_id" not in text and b"CPU implementer" not in text:
        text = text.replace(b"\n", XEON, 1)
    return b"%sf /proc/cpuinfo %d\n%s%s" % (snapshot[:head.start()], len(text), text, snapshot[head.end() + size:])


class Element:
    def __init__(self, name, attributes, parent):
        self.name, self.attributes, self.parent, self.below = name, dict(attributes), parent, []
        if parent:
            parent.below.append(self)

    @classmethod
    def copy(cls, other, parent=None):
        """Of an element, or of one of ElementTree's."""
        own = isinstance(other, Element)
        made = cls(*((other.name, other.attributes) if own else (other.tag, other.attrib)), parent)
        for child in other.below if own else other:
            cls.copy(child, made)
        return made

    def all(self, name):
        if self.name == name:
            yield self
        for child in self.below:
            yield from child.all(name)

    def find(self, name, attribute, value):
        return next((one for one in self.all(name) if one.attributes.get(attribute) == value), None)

    def child(self, name):
        return next((one for one in self.below if one.name == name), None) or Element(name, {}, self)

    def above(self):
        """From its parent to <system>."""
        return [self.parent, *self.parent.above()] if self.parent else []

    def is_same(self, other):
        return (self.name, self.attributes) == (other.name, other.attributes)

    def trim(self):
        """Whether it is kept."""
        if self.attributes.get("keep") == "1":
            del self.attributes["keep"]
            return True
        kept = [child.trim() for child in list(self.below)]
        if not any(kept) and self.name in TRIMMED:
            self.parent.below.remove(self)
        return any(kept)

    def fuse(self, other):
        for child in other.below:
            same = next((one for one in self.below if one.is_same(child)), None)
            if same:
                same.fuse(child)
            else:
                Element.copy(child, self)


class Rank:
    """What one process knows before the fusion."""

    def __init__(self, text, facts):
        """`facts` of the snapshot, snapshot_facts.Facts: the sysfs of the node."""
        self.facts = facts
        self.system = Element.copy(ElementTree.fromstring(text))

    def sysfs(self, busid):
        """The function's folder; None for a switch that was invented."""
        return self.facts.functions.get(busid) if FUNCTION.fullmatch(busid) else None

    def attribute(self, path, name):
        return self.facts.tree.text_of(f"{path}/{name}") or ""

    def pci(self, busid):
        pci = self.system.find("pci", "busid", busid)
        return pci or Element("pci", {"busid": busid}, None)

    def add_gpu(self, busid, rank):
        pci = self.pci(busid)
        self.fill(pci)
        pci.child("gpu").attributes.update(keep="1", rank=str(rank), dev=str(rank))

    def add_net(self, name, busid, dev):
        """`busid` is None where the device has no function."""
        net = self.system.find("net", "name", name)
        if net is None:
            parent = next(self.system.all("cpu"))
            if busid:
                parent = self.pci(busid[:-1] + "0")  # ports of a card are one device for NCCL
                self.fill(parent)
            net = Element("net", {"name": name}, parent.child("nic"))
        net.attributes.update(keep="1", dev=str(dev))

    def fill(self, pci):
        values, path = pci.attributes, self.sysfs(pci.attributes["busid"])
        if path:
            ids = self.facts.ids(values["busid"])
            values["class"] = ids.get("class") or self.attribute(path, "class")
            for name in IDS:
                # The kernel has these of every function, a snapshot what is read.
                values.setdefault(name, ids.get(name) or self.attribute(path, name) or "0x0000")
        values.setdefault("link_speed", self.lower_speed(path) if path else "")
        values.setdefault("link_width", self.lower_width(path) if path else "")
        if pci.parent is None:
            pci.parent = self.parent_of(path)
            pci.parent.below.append(pci)
        if pci.parent.name == "pci":
            self.fill(pci.parent)
        elif pci.parent.name == "cpu":
            self.fill_cpu(pci.parent)

    def lower_speed(self, path):
        own, port = (self.attribute(at, "max_link_speed") for at in (path, path.rpartition("/")[0]))
        numbers = [float(found[1]) if (found := re.match(r"([0-9.]+) GT/s", text)) else float("inf")
                   for text in (own, port)]
        return port if numbers[1] < numbers[0] else own

    def lower_width(self, path):
        return str(min(int(self.attribute(at, "max_link_width") or 0) for at in (path, path.rpartition("/")[0])))

    def parent_of(self, path):
        """The switch above: a root port or downstream port is passed over."""
        if path and all(FUNCTION.fullmatch(part) for part in path.split("/")[-3:-1]):
            return self.pci(path.split("/")[-3])
        numa = path and self.attribute(path, "numa_node") or "-1"
        return self.system.find("cpu", "numaid", numa) or Element("cpu", {"numaid": numa}, self.system)

    def fill_cpu(self, cpu):
        for name in ("affinity", "arch", "vendor", "familyid", "modelid"):
            cpu.attributes.setdefault(name, "as sysfs and CPUID say")


def fused(text, facts, gpus, nics):
    """The <system> that all ranks come to. `gpus`: addresses, `nics`: (name, address or None)."""
    system = None
    for at, gpu in enumerate(gpus):
        rank = Rank(text, facts)
        rank.add_gpu(gpu, at)
        for dev, (name, busid) in enumerate(nics):
            rank.add_net(name, busid, dev)
        rank.system.trim()
        if system is None:
            system = rank.system
        else:
            system.fuse(rank.system)
    return system


def path_type(gpu, nic):
    """Of two <pci> (or a <cpu>, for a NIC without a place) as ncclTopoSetPaths() in src/graph/paths.cc has it:
    through one PCI element, several, a processor, several processors."""
    left, right = gpu.above(), [nic, *nic.above()] if nic.name == "cpu" else nic.above()
    common = next(one for one in left if one in right)
    if common.name == "pci":
        return "PIX" if left.index(common) + right.index(common) == 0 else "PXB"
    return "PHB" if common.name == "cpu" else "SYS"


def fusion_problems(text, facts, topology):
    """What is wrong once the ranks have fused the file of a machine: (what, what it is, what it should be).
    `topology` is the document of the same machine. NCCL knows no host bridges: all of one NUMA node is PHB, and
    so is all that has none."""
    devices = {name for name, _ in facts.tree.links("/sys/class/infiniband")}
    gpus = [gpu["pci"] for gpu in topology["gpus"]]
    homeless = {device["pci"] for device in topology["gpus"] + topology["nics"] if device["numaNode"] is None}
    nics = [(nic["name"], nic["pci"]) for nic in topology["nics"] if nic["name"] in devices]
    places = collections.defaultdict(list)
    if gpus:
        system = fused(text, facts, gpus, nics)
        for tag, key in (("cpu", "numaid"), ("pci", "busid"), ("net", "name")):
            for element in system.all(tag):
                places[tag, element.attributes[key]].append(element)
    yield from ((f"{tag} {name}", f"{len(found)} times", "once") for (tag, name), found in places.items()
                if len(found) > 1)
    for gpu, row in zip(gpus, topology["relations"]):
        own = next((one for one in places["pci", gpu] if any(one.all("gpu"))), None)
        for nic, word in zip(topology["nics"], row):
            net = places["net", nic["name"]]
            if nic["name"] in devices and nic["pci"]:
                got = path_type(own, net[0].parent.parent) if own and net else "nothing"
                lost = word == "NODE" or word == "SYS" and {gpu, nic["pci"]} <= homeless
                wanted = "PHB" if lost else word
                if got != wanted:
                    yield f"{gpu}/{nic['name']}", got, wanted
