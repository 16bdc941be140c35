#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The topology file that is written for each machine in the box (topology -o nccl) says of GPUs and
NICs what the machine says, when it is read back (--nccl-topo).

So do its path types, once each process of a node has filled in what the file lacks and NCCL has fused what they have
(nccl_fusion.py): every GPU, NIC and switch stands once then.

Three things cannot be in such a file: host bridges, so that PHB and NODE are the same there; root ports, so
that NICs of one bus below one are not PIX; and that a GPU is a NUMA node of its own. All devices of a
card are written below its function 0, by their names.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from nccl_fusion import fusion_problems, with_processor
from snapshot_facts import Facts
from sysfs_tree import Tree

HERE = pathlib.Path(__file__).resolve().parent
SAME = {"PHB": "NODE"}
OWN_MEMORY = {"gb200-tray"}
OWN_SWITCH = {"intel-battlemage"}  # on the card, and not counted; NCCL runs on no such GPU
# <system version> that the library of a vendor's GPUs asks for, by PCI id: NCCL, RCCL (AMD, Hygon). No
# library of Intel's reads such a file; it is written as for NCCL.
VERSIONS = {"10de": "1", "1002": "2", "1d94": "2", "8086": "1"}
# How a snapshot has a function's vendor: an attribute, or a line of its uevent.
VENDOR = re.compile(r"^t /sys/devices/\S*/([0-9a-f:.]+)/vendor 0x(\S+)", re.M)
UEVENT = re.compile(r"^PCI_ID=(\w+):.*\n(?:PCI_SUBSYS_ID=.*\n)?PCI_SLOT_NAME=(\S+)", re.M)


def run(railhead, *arguments):
    done = subprocess.run([railhead, "topology", *arguments], capture_output=True, text=True,
                          check=False)
    return done.stdout, done.stderr


def key_of(nic, nets):
    """Its name where the file has names, else its address; None for a device without a place."""
    return nic["pci"] and (nic["name"] if nic["name"] in nets else nic["pci"])


def on_one_bus(a, b):
    return a.rpartition(":")[0] == b.rpartition(":")[0] != ""


def relations(topology, nets):
    """Of GPUs, by address, and NICs; of GPUs and of NICs among one another."""
    nics = [key_of(nic, nets) for nic in topology["nics"]]
    gpus = [gpu["pci"] for gpu in topology["gpus"]]
    return {(a, b): SAME.get(cell, cell)
            for rows, columns, key in ((gpus, nics, "relations"), (gpus, gpus, "gpuRelations"),
                                       (nics, nics, "nicRelations"))
            for a, row in zip(rows, topology[key]) if a
            for b, cell in zip(columns, row) if b and not (rows is columns is nics and on_one_bus(a, b))}


def versions_wanted(machine, gpus):
    """By the vendors that the snapshot has for these addresses; none where it does not say."""
    text = machine.read_text()
    vendors = VENDOR.findall(text)
    vendors += [(address, vendor.lower()) for vendor, address in UEVENT.findall(text)]
    return {VERSIONS[vendor] for address, vendor in vendors if address in gpus}


def wrong_attributes(facts, xml, nics):
    """Ids are the snapshot's, where it has the function (a zero may be left out); a speed is that of a port that is
    up."""
    for pci in xml.iter("pci"):
        ids = facts.ids(pci.get("busid")) if pci.get("busid") in facts.functions else {}
        yield from (f"{pci.get('busid')}: {name} is {pci.get(name)}, the machine says {value}"
                    for name, value in ids.items() if pci.get(name, "0x0000") != value)
    rates = {nic["name"]: nic["rateGbps"] for nic in nics if nic["state"] == "ACTIVE"}
    for net in xml.iter("net"):
        rate = rates.get(net.get("name"))
        if net.get("speed") != (rate and f"{rate * 1000:.0f}"):
            yield f"{net.get('name')}: its speed is {net.get('speed')} Mbit/s, the machine says {rate} Gbit/s"


def wrong_when_fused(railhead, machine, snapshot, file, topology):
    """A machine whose processor is not known is given one: without it the file has no <net>."""
    for text in dict.fromkeys((snapshot, with_processor(snapshot))):
        file.write_bytes(text)
        xml, _ = run(railhead, "-o", "nccl", "--snapshot", str(file))
        for what, got, wanted in fusion_problems(xml, Facts(Tree.read(text), ()), topology):
            if machine.stem not in OWN_MEMORY | OWN_SWITCH or wanted == "once":
                yield f"{what} is {got} once NCCL has fused the file, not {wanted}"


def problems_of(railhead, machine, file):
    xml, complaints = run(railhead, "-o", "nccl", "--snapshot", str(machine))
    if complaints:
        yield f"it is not written: {complaints.strip()}"
        return
    file.write_text(xml)
    tree = ElementTree.fromstring(xml)
    functions = [pci.get("busid") for pci in tree.iter("pci")]
    nets = {net.get("name") for net in tree.iter("net")}
    for name in sorted({name for name in functions if functions.count(name) > 1}):
        yield f"{name} is in the file {functions.count(name)} times"
    before = json.loads(run(railhead, "-o", "json", "--snapshot", str(machine))[0])
    snapshot = machine.read_bytes()
    facts = Facts(Tree.read(snapshot), ())
    yield from wrong_attributes(facts, tree, before["nics"])
    wanted = {gpu["pci"] for gpu in before["gpus"]}
    versions = versions_wanted(machine, wanted) or {"1"}
    if tree.get("version") not in versions:
        yield f"its version is {tree.get('version')}, the GPUs' library wants {' or '.join(versions)}"
    wanted |= {key_of(nic, nets) for nic in before["nics"] if nic["pci"]}
    for missing in sorted(wanted - nets - set(functions)):
        yield f"{missing} is not in the file"
    yield from wrong_when_fused(railhead, machine, snapshot, file.with_suffix(".node"), before)
    after, complaints = run(railhead, "-o", "json", "--nccl-topo", str(file))
    if not after:
        yield f"it is not read back: {complaints.strip()}"
        return
    got = relations(json.loads(after), nets)
    for pair, cell in relations(before, nets).items():
        if got.get(pair) != cell and machine.stem not in OWN_MEMORY:
            yield f"{pair[0]} to {pair[1]} is {got.get(pair)}, the machine says {cell}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    machines = sorted(HERE.glob("*.node"))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for machine in machines:
            for problem in problems_of(options.railhead, machine, pathlib.Path(folder) / "topo.xml"):
                print(f"{machine.stem}: {problem}")
                wrong += 1
    print(f"{len(machines)} machines, {wrong} wrong statements in their files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
