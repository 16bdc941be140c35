# SPDX-License-Identifier: Apache-2.0
"""Reads what `lspci -tv`, `lspci -PP` and `lspci -vvv` print into a published machine. None of them
prints classes or ids here, so GPUs and NICs are known by lspci's words for them, and RDMA devices
are named by their addresses."""
import re

from published import AMD, NVIDIA, Function, Published, Rdma, sort_key

ADDRESS = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
GPU = re.compile(r"NVIDIA|AMD/ATI")
NOT_A_GPU = re.compile(r"audio|usb|ucsi|nvswitch|bridge|switch|22a3|1af1", re.I)
NIC = re.compile(r"Mellanox|ConnectX")
NOT_A_NIC = re.compile(r"dma|management|bridge|crypto|nvme", re.I)
INFINIBAND = re.compile(r"^Infiniband controller", re.I)
ETHERNET = re.compile(r"^Ethernet controller", re.I)
MODELS = {"ConnectX-7": 0x1021, "ConnectX-6 Dx": 0x101d}


def address_of(text):
    return text if text.count(":") == 2 else f"0000:{text}"


def root_of(first):
    return "pci" + first.rsplit(":", 1)[0]


def add(machine, address, root, bridges, text, **more):
    """Adds a function if its description is that of a GPU or an RDMA NIC."""
    if GPU.search(text) and not NOT_A_GPU.search(text):
        vendor = NVIDIA if "NVIDIA" in text else AMD
        code = 0x030200 if vendor == NVIDIA else 0x120000
        machine.functions.append(Function(address, root, bridges, code, (vendor, 0, 0, 0), **more))
    elif NIC.search(text) and not NOT_A_NIC.search(text):
        link = ("InfiniBand" if INFINIBAND.search(text) else
                "Ethernet" if ETHERNET.search(text) else None)
        model = next((code for name, code in MODELS.items() if name in text), 0)
        machine.functions.append(Function(
            address, root, bridges, 0x020700 if link == "InfiniBand" else 0x020000,
            (0x15b3, model, 0, 0), rdma=[Rdma(address.replace(":", "-"), link)], **more))


def finish(machine):
    machine.functions.sort(key=lambda function: sort_key(function.address))
    return machine


def read_tree(path, name):
    """`lspci -tv`. A branch begins below the branch of an earlier line that has its column."""
    machine, columns = Published(name), {}
    token = re.compile(r"\[([0-9a-f]{4,8}):([0-9a-f]{2})\]|([0-9a-f]{2}\.[0-7])"
                       r"(?:-\[([0-9a-f]{2})(?:-[0-9a-f]{2})?\])?")
    for line in path.read_text(errors="replace").splitlines():
        words = re.search(r"(?<=[0-9a-f]\.[0-7])  \S", line)
        text = line[words.start():].strip() if words else ""
        above = None  # root, domain, bus, bridges
        for match in token.finditer(line, 0, words.start() if words else len(line)):
            domain, bus, function, below = match.groups()
            if domain:
                above = (f"pci{domain}:{bus}", domain, bus, [])
                continue
            if above is None:
                above = columns.get(match.start())
            if above is None:
                continue
            columns[match.start()] = above
            root, domain, bus, bridges = above
            address = f"{domain}:{bus}:{function}"
            if below:
                above = (root, domain, below, bridges + [address])
            else:
                add(machine, address, root, bridges, text)
    return finish(machine)


def read_paths(path, name):
    """`lspci -PP`: "00:01.1/01:00.0/09:00.0 Ethernet controller: …"."""
    machine = Published(name)
    for line in path.read_text(errors="replace").splitlines():
        match = re.match(rf"((?:{ADDRESS}/)*{ADDRESS}) (.*)", line.strip())
        if match:
            *bridges, last = map(address_of, match[1].split("/"))
            add(machine, last, root_of((bridges or [last])[0]), bridges, match[2])
    return finish(machine)


def read_verbose(path, name):
    """`lspci -vvv`: headers, "Bus: … secondary=16", "NUMA node: 0", "LnkSta: Speed 32GT/s …"."""
    listed = {}
    for line in path.read_text(errors="replace").splitlines():
        if header := re.match(rf"({ADDRESS}) (.*)", line):
            current = listed[address_of(header[1])] = {"text": header[2], "numa": -1}
        elif bus := re.search(r"secondary=([0-9a-f]{2})", line):
            current["below"] = bus[1]
        elif numa := re.search(r"NUMA node: (\d+)", line):
            current["numa"] = int(numa[1])
        elif link := re.search(r"LnkSta:\s*Speed ([0-9.]+)GT/s.*Width x(\d+)", line):
            current["gts"], current["width"] = float(link[1]), int(link[2])
    bridge_to = {(address.split(":")[0], entry["below"]): address
                 for address, entry in listed.items() if "below" in entry}
    machine = Published(name)
    for address, entry in listed.items():
        bridges = []
        while above := bridge_to.get(tuple((bridges or [address])[0].split(":")[:2])):
            bridges.insert(0, above)
        add(machine, address, root_of((bridges or [address])[0]), bridges, entry["text"],
            numa=entry["numa"], gts=entry.get("gts"), width=entry.get("width"))
        if "below" in entry and "width" in entry:
            machine.bridge_links[address] = (entry.get("gts"), entry["width"])
    return finish(machine)


READERS = {"lspci-tv.txt": read_tree, "lspci-PP.txt": read_paths, "lspci.txt": read_verbose}


def read_lspci(path, name):
    return READERS[path.name](path, name)


def numa_nodes(path):
    """{address: node} of the "NUMA node:" lines of an lspci listing."""
    nodes, address = {}, None
    for line in path.read_text(errors="replace").splitlines():
        if header := re.match(rf"({ADDRESS}) ", line):
            address = address_of(header[1])
        elif numa := re.search(r"NUMA node: (\d+)", line):
            nodes[address] = int(numa[1])
    return nodes
