# SPDX-License-Identifier: Apache-2.0
"""The text of a command, made from its JSON document, so that neither can say what the other does not. Columns are
three spaces apart, as `squeezed` makes them of what was printed."""
import itertools
import re

LEGEND = "PIX one PCIe switch  PXB several switches  PHB host bridge  NODE same NUMA node  SYS across sockets"
EXCLUSIVE = ("RDMA namespaces are exclusive (ib_core.netns_mode=0): a NIC is in one network namespace, and only "
             "pods on the host's network are dealt to")
PROMISES = {"can": "can do RDMA", "may": "may do RDMA", "without-verbs": "does RDMA without verbs"}
NO_GPUS = ["no GPU on this node"]
MOST_NAMES = 3  # in a line of --explain


def no_rdma(nics):
    """What is said where there is no NIC: the Ethernet functions that could be one, if any."""
    none = "this node has no RDMA device: none is in /sys/class/infiniband"
    could = [f"{one['pci']} {PROMISES[one['rdma']]} ({one['driver'] or 'no driver'}; its module is {one['module']})"
             for one in nics["candidates"]]
    said = [none, *could] if could else [none + ", and no PCI function is of a NIC known for RDMA"]
    return [*said, "railhead doctor says what is missing"]


def squeezed(line):
    return re.sub(" {3,}", "   ", line)


def row(cells):
    return "   ".join("-" if cell is None or cell == "" else str(cell) for cell in cells)


def number(value):
    return None if value is None else f"{value:g}"


def label(gpu):
    return f"GPU {gpu['pci']}" if gpu["index"] is None else f"GPU{gpu['index']}"


def source(document):
    origin = f" ({document['origin']})" if document["origin"] else ""
    return f"source: {document['source']}{origin}, confidence {document['confidence']}"


def problems(document):
    return [f"{problem['path']}: {problem['kind']}: {problem['what']}" for problem in document["problems"]]


def warned(lines):
    return ["", "WARNINGS", *lines] if lines else []


def namespaces(nics):
    return [EXCLUSIVE] if nics["rdmaNamespaces"] == "exclusive" else []


def topology_text(topology, nics):
    names = [nic["name"] for nic in topology["nics"]]
    lines = [row(["GPU", "PCI", "NUMA", *names]),
             *(row([label(gpu), gpu["pci"], gpu["numaNode"], *words])
               for gpu, words in zip(topology["gpus"], topology["relations"]))] if topology["gpus"] else NO_GPUS
    below = ([LEGEND, source(topology)] if topology["gpus"] else []) if nics["nics"] else no_rdma(nics)
    return [*lines, *(["", *below] if below else []), *warned(topology["warnings"] + namespaces(nics) + problems(topology))]


def usable_text(nic, port):
    if nic["usable"] and port["state"] not in ("ACTIVE", None):
        return f"no: port is {port['state']}"
    if not nic["usable"]:
        return f"no: {nic['usableReason']}"
    return f"yes, slow: {nic['slowReason']}" if nic["slowReason"] else "yes"


# Columns of `nics`, of a NIC and one of its ports; what follows DEVICES is shown by -o wide.
NIC_COLUMNS = {
    "NAME": lambda nic, port: nic["name"],
    "PORT": lambda nic, port: port["number"],
    "STATE": lambda nic, port: port["state"],
    "Gbit/s": lambda nic, port: number(port["rateGbps"]),
    "LINK": lambda nic, port: port["linkLayer"] or port["number"] and "Unknown",
    "NETDEV": lambda nic, port: ",".join(nic["netdevs"]),
    "NUMA": lambda nic, port: nic["numaNode"],
    "PCI": lambda nic, port: nic["pci"],
    "ROLE": lambda nic, port: nic["role"],
    "POOL": lambda nic, port: ",".join(nic["pools"]),
    "USABLE": lambda nic, port: usable_text(nic, port),
    "DEVICES": lambda nic, port: ",".join(device["path"].rpartition("/")[2] for device in nic["devices"]),
    "PHYS": lambda nic, port: port["physState"],
    "LID": lambda nic, port: port["lid"],
    "SM LID": lambda nic, port: port["smLid"],
    "NODE GUID": lambda nic, port: nic["nodeGuid"],
    "FIRMWARE": lambda nic, port: nic["firmware"],
    "TYPE": lambda nic, port: nic["hcaType"],
    "ROLE BECAUSE": lambda nic, port: nic["roleReason"],
    "NO POOL BECAUSE": lambda nic, port: "" if nic["pools"] else "; ".join(
        f"{pool}: {reason}" for pool, reason in nic["notInPool"].items()),
}
NO_PORT = dict.fromkeys(["number", "state", "rateGbps", "linkLayer", "physState", "lid", "smLid"])


