# SPDX-License-Identifier: Apache-2.0
"""Reads an XML export of hwloc's lstopo, formats 1 to 3, into a published machine.

NUMA nodes are around the devices in format 1 and beside them, as memory children, in 2 and 3; the
nodeset of the enclosing object says it in all three. A set of several nodes is no node: Linux shows
numa_node -1 for such a host bridge."""
import re
import xml.etree.ElementTree

from published import Function, NumaNode, Published, Rdma, ranges

# Bits of osdev_type in format 3; before, it is one number: 2 network, 3 OpenFabrics.
NETWORK, OPEN_FABRICS = 16, 32
NUMBERS = {2: NETWORK, 3: OPEN_FABRICS}
IDS = re.compile(r"([0-9a-f]{4}) \[([0-9a-f]{4}):([0-9a-f]{4})\] \[([0-9a-f]{4}):([0-9a-f]{4})\]")
# HPE Slingshot: a kernel without OpenFabrics devices for it shows netdevs only.
SLINGSHOT = re.compile(r"(hsi|hsn|cxi)\d+$")
DMI = {"DMISysVendor": "sys_vendor", "DMIProductName": "product_name",
       "DMIChassisAssetTag": "chassis_asset_tag"}


def bits(text):
    """Members of "0x0000ffff,,0x1": 32 bits a word, the highest first, empty words are zero."""
    if text is None or "f...f" in text:
        return None
    value = 0
    for word in text.split(","):
        value = value << 32 | int(word or "0", 16)
    return {bit for bit in range(value.bit_length()) if value >> bit & 1}


def link_of(gigabytes):
    """(GT/s, lanes) of pci_link_speed, which is their product in GB/s; the widest that fits."""
    for lanes in (16, 8, 4, 2, 1):
        for gts in (32.0, 16.0, 8.0, 5.0, 2.5):
            coding = 0.8 if gts <= 5 else 128 / 130
            if gigabytes and abs(gts * coding * lanes / 8 - gigabytes) < 0.001 * gigabytes:
                return gts, lanes
    return None, None


def infos(element):
    return {info.get("name"): info.get("value") for info in element.findall("info")}


class Reader:
    def __init__(self, name):
        self.machine = Published(name)

    def read(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self.bits = root.get("version", "1").startswith("3")
        for top in root.findall("object"):
            given = {**infos(root), **infos(top)}
            self.machine.dmi = {DMI[key]: value for key, value in given.items()
                                if key in DMI and value.strip()}
            self.walk(top, None, [], None, None)
        self.machine.numa.sort(key=lambda node: node.id)
        self.distances(root)
        return self.machine

    def walk(self, element, root, bridges, nodes, socket):
        kind = element.get("type")
        if kind in ("Package", "Socket"):
            socket = int(element.get("os_index"))
        if kind == "NUMANode":
            inner = element.find("object[@type='Package']")
            if inner is None:
                inner = element.find("object[@type='Socket']")
            if inner is not None:
                socket = int(inner.get("os_index"))
            self.machine.numa.append(NumaNode(int(element.get("os_index")),
                                              ranges(bits(element.get("cpuset")) or ()), socket))
        if kind == "Bridge":
            if element.get("bridge_type").startswith("0"):
                domain, buses = element.get("bridge_pci").split(":[")
                root, bridges = f"pci{domain}:{buses[:2]}", []
            else:
                bridges = bridges + [element.get("pci_busid")]
        elif kind == "PCIDev":
            self.function(element, root, bridges, nodes)
        elif kind not in ("OSDev", "Misc") and element.get("nodeset"):
            nodes = bits(element.get("nodeset"))
        for child in element.findall("object"):
            self.walk(child, root, bridges, nodes, socket)

    def function(self, element, root, bridges, nodes):
        code, *ids = (int(word, 16) for word in IDS.match(element.get("pci_type")).groups())
        numa = next(iter(nodes)) if nodes and len(nodes) == 1 else -1
        gts, width = link_of(float(element.get("pci_link_speed", 0)))
        function = Function(element.get("pci_busid"), root, bridges, code << 8, tuple(ids), numa,
                            gts=gts, width=width)
        devices = element.findall("object[@type='OSDev']")
        for device in devices:
            kind = int(device.get("osdev_type"))
            kind = kind if self.bits else NUMBERS.get(kind, 0)
            if kind & OPEN_FABRICS:
                function.rdma.append(self.rdma(device, code))
            elif kind & NETWORK:
                function.netdevs.append(device.get("name"))
        if not function.rdma:
            function.rdma = [Rdma(name) for name in function.netdevs if SLINGSHOT.match(name)]
        self.machine.functions.append(function)

    @staticmethod
    def rdma(device, code):
        said = infos(device)
        link = {0x0207: "InfiniBand"}.get(code)
        return Rdma(device.get("name"), link, state=int(said.get("Port1State", 4)),
                    system=said.get("SysImageGUID"))

    def distances(self, root):
        """Latencies of format 2 and 3 are whole numbers; of format 1, multiples of a base."""
        values = []
        for table in root.iter("distances2"):
            if table.get("name") == "NUMALatency":
                values = [round(float(word)) for part in table.findall("u64values")
                          for word in (part.text or "").split()]
        for table in root.iter("distances"):
            base = float(table.get("latency_base"))
            values = [round(base * float(cell.get("value"))) for cell in table.findall("latency")]
        nodes = self.machine.numa
        if len(values) == len(nodes) ** 2:
            for at, node in enumerate(nodes):
                node.distances = values[at * len(nodes):(at + 1) * len(nodes)]


def read_hwloc(path, name):
    return Reader(name).read(path)
