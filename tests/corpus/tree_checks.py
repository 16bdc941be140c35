# SPDX-License-Identifier: Apache-2.0
"""Sources with a PCI tree: hwloc, lspci, NCCL, against the oracle's relations."""
import collection
import railhead
from check import Check, answer_for, expected_pairs, topology_of
from hwloc_xml import read_hwloc
from lspci_text import read_lspci
from nccl_xml import read_nccl

PAIRS = "published-pairs.txt"


def check_tree(program, folder, source):
    """A listing or an export of hwloc; both name each GPU and NIC by its address."""
    result = collection.expected(folder, source)
    path = folder / source
    machine = (read_hwloc if source == "hwloc.xml" else read_lspci)(path, folder.name)
    document = topology_of(program, machine)
    check = Check(folder.name, source)
    found = railhead.relations(document)
    check.same("GPUs", len(document["gpus"]), len(result["gpus"]))
    check.same("NICs", len(document["nics"]), len(result["nics"]))
    for gpu, nic, word, open_words in expected_pairs(result):
        name = nic.removeprefix("pci:").replace(":", "-") if nic.startswith("pci:") else nic
        ours = found.get((result["gpu_busid"][gpu], name))
        check.same(f"{gpu}/{nic}", ours, word, open_words)
    return check


def check_nccl(program, folder, source):
    """An NCCL file, as Railhead reads it."""
    document = railhead.document(program, "topology", "--nccl-topo", folder / source)
    return compare_nccl(Check(folder.name, source), document, collection.expected(folder, source))


def check_nccl_tree(program, folder, source):
    """The sysfs tree that an NCCL file stands for."""
    document = topology_of(program, read_nccl(folder / source, folder.name))
    check = Check(folder.name, f"{source} as sysfs")
    return compare_nccl(check, document, collection.expected(folder, source))


def compare_nccl(check, document, result):
    """GPUs by bus id; NICs by name, those without one by bus id."""
    check.same("NICs", len(document["nics"]), len(result["nics"]))
    addresses = {nic["pci"]: nic["name"] for nic in document["nics"]}
    found = railhead.relations(document)
    check.same("GPUs", len(document["gpus"]), len(result["gpus"]))
    for gpu, nic, word, open_words in expected_pairs(result):
        name = addresses.get(nic[4:]) if nic.startswith("pci:") else nic
        check.same(f"{gpu}/{nic}", found.get((result["gpu_busid"][gpu], name)), word, open_words)
    return check


def published_pairs(folder):
    """{GPU address: NIC address} of the vendor's own table."""
    cells = [line.split("`") for line in collection.read(folder / PAIRS).splitlines()]
    return {f"0000:{row[1]}": f"0000:{row[3]}" for row in cells if len(row) > 3}


def check_pairs(program, folder, source):
    """The deal is the pairing that the vendor published."""
    machine = read_lspci(folder / "lspci-PP.txt", folder.name)
    document = answer_for(program, machine, "affinity")
    check = Check(folder.name, source)
    dealt = {gpu["pci"]: [nic["name"] for nic in gpu["nics"]] for gpu in document["gpus"]}
    for gpu, nic in published_pairs(folder).items():
        check.same(gpu, dealt.get(gpu), [nic.replace(":", "-")])
    return check