def nics_text(nics, wide):
    """One line for each port."""
    shown = len(NIC_COLUMNS) if wide else list(NIC_COLUMNS).index("DEVICES") + 1
    rows = [[cell(nic, port) for cell in NIC_COLUMNS.values()] for nic in nics["nics"]
            for port in nic["ports"] or [NO_PORT]]
    lines = [row(cells[:shown]) for cells in [list(NIC_COLUMNS), *rows]] if rows else no_rdma(nics)
    return lines + warned(nics["warnings"] + namespaces(nics) + problems(nics))


def explanation_text(gpu, explained):
    """NICs that follow one another and of which the same is true share a line."""
    yield from ("", f"{label(gpu)}: {explained['step']}")
    yield row(["NIC", "RELATION", "CHOSEN", "REASON"])
    nics = explained.get("nics", [])
    for same, group in itertools.groupby(nics, lambda nic: (nic["relation"], nic["chosen"], nic["reason"])):
        names = [nic["name"] for nic in group]
        shown = (", ".join(names) if len(names) <= MOST_NAMES else
                 f"{names[0]} … {names[-1]} ({len(names)})")
        yield row([shown, same[0], "yes" if same[1] else "", same[2]])


def affinity_text(affinity, nics, explain):
    lines = NO_GPUS
    if affinity["gpus"]:
        lines = [row(["GPU", "PCI", "NUMA", "NIC", "RELATION", "WHY"])]
        for gpu in affinity["gpus"]:
            start = [label(gpu), gpu["pci"], gpu["numaNode"]]
            lines += [row([*start, nic["name"], nic["relation"], nic["why"]]) for nic in gpu["nics"]] or [
                row([*start, "", "", ""])]
        lines += ["", source(affinity)] if nics["nics"] else []
    lines = lines + ([] if nics["nics"] else ["", *no_rdma(nics)])
    gets = affinity["devices"] + [f"{name}={value}" for name, value in affinity["env"].items()]
    if affinity["memlock"] is not None:
        gets.append(f"memlock {affinity['memlock']}" + ("" if affinity["memlock"] == "unlimited" else " bytes"))
    own = affinity["ownNetwork"]
    if own["nics"] != affinity["nics"]:
        gets.append(f"with a network of its own: {', '.join(own['nics']) or 'no NIC (' + own['reason'] + ')'}")
    lines = lines + (["", "A CONTAINER WITH THESE GPUS GETS", *gets] if gets else [])
    for gpu, explained in zip(affinity["gpus"], affinity["explanation"]) if explain else ():
        lines += explanation_text(gpu, explained)
    return lines + warned(affinity["warnings"])


def gpu_nics(affinity, gpu):
    return next(one["nics"] for one in affinity["gpus"] if one["pci"] == gpu["pci"])


def tree_devices(topology, nics, affinity):
    """The lines of GPUs and NICs in the tree, each with its NUMA node, in any order."""
    for gpu, explained in zip(topology["gpus"], affinity["explanation"]):
        dealt = [nic for nic in explained.get("nics", []) if nic["dealt"]]
        # The tree names them in the machine's order, the explanation nearest first.
        names = [nic["name"] for nic in nics["nics"] if nic["name"] in {nic["name"] for nic in dealt}]
        arrow = f"{','.join(names)} ({dealt[0]['relation']})" if dealt else "no NIC"
        stand_ins = [f"{nic['name']} ({nic['relation']})" for nic in gpu_nics(affinity, gpu) if nic["standIn"]]
        arrow += f", not usable; {','.join(stand_ins)} stands in" if stand_ins else ""
        yield gpu["numaNode"], f"{label(gpu)} {gpu['pci']} → {arrow}"
    for nic in nics["nics"]:
        place = f" {nic['pci']}" if nic["pci"] else ""
        text = nic["name"] + (place if nic["registered"] else " no RDMA driver")
        rate = number(nic["rateGbps"])
        link = [nic["linkLayer"], rate and f"{rate} Gb/s", nic["state"]]
        yield nic["numaNode"], " ".join([text, *filter(None, link), nic["role"]])


def devices_in_tree(tree):
    """The same, of the lines of a tree that was printed."""
    numa = None
    for line in tree:
        text = line.lstrip("│├└─ ")
        if text.startswith("NUMA node"):
            word = text.removeprefix("NUMA node ")
            numa = None if word == "unknown" else int(word)
        elif not text.startswith(("host bridge ", "switch")):
            yield numa, re.sub(" +", " ", text)
