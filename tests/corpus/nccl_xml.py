# SPDX-License-Identifier: Apache-2.0
"""Turns an NCCL topology file into the sysfs tree that it stands for, so that Railhead sees
classes, ids, link speeds and rates as the file states them.

One <pci> of class 0x0604 is a whole switch: an upstream port, and a downstream port for each child.
Host bridges are not in the file. What hangs directly below <cpu> gets one of its own, but
functions of one bus share theirs. Nets of one bus id are functions of one slot: NCCL writes
function 0 for all of them."""
import re
import xml.etree.ElementTree

from published import AMD, GPU_CLASSES, HYGON, NVIDIA, Function, NumaNode, Published, Rdma, ranges

# NCCL lists the interfaces of its socket transport like RDMA devices.
SOCKET = re.compile(r"(en[opsx]|eth|veth|br|docker|bond)[\d-]")
SOME_NODE = 1000


def number(text):
    match = re.match(r"0x[0-9a-fA-F]+|[0-9.]+", text or "")
    if not match:
        return None
    return int(match[0], 16) if match[0].startswith("0x") else float(match[0])


def link_of(element):
    """GT/s and lanes, each None where the file does not know it."""
    return number(element.get("link_speed")), int(number(element.get("link_width")) or 0) or None


def cpus_of(mask):
    value = int(mask.replace(",", "") or "0", 16)
    return ranges(bit for bit in range(value.bit_length()) if value >> bit & 1)


class Reader:
    def __init__(self, name, flat):
        self.machine = Published(name)
        self.flat = flat
        self.taken = set()  # addresses and names
        self.ports = self.roots = 0

    def read(self, path):
        known = set()
        for cpu in xml.etree.ElementTree.parse(path).getroot().iter("cpu"):
            numa = int(cpu.get("numaid") or -1)
            if numa < 0:
                numa = SOME_NODE  # what hangs below one <cpu> is near to each other
            if numa not in known:
                known.add(numa)
                cpus = cpus_of(cpu.get("affinity") or "")
                self.machine.numa.append(NumaNode(numa, cpus))
            roots = {}  # bus -> host bridge, of functions directly below this <cpu>
            for child in cpu.findall("pci"):
                bus = child.get("busid").rsplit(":", 1)[0]
                alone = child.find("pci") is None
                root = roots.get(bus) if alone else None
                root = root or self.host_bridge(bus)
                if alone:
                    roots[bus] = root
                self.pci(child, root, [], numa)
        self.machine.numa.sort(key=lambda node: node.id)
        return self.machine

    def host_bridge(self, bus):
        """Named by the bus, if that is real and no other host bridge has it."""
        name = f"pci{bus}"
        if bus.startswith("ffff") or name in self.taken:
            self.roots += 1
            name = f"pcifffd:{self.roots:02x}"
        self.taken.add(name)
        return name

    def pci(self, element, root, bridges, numa):
        children = element.findall("pci")
        nets = [net for nic in element.findall("nic") for net in nic.findall("net")]
        if children:
            upstream = [] if self.flat else [self.bridge()]
            self.machine.bridge_links.update(dict.fromkeys(upstream, link_of(element)))
            for child in children:
                port = [] if self.flat else [self.bridge()]
                where = child.get("busid").rsplit(":", 1)[0] if self.flat else None
                self.pci(child, f"pci{where}" if where else root, bridges + upstream + port, numa)
        if nets or not children:
            self.functions(element, nets, root, bridges, numa)

    def bridge(self):
        """Addresses of ports are not in the file."""
        self.ports += 1
        return f"fffe:{self.ports // 32:02x}:{self.ports % 32:02x}.0"

    def functions(self, element, nets, root, bridges, numa):
        code = int(number(element.get("class")) or 0)
        ids = [int(number(element.get(key)) or 0) for key in
               ("vendor", "device", "subsystem_vendor", "subsystem_device")]
        if element.find("gpu") is not None or code >> 8 in GPU_CLASSES and not nets:
            if ids[0] not in (AMD, HYGON, NVIDIA):  # hand-made files leave ids out
                ids[0] = AMD if code >> 16 == 0x12 else NVIDIA
            self.add(element, root, bridges, numa, code or 0x030200, ids, [])
        elif nets:
            for net in nets:
                devices = [] if SOCKET.match(net.get("name")) else [self.rdma(net, code)]
                self.add(element, root, bridges, numa, code, ids, devices)
        elif code >> 16 == 0x02:
            name = element.get("busid").replace(":", "-")
            self.add(element, root, bridges, numa, code, ids, [Rdma(name, self.link(code))])

    @staticmethod
    def link(code):
        return "InfiniBand" if code >> 8 == 0x0207 else None

    def rdma(self, net, code):
        gbps = int((number(net.get("speed")) or 0) / 1000) or None
        guid = f"{int(number(net.get('guid')) or 0):016x}"
        system = ":".join(guid[at:at + 4] for at in range(0, 16, 4)) if int(guid, 16) else None
        return Rdma(net.get("name"), self.link(code), gbps, system=system)

    def add(self, element, root, bridges, numa, code, ids, rdma):
        base = element.get("busid")[:-1]
        free = (f"{base}{digit}" for digit in range(int(element.get("busid")[-1]), 8))
        address = next((each for each in free if each not in self.taken), None)
        if address is None:
            return
        self.taken.add(address)
        for device in rdma:
            if device.name in self.taken:
                device.name += f"@{address}"  # two devices of one name in one file
            self.taken.add(device.name)
        gts, width = link_of(element)
        self.machine.functions.append(Function(
            address, root, bridges, code, tuple(ids), numa, rdma,
            gts=gts, width=width))


def read_nccl(path, name, flat=False):
    """`flat`: without the switches, as a guest shows these functions."""
    return Reader(name, flat).read(path)
