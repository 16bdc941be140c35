# SPDX-License-Identifier: Apache-2.0
"""What a snapshot says of its GPUs and NICs, under the keys of the JSON documents; nothing is read by way of
Railhead."""
import collections
import functools
import posixpath
import re

ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
ZERO_GID = ":".join(["0000"] * 8)
INTEL = "0x8086"  # the switch on its cards is part of the card
CHAR_DEVICES = [("uverbs", "verbs"), ("umad", "mad"), ("issm", "mad")]


def hexadecimal(text):
    return int(text, 16)


def second_word(text):
    """Of "4: ACTIVE"."""
    return text.split()[1]


class Facts:
    def __init__(self, tree, unusable):
        """`unusable`: paths of what is malformed or unreadable, which is null in a document."""
        self.tree, self.unusable = tree, unusable
        self.functions = dict(tree.links("/sys/bus/pci/devices"))
        self.classes = {name: sorted(tree.links(f"/sys/class/infiniband_{name}")) for name in ("verbs", "mad")}
        self.tables = collections.defaultdict(set)  # numbers in ports/, gids/, pkeys/
        for path in tree.entries:
            for found in re.finditer(r"/(?:ports|gids|pkeys)(?=/(\d+))", path):
                self.tables[path[:found.end()]].add(int(found[1]))

    def attribute(self, path, convert=str):
        text = self.tree.text_of(path)
        return convert(text) if text and path not in self.unusable else None

    # --- GPUs ---

    def gpu(self, address):
        uuid, minor = self.nvidia(address) or (self.kfd_uuid(address), None)
        return {"uuid": uuid, "minor": minor}

    def nvidia(self, address):
        text = self.tree.text_of(f"/proc/driver/nvidia/gpus/{address}/information")
        if text is None:
            return None
        values = dict(re.findall(r"^(.*?):[ \t]*(.*?)\s*$", text, re.M))
        minor = values.get("Device Minor", "")
        return values.get("GPU UUID"), int(minor) if minor.isdigit() else None

    def kfd_uuid(self, address):
        """As ROCm's libraries write it."""
        domain, bus, slot, function = (int(part, 16) for part in re.split("[:.]", address))
        wanted = {"domain": domain, "location_id": bus << 8 | slot << 3 | function}
        for path in self.tree.entries:
            if re.fullmatch(r"/sys/class/kfd/kfd/topology/nodes/\d+/properties", path):
                values = {key: int(value) for key, value in re.findall(r"(\w+) (\d+)", self.tree.text_of(path))}
                if wanted.items() <= values.items():
                    return f"GPU-{values['unique_id']:016x}"
        return None

    # --- NICs ---

    def nic(self, name):
        link = f"/sys/class/infiniband/{name}"
        if link not in self.tree.entries:
            return {"registered": False, "ports": [], "devices": []}
        path = self.tree.real(link)
        uevent = self.tree.text_of(posixpath.normpath(f"{path}/../../uevent")) or ""
        driver = re.search(r"^DRIVER=(.*)", uevent, re.M)
        return {"registered": True, "driver": driver and driver[1],
                "nodeGuid": self.attribute(f"{path}/node_guid"),
                "sysImageGuid": self.attribute(f"{path}/sys_image_guid"),
                "firmware": self.attribute(f"{path}/fw_ver"), "hcaType": self.attribute(f"{path}/hca_type"),
                "boardId": self.attribute(f"{path}/board_id"), "parent": self.attribute(f"{path}/parent"),
                "ports": [self.port(f"{path}/ports/{number}", number) for number in self.numbers(f"{path}/ports")],
                "devices": list(self.char_devices(name))}

    def numbers(self, folder):
        return sorted(self.tables[folder])

    def port(self, path, number):
        rate = self.attribute(f"{path}/rate")
        link = self.attribute(f"{path}/link_layer")
        return {"number": number, "state": self.attribute(f"{path}/state", second_word),
                "physState": self.attribute(f"{path}/phys_state", second_word),
                "linkLayer": None if link == "Unknown" else link,
                "rateGbps": float(rate.split()[0]) if rate else None, "rate": rate,
                "lid": self.attribute(f"{path}/lid", hexadecimal),
                "smLid": self.attribute(f"{path}/sm_lid", hexadecimal),
                "gids": list(self.gids(path)), "pkeys": list(self.pkeys(path))}

    def gids(self, port):
        for slot in self.numbers(f"{port}/gids"):
            gid = self.attribute(f"{port}/gids/{slot}")
            if gid not in (None, ZERO_GID):
                yield {"index": slot, "gid": gid, "type": self.attribute(f"{port}/gid_attrs/types/{slot}"),
                       "netdev": self.attribute(f"{port}/gid_attrs/ndevs/{slot}")}

    def pkeys(self, port):
        keys = (self.attribute(f"{port}/pkeys/{slot}", hexadecimal) for slot in self.numbers(f"{port}/pkeys"))
        return filter(None, keys)

    def char_devices(self, name):
        """With the numbers of sysfs, else those of the node itself."""
        for prefix, folder in CHAR_DEVICES:
            for node, path in self.classes[folder]:
                if node.startswith(prefix) and self.tree.text_of(f"{path}/ibdev") == name:
                    device = f"/dev/infiniband/{node}"
                    dev = self.attribute(f"{path}/dev")
                    major, minor = map(int, dev.split(":")) if dev else self.tree.entries[device][1][:2]
                    yield {"path": device, "major": major, "minor": minor}

    def ids(self, address):
        """Class, vendor, device and their subsystem, as sysfs and topology files write them."""
        pattern = r"PCI_CLASS=(\w+)\nPCI_ID=(\w+):(\w+)\n(?:PCI_SUBSYS_ID=(\w+):(\w+))?"
        found = re.search(pattern, self.tree.text_of(f"{self.functions[address]}/uevent") or "")
        names = [("class", 6), ("vendor", 4), ("device", 4), ("subsystem_vendor", 4), ("subsystem_device", 4)]
        return {name: f"0x{value.lower():0>{width}}" for (name, width), value in
                zip(names, found.groups() if found else ()) if value}

    def function(self, name):
        """A function that a pool may have: a PCI address, or the name of a soft device."""
        path = self.functions.get(name)
        return {"kind": "soft" if path is None else "vf" if f"{path}/physfn" in self.tree.entries else "pf"}

    # --- relations, where the PCI tree counts ---

    @functools.cache
    def place(self, address):
        """Host bridge, bridges below it, NUMA node."""
        path = self.functions[address].split("/")
        bridges = [part for part in path[:-1] if ADDRESS.fullmatch(part)]
        root = next(part for part in reversed(path) if part.startswith("pci"))
        if self.is_gpu(address) and len(bridges) > 2 and all(
                self.ids(bridge).get("vendor") == INTEL for bridge in bridges[-2:]):
            bridges = bridges[:-2]
        # Of a virtual function, a recording has the node of its card alone.
        physical = f"{self.functions[address]}/physfn"
        above = self.tree.real(physical) if physical in self.tree.entries else self.functions[address]
        return root, bridges, self.attribute(f"{above}/numa_node", int)

    def is_gpu(self, address):
        return self.ids(address).get("class", "").startswith(("0x03", "0x12"))

    def relation(self, a, b):
        """Of two PCI functions, in the words of nvidia-smi topo -m."""
        if a == b:
            return "PIX"
        (root, left, numa), (other_root, right, other_numa) = self.place(a), self.place(b)
        if root != other_root:
            return "NODE" if numa == other_numa and numa not in (None, -1) else "SYS"
        common = len(posixpath.commonprefix([left, right]))
        return "PHB" if not common else "PXB" if max(len(left), len(right)) - common > 1 else "PIX"
