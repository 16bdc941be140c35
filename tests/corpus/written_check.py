# SPDX-License-Identifier: Apache-2.0
"""The NCCL file that Railhead writes of a machine, read here, stands for a tree with the same
relations. Host bridges are lost on the way: PHB and NODE are one. Functions without a NUMA node are
below one <cpu>, so that NCCL takes them for neighbours: their SYS becomes NODE."""
import pathlib
import tempfile
import xml.etree.ElementTree as ElementTree

import railhead
from check import Check, topology_of
from nccl_xml import read_nccl
from sight import read_source
from snapshot import snapshot_of

# Of tests/nodes, which snapshot.py puts on the path.
from nccl_fusion import fusion_problems, with_processor  # noqa: E402
from snapshot_facts import Facts
from sysfs_tree import Tree

BEYOND_SWITCHES = ("PHB", "NODE")


def written(program, text, scratch):
    """Path of the file, and the Topology document of the snapshot it was written of."""
    snapshot = scratch / "machine.node"
    snapshot.write_bytes(text)
    done = railhead.run(program, "topology", "-o", "nccl", "--snapshot", snapshot)
    file = scratch / "written.xml"
    file.write_bytes(done.stdout)
    return file, railhead.document(program, "topology", "--snapshot", snapshot)


def by_address(document):
    """Relations by address: the file leaves names to NCCL."""
    addresses = {nic["name"]: nic["pci"] for nic in document["nics"]}
    return {(gpu, addresses[nic]): word for (gpu, nic), word in railhead.relations(document).items()}


def check_written(program, folder, source):
    machine = read_source(folder, source)
    with tempfile.TemporaryDirectory() as scratch:
        file, before = written(program, snapshot_of(machine), pathlib.Path(scratch))
        again = by_address(topology_of(program, read_nccl(file, folder.name)))
    check = Check(folder.name, f"{source} as written for NCCL")
    homeless = {device["pci"] for device in before["gpus"] + before["nics"]
                if device["numaNode"] is None}
    for (gpu, nic), word in by_address(before).items():
        lost = word in BEYOND_SWITCHES or word == "SYS" and {gpu, nic} <= homeless
        check.same(f"{gpu}/{nic}", again.get((gpu, nic)), word, BEYOND_SWITCHES if lost else ())
    return check


def check_fused(program, folder, source):
    """Each rank of NCCL reads the file and fills in what is above its own GPU; together they have every element
    once, and the relations of the machine. The links of switches are those that the source names."""
    machine = read_source(folder, source)
    snapshot = with_processor(snapshot_of(machine))
    with tempfile.TemporaryDirectory() as scratch:
        file, before = written(program, snapshot, pathlib.Path(scratch))
        text = file.read_text()
    check = Check(folder.name, f"{source} as fused by NCCL")
    check.pairs = len(before["gpus"]) * len(before["nics"])
    check.differences = list(fusion_problems(text, Facts(Tree.read(snapshot), ()), before))
    for pci in ElementTree.fromstring(text).iter("pci"):
        gts, width = machine.bridge_links.get(pci.get("busid"), (None, None))
        if gts:
            check.same(f"{pci.get('busid')} speed", pci.get("link_speed"), f"{gts} GT/s PCIe")
        if width:
            check.same(f"{pci.get('busid')} width", pci.get("link_width"), str(width))
    return check
